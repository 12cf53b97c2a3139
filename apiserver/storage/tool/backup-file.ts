/**
 * The file of a backup: the state of a store at one revision, as text, one JSON value a line. It knows nothing of the backend it came from.
 *
 *   {"format":"flyball-backup/1","revision":812,"count":2}
 *   ["/core/configmaps/default/a",305,{"kind":"ConfigMap",…}]       key, revision, object: in key order
 *   ["/core/pods/default/b",812,{"kind":"Pod",…}]
 *   {"sha256":"<of all bytes before this line>"}
 *
 * History is not in it: after a restore old watches start anew.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { writeNewFile } from '../../../machinery/process/new-file.ts';
import type { Store } from '../interface.ts';

const FORMAT = 'flyball-backup/1';

export interface BackupItem {
  readonly key: string;
  readonly revision: number;
  readonly bytes: Buffer;
}

export interface Backup {
  readonly revision: number;
  readonly items: readonly BackupItem[];
}

/** The lines of a backup of the store as it is now, in pieces. What is written meanwhile does not touch it. */
export function* backupLines(store: Store): Generator<Buffer> {
  const { revision, items } = store.list('/');
  const held: BackupItem[] = items.map(({ key, revision, bytes }) => ({ key, revision, bytes }));
  const hash = createHash('sha256');
  const line = (...parts: readonly (string | Buffer)[]): Buffer => {
    const bytes = Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
    hash.update(bytes);
    return bytes;
  };
  yield line(`${JSON.stringify({ format: FORMAT, revision, count: held.length })}\n`);
  for (const { key, revision, bytes } of held) yield line(`[${JSON.stringify(key)},${revision},`, bytes, ']\n');
  yield Buffer.from(`${JSON.stringify({ sha256: hash.digest('hex') })}\n`);
}

/** Writes the file as a whole, durably, or not at all. Replaces none. */
export function writeBackup(store: Store, path: string): Promise<{ revision: number; count: number; bytes: number }> {
  return writeNewFile(path, async (append) => {
    const { revision, items } = store.list('/');
    let bytes = 0;
    for (const piece of backupLines(store)) {
      await append(piece);
      bytes += piece.length;
    }
    return { revision, count: items.length, bytes };
  });
}

/** Throws with what is wrong unless the file is exactly what was written. */
export async function readBackup(path: string): Promise<Backup> {
  const bytes = await readFile(path);
  const last = bytes.lastIndexOf(10, bytes.length - 2) + 1;
  const end = /^\{"sha256":"([0-9a-f]{64})"\}\n$/.exec(bytes.toString('latin1', last));
  if (end === null) throw new Error(`${path} does not end as a backup does: it is cut short, or none`);
  if (createHash('sha256').update(bytes.subarray(0, last)).digest('hex') !== end[1]) {
    throw new Error(`${path} has changed since it was written: its checksum is another`);
  }
  const lines = linesOf(bytes.subarray(0, last));
  const head = JSON.parse(String(lines.next().value ?? 'null')) as { format?: string; revision: number; count: number } | null;
  if (head?.format !== FORMAT) throw new Error(`${path} is of the format ${head?.format}, this program knows ${FORMAT}`);
  const items = [...lines].map(itemOf);
  if (items.length !== head.count) throw new Error(`${path} holds ${items.length} objects, it tells of ${head.count}`);
  return { revision: head.revision, items };
}

function* linesOf(bytes: Buffer): Generator<Buffer, undefined> {
  for (let start = 0, end = bytes.indexOf(10); end >= 0; start = end + 1, end = bytes.indexOf(10, start)) yield bytes.subarray(start, end);
}

/** The object's bytes stay as they are. */
function itemOf(line: Buffer): BackupItem {
  const match = /^\[("(?:[^"\\]|\\.)*"),(\d+),/.exec(line.toString('utf8', 0, Math.min(line.length, 4096)));
  if (match === null) throw new Error(`a line is no object: ${line.toString('utf8', 0, 80)}`);
  return {
    key: JSON.parse(match[1]) as string,
    revision: Number(match[2]),
    bytes: line.subarray(Buffer.byteLength(match[0]), line.length - 1),
  };
}
