/**
 * Reads what LevelDB's MANIFEST tells (leveldb `db/version_edit.cc`): which tables make up the database, how long they are, and which log files are
 * still to be replayed. Read-only.
 */
import { scanLogFile } from './log-file.ts';
import { VarintReader } from './varint.ts';

export interface Manifest {
  /** Log files with lower numbers are done with. */
  readonly logNumber: number;
  /** Size by file number. */
  readonly tables: ReadonlyMap<number, number>;
  /** Length of what is whole; less than the file when its end is torn. */
  readonly end: number;
}

/** What the tags of a version edit are followed by: v a number, s text with its length before. */
const FIELDS: Readonly<Record<number, string>> = {
  1: 's', // comparator
  2: 'v', // log number
  3: 'v', // next file number
  4: 'v', // last sequence
  5: 'vs', // compaction pointer: level, key
  6: 'vv', // deleted table: level, number
  7: 'vvvss', // new table: level, number, size, smallest and largest key
  9: 'v', // previous log number
};
const LOG_NUMBER = 2;
const DELETED_TABLE = 6;
const NEW_TABLE = 7;

/** Throws with what is wrong. */
export function readManifest(bytes: Buffer): Manifest {
  const { records, end, unreadable, isDamaged } = scanLogFile(bytes);
  if (unreadable !== undefined && isDamaged) throw new Error(`damaged at byte ${unreadable.at}: ${unreadable.what}`);
  if (records.length === 0) throw new Error('it holds nothing');
  let logNumber = 0;
  const tables = new Map<number, number>();
  for (const record of records) {
    for (const [tag, values] of fieldsOf(record)) {
      if (tag === LOG_NUMBER) logNumber = values[0];
      if (tag === DELETED_TABLE) tables.delete(values[1]);
      if (tag === NEW_TABLE) tables.set(values[1], values[2]);
    }
  }
  return { logNumber, tables, end };
}

function* fieldsOf(record: Buffer): Iterable<[tag: number, numbers: number[]]> {
  const reader = new VarintReader(record);
  while (!reader.done) {
    const tag = reader.number();
    if (!Object.hasOwn(FIELDS, tag)) throw new Error(`it has a field ${tag} that is not known`);
    const numbers: number[] = [];
    for (const form of FIELDS[tag]) {
      const value = reader.number();
      if (form === 'v') numbers.push(value);
      else reader.skip(value);
    }
    yield [tag, numbers];
  }
}
