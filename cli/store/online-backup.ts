/** Takes a backup from a running API server, and makes sure that it came whole: its last line is the checksum of all before. */
import { createHash } from 'node:crypto';
import { type Append, writeNewFile } from '../../machinery/process/new-file.ts';
import { CliError } from '../errors.ts';
import type { Session } from '../session.ts';

const PATH = '/debug/flyball/backup';
/** `{"sha256":"…"}` and the end of the line. */
const LAST_LINE = 78;

export async function onlineBackup(session: Session, path: string): Promise<void> {
  const { code, body } = await session.client.stream({ method: 'GET', path: PATH, signal: session.signal });
  if (code !== 200) throw new CliError(await refusal(code, body));
  const bytes = await writeNewFile(path, (append) => receive(body, append)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === undefined) throw error;
    throw new CliError(error.code === 'EEXIST' ? `${path} exists; nothing is overwritten` : error.message);
  });
  session.line(`${path}: ${bytes} bytes`);
}

async function receive(body: AsyncIterable<Buffer>, append: Append): Promise<number> {
  const hash = createHash('sha256');
  let held: Buffer = Buffer.alloc(0);
  let bytes = 0;
  for await (const chunk of body) {
    await append(chunk);
    bytes += chunk.length;
    held = Buffer.concat([held, chunk]);
    const known = Math.max(0, held.length - LAST_LINE);
    hash.update(held.subarray(0, known));
    held = held.subarray(known);
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
