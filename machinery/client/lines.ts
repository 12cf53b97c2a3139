/** Cuts a stream of bytes into lines, without copying a long line more than once. Watch events are one JSON document a line. */

const NEWLINE = 0x0a;

export async function* lines(body: AsyncIterable<Buffer>): AsyncGenerator<string, void, undefined> {
  let pending: Buffer[] = [];
  for await (const chunk of body) {
    const last = chunk.lastIndexOf(NEWLINE);
    if (last < 0) {
      pending.push(chunk);
      continue;
    }
    const complete = pending.length === 0 ? chunk.subarray(0, last) : Buffer.concat([...pending, chunk.subarray(0, last)]);
    pending = last + 1 < chunk.length ? [chunk.subarray(last + 1)] : [];
    for (const line of complete.toString('utf8').split('\n')) if (line !== '') yield line;
  }
  const rest = Buffer.concat(pending).toString('utf8').trim();
  if (rest !== '') yield rest;
}
