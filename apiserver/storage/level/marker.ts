/**
 * How far the log was compacted, and what must still be there below: without it a record lost from the compacted part could not be missed.
 * Written in the same batch as the deletions it describes.
 */
import { HASH_BYTES, NO_HASH, readRevision, writeRevision } from './record.ts';

export const MARKER_KEY = Buffer.from('m/compacted');

export interface Marker {
  /** The chain begins after this revision. */
  readonly revision: number;
  /** The hash of the record at `revision`. */
  readonly hash: Buffer;
  /** How many records at or below `revision` remain, and the fold of their revisions. */
  readonly count: number;
  readonly fold: number;
}

/** What a store that was never compacted has: revision 1 is the empty state. */
export const FIRST_MARKER: Marker = { revision: 1, hash: NO_HASH, count: 0, fold: 0 };

/** XOR of mixed revisions: order does not matter, and leaving one out shows. */
export function foldIn(fold: number, revision: number): number {
  let mixed = Math.imul((revision ^ Math.floor(revision / 2 ** 32)) + 0x9e3779b9, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return (fold ^ mixed ^ (mixed >>> 16)) >>> 0;
}

export function encodeMarker(marker: Marker): Buffer {
  const bytes = Buffer.alloc(8 + HASH_BYTES + 8 + 4);
  writeRevision(bytes, marker.revision, 0);
  marker.hash.copy(bytes, 8);
  writeRevision(bytes, marker.count, 24);
  bytes.writeUInt32BE(marker.fold, 32);
  return bytes;
}

export function decodeMarker(bytes: Buffer): Marker {
  return { revision: readRevision(bytes, 0), hash: bytes.subarray(8, 24), count: readRevision(bytes, 24), fold: bytes.readUInt32BE(32) };
}
