/**
 * How a revision lies on disk. Key: `r/` and the revision as 8 bytes, big-endian. Value:
 *
 *   byte 0       format (1)
 *   byte 1       1 put, 2 delete
 *   2..9         the revision, again
 *   10..17       the revision of the version it replaces, 0 for none
 *   18..19       length of the key
 *   20..35       hash of the record before (the chain)
 *   then         key (UTF-8), object (JSON), hash of all bytes so far (16 bytes of SHA-256)
 *
 * The record's own hash shows a changed byte wherever it is; the chain shows a record that is missing, exchanged or from elsewhere.
 */
import { hash } from 'node:crypto';
import { mutant } from '../../../machinery/process/mutants.ts';
import type { LogEntry } from '../log-store.ts';

const HEADER = 36;
export const HASH_BYTES = 16;
export const NO_HASH = Buffer.alloc(HASH_BYTES);

const PREFIX = Buffer.from('r/');
export const FIRST_RECORD_KEY = recordKey(0);
export const END_OF_RECORDS = Buffer.from('r0');

export function recordKey(revision: number): Buffer {
  const key = Buffer.allocUnsafe(10);
  PREFIX.copy(key);
  writeRevision(key, revision, 2);
  return key;
}

/** Whether a key of the database is that of a record. */
export function isRecordKey(key: Buffer): boolean {
  return key.length === PREFIX.length + 8 && key[0] === PREFIX[0] && key[1] === PREFIX[1];
}

export function revisionOfKey(key: Buffer): number {
  return readRevision(key, 2);
}

/** A record of its own memory; the object's bytes are the part between key and hash (`objectOf`). */
export function encodeRecord(entry: LogEntry, previousHash: Buffer): Buffer {
  const keyLength = Buffer.byteLength(entry.key);
  const record = Buffer.allocUnsafeSlow(HEADER + keyLength + entry.bytes.length + HASH_BYTES);
  record[0] = 1;
  record[1] = entry.type === 'put' ? 1 : 2;
  writeRevision(record, entry.revision, 2);
  writeRevision(record, entry.previousRevision, 10);
  record.writeUInt16BE(keyLength, 18);
  previousHash.copy(record, 20);
  record.write(entry.key, HEADER);
  entry.bytes.copy(record, HEADER + keyLength);
  const end = record.length - HASH_BYTES;
  hash('sha256', record.subarray(0, end), 'buffer').copy(record, end, 0, HASH_BYTES);
  return record;
}

export function objectOf(record: Buffer): Buffer {
  return record.subarray(HEADER + record.readUInt16BE(18), record.length - HASH_BYTES);
}

export function hashOf(record: Buffer): Buffer {
  return record.subarray(record.length - HASH_BYTES);
}

export interface DecodedRecord {
  readonly revision: number;
  readonly deleted: boolean;
  readonly previousRevision: number;
  readonly previousHash: Buffer;
  readonly key: string;
}

/** Throws with what is wrong when the record is not as it was written. */
export function decodeRecord(record: Buffer): DecodedRecord {
  if (record.length < HEADER + HASH_BYTES) throw new Error(`it has only ${record.length} bytes`);
  if (record[0] !== 1) throw new Error(`its format is ${record[0]}, this program knows 1`);
  const end = record.length - HASH_BYTES;
  if (
    hash('sha256', record.subarray(0, end), 'buffer').compare(record, end, record.length, 0, HASH_BYTES) !== 0 &&
    !mutant('store.hash-unchecked')
  ) {
    throw new Error('its content does not have the hash it was written with');
  }
  const keyLength = record.readUInt16BE(18);
  return {
    revision: readRevision(record, 2),
    deleted: record[1] === 2,
    previousRevision: readRevision(record, 10),
    previousHash: record.subarray(20, 36),
    key: record.toString('utf8', HEADER, HEADER + keyLength),
  };
}

export function writeRevision(target: Buffer, revision: number, at: number): void {
  target.writeUInt32BE(Math.floor(revision / 2 ** 32), at);
  target.writeUInt32BE(revision >>> 0, at + 4);
}

export function readRevision(source: Buffer, at: number): number {
  return source.readUInt32BE(at) * 2 ** 32 + source.readUInt32BE(at + 4);
}
