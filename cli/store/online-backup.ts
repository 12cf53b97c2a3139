/** Takes a backup from a running API server, and makes sure that it came whole: its last line is the checksum of all before. */
import { createHash } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { CliError } from '../errors.ts';
import type { Session } from '../session.ts';

const PATH = '/debug/flyball/backup';
/** `{"sha256":"…"}` and the end of the line. */
const LAST_LINE = 78;

export async function onlineBackup(session: Session, path: string): Promise<void> {
  const { code, body } = await session.client.stream({ method: 'GET', path: PATH, signal: session.signal });
  if (code !== 200) throw new CliError(await refusal(code, body));
  const taken = await open(path, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    throw new CliError(error.code === 'EEXIST' ? `${path} exists; nothing is overwritten` : error.message);
  });
  await taken.close();
  const unfinished = `${path}.unfinished`;
  try {
    const bytes = await receive(body, unfinished);
    await rename(unfinished, path);
    session.line(`${path}: ${bytes} bytes`);
  } catch (error) {
    await Promise.all([rm(unfinished, { force: true }), rm(path, { force: true })]);
    throw error;
  }
}

async function receive(body: AsyncIterable<Buffer>, path: string): Promise<number> {
  const hash = createHash('sha256');
  let held: Buffer = Buffer.alloc(0);
  let bytes = 0;
  const handle = await open(path, 'w', 0o600);
  try {
    for await (const chunk of body) {
      await handle.write(chunk);
      bytes += chunk.length;
      held = Buffer.concat([held, chunk]);
      const known = Math.max(0, held.length - LAST_LINE);
      hash.update(held.subarray(0, known));
      held = held.subarray(known);
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
  if (held.toString() !== `${JSON.stringify({ sha256: hash.digest('hex') })}\n`)
    throw new CliError('the backup did not arrive whole; take it again');
  return bytes;
}

async function refusal(code: number, body: AsyncIterable<Buffer>): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of body) pieces.push(piece);
  const text = Buffer.concat(pieces).toString();
  try {
    return String((JSON.parse(text) as { message?: string }).message ?? text);
  } catch {
    return `the server answers ${code}; it knows of no backups: ${text.slice(0, 200)}`;
  }
}
