/**
 * Looks at the files of a LevelDB database before LevelDB does, and changes none. LevelDB leaves out what it cannot read and then deletes the file
 * it was in; and a directory without CURRENT it takes for a new database and clears. So it must not be let near a damaged one: what this finds is
 * refused with its place, and the files stay as they are for whoever mends them (docs/decisions/0012).
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { scanLogFile } from './log-file.ts';
import { type Manifest, readManifest } from './manifest.ts';
import { decodeMarker, MARKER_KEY } from './marker.ts';
import { isRecordKey, revisionOfKey } from './record.ts';
import { damageOfTable } from './table-file.ts';
import { VarintReader } from './varint.ts';

export interface TornEnd {
  readonly file: string;
  /** Length of what is whole. */
  readonly at: number;
  /** How much follows that is not. */
  readonly bytes: number;
}

export interface Inspection {
  /** What is wrong, each with its file and place; nothing may be opened then. */
  readonly damage: readonly string[];
  /** Unfinished ends that a crash leaves: of the log, which LevelDB drops, and of the MANIFEST, which it does not open with. */
  readonly torn: readonly TornEnd[];
  /** The newest revision that the log files lead to; undefined when that stands in the tables. */
  readonly newestInLogs: number | undefined;
  /** The log file written last, and where its last whole record ends. */
  readonly log: { readonly file: string; readonly at: number } | undefined;
  readonly isEmpty: boolean;
}

const NUMBERED = /^(\d+)\.(log|ldb|sst)$/;

/** `location` is the directory of LevelDB's files, which may not exist. */
export async function inspectDatabase(location: string): Promise<Inspection> {
  const names = await readdir(location).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return [];
  });
  const isEmpty = !names.some((name) => NUMBERED.test(name) || name.startsWith('MANIFEST-') || name === 'CURRENT');
  const found: Found = { damage: [], torn: [], newestInLogs: undefined, log: undefined, isEmpty };
  if (isEmpty) return found;
  const manifest = await inspectManifest(location, found);
  if (manifest === undefined) return found;
  if (manifest.tables.size === 0) found.newestInLogs = 1;
  await inspectTables(location, names, manifest, found);
  await inspectLogs(location, names, manifest, found);
  return found;
}

interface Found extends Inspection {
  readonly damage: string[];
  readonly torn: TornEnd[];
  newestInLogs: number | undefined;
  log: Inspection['log'];
}

async function inspectManifest(location: string, found: Found): Promise<Manifest | undefined> {
  const current = await readFile(join(location, 'CURRENT'), 'utf8').catch(missingOk);
  if (current === undefined) return reject(found, `${join(location, 'CURRENT')} is missing`);
  const name = /^(MANIFEST-\d+)\n$/.exec(current)?.[1];
  if (name === undefined)
    return reject(found, `${join(location, 'CURRENT')} names no manifest but ${JSON.stringify(current.slice(0, 40))}`);
  const path = join(location, name);
  const bytes = await readFile(path).catch(missingOk);
  if (bytes === undefined) return reject(found, `${path}, which CURRENT names, is missing`);
  try {
    const manifest = readManifest(bytes);
    if (manifest.end < bytes.length) found.torn.push({ file: path, at: manifest.end, bytes: bytes.length - manifest.end });
    return manifest;
  } catch (error) {
    return reject(found, `${path}: ${(error as Error).message}`);
  }
}

function reject(found: Found, damage: string): undefined {
  found.damage.push(damage);
}

async function inspectTables(location: string, names: readonly string[], manifest: Manifest, found: Found): Promise<void> {
  const files = new Map(
    names.map((name) => [Number(NUMBERED.exec(name)?.[1]), name]).filter(([, name]) => !(name as string).endsWith('.log')) as [
      number,
      string,
    ][],
  );
  for (const [number, expected] of manifest.tables) {
    const name = files.get(number);
    if (name === undefined) {
      found.damage.push(`${join(location, `${String(number).padStart(6, '0')}.ldb`)} is missing`);
      continue;
    }
    const bytes = await readFile(join(location, name));
    const damage = bytes.length === expected ? damageOfTable(bytes) : `has ${bytes.length} bytes instead of ${expected}`;
    if (damage !== undefined) found.damage.push(`${join(location, name)} ${damage}`);
  }
}

async function inspectLogs(location: string, names: readonly string[], manifest: Manifest, found: Found): Promise<void> {
  const logs: { path: string; bytes: Buffer }[] = [];
  const numbers = names
    .filter((name) => name.endsWith('.log') && NUMBERED.test(name))
    .map((name) => ({ name, number: Number.parseInt(name, 10) }));
  for (const { name, number } of numbers.sort((a, b) => a.number - b.number)) {
    if (number < manifest.logNumber) continue;
    const path = join(location, name);
    logs.push({ path, bytes: await readFile(path) });
  }
  // A new log file that nothing was written to yet does not make the one before it finished.
  while (logs.length > 1 && logs[logs.length - 1].bytes.length === 0) logs.pop();
  for (const [i, { path, bytes }] of logs.entries()) {
    const { records, end, unreadable, isDamaged } = scanLogFile(bytes);
    for (const record of records) found.newestInLogs = newestRevision(record, found.newestInLogs);
    found.log = { file: path, at: end };
    if (unreadable === undefined) continue;
    const after = found.newestInLogs === undefined ? '' : `, after revision ${found.newestInLogs}`;
    if (isDamaged || i < logs.length - 1) found.damage.push(`${path} is damaged at byte ${unreadable.at}${after}: ${unreadable.what}`);
    else found.torn.push({ file: path, at: end, bytes: bytes.length - end });
  }
}

const BATCH_HEADER = 12;
const PUT = 1;

/** The newest revision after a batch. A mark of compaction, which may lie above all records, says nothing when the newest is in the tables. */
function newestRevision(batch: Buffer, before: number | undefined): number | undefined {
  if (batch.length < BATCH_HEADER) return before;
  const reader = new VarintReader(batch, BATCH_HEADER);
  let newest = before;
  while (!reader.done) {
    const isPut = reader.number() === PUT;
    const key = reader.skip(reader.number());
    if (!isPut) continue;
    const value = reader.skip(reader.number());
    if (isRecordKey(key)) newest = Math.max(newest ?? 0, revisionOfKey(key));
    else if (newest !== undefined && key.equals(MARKER_KEY)) newest = Math.max(newest, decodeMarker(value).revision);
  }
  return newest;
}

function missingOk(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
