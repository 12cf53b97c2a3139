/**
 * Reads a log file of LevelDB (its write-ahead log, and its MANIFEST, which has the same form) without changing anything, and tells a torn tail
 * from damage. LevelDB itself leaves out whatever it cannot read, opens as if nothing were, and deletes the file; so it must be read before.
 *
 * Form (leveldb `doc/log_format.md`): blocks of 32 KiB; in them pieces of 7 bytes of header (masked CRC-32C, length, kind) and data; a record is
 * one FULL piece, or FIRST, MIDDLE…, LAST.
 *
 * What is torn and what is damaged: only one record is ever under way, and the next is begun when that one is durable. So whatever a crash left
 * unfinished is the last record; when the beginning of another record follows what cannot be read, something was lost that had been written.
 */
import { crc32c, unmasked } from './crc32c.ts';

const BLOCK = 32 * 1024;
const HEADER = 7;
const FULL = 1;
const FIRST = 2; // MIDDLE is 3
const LAST = 4;

export interface LogScan {
  readonly records: readonly Buffer[];
  /** Where the last whole record ends. */
  readonly end: number;
  /** Where the first byte lies that is no part of a whole record, and what is wrong there; undefined in a file that ends with its last record. */
  readonly unreadable: { readonly at: number; readonly what: string } | undefined;
  /** Whole records were begun after it. */
  readonly isDamaged: boolean;
}

interface Piece {
  readonly kind: number;
  readonly data: Buffer;
  readonly end: number;
}

export function scanLogFile(bytes: Buffer): LogScan {
  const scan = new Scan(bytes);
  while (scan.step());
  return scan.finish();
}

class Scan {
  readonly #bytes: Buffer;
  readonly #records: Buffer[] = [];
  #at = 0;
  #end = 0;
  #pieces: Buffer[] = [];
  #unreadable: { at: number; what: string } | undefined;
  #damaged = false;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Takes the next piece; false at the end. */
  step(): boolean {
    const left = BLOCK - (this.#at % BLOCK);
    if (left < HEADER) this.#at += left;
    if (this.#at >= this.#bytes.length) return false;
    const piece = pieceAt(this.#bytes, this.#at);
    if (typeof piece === 'string') {
      this.#lose(piece);
      this.#at = this.#nextPiece();
      return true;
    }
    this.#take(piece);
    this.#at = piece.end;
    return true;
  }

  finish(): LogScan {
    if (this.#pieces.length > 0) this.#lose('a record ends in the middle');
    return { records: this.#records, end: this.#end, unreadable: this.#unreadable, isDamaged: this.#damaged };
  }

  #take({ kind, data, end }: Piece): void {
    const begins = kind === FULL || kind === FIRST;
    if (begins !== (this.#pieces.length === 0)) this.#lose(begins ? 'a record ends in the middle' : 'a record has no beginning');
    if (this.#unreadable !== undefined) {
      this.#damaged ||= begins;
      return;
    }
    this.#pieces.push(data);
    if (kind !== FULL && kind !== LAST) return;
    this.#records.push(this.#pieces.length === 1 ? data : Buffer.concat(this.#pieces));
    this.#pieces = [];
    this.#end = end;
  }

  #lose(what: string): void {
    this.#unreadable ??= { at: this.#end, what };
    this.#pieces = [];
  }

  /** After an unreadable place: the next readable piece of the block, or the next block. */
  #nextPiece(): number {
    const block = Math.min(this.#bytes.length, (Math.floor(this.#at / BLOCK) + 1) * BLOCK);
    for (let at = this.#at + 1; at + HEADER <= block; at++) if (typeof pieceAt(this.#bytes, at) !== 'string') return at;
    return block;
  }
}

/** The piece at a place, or what is wrong with it. */
function pieceAt(bytes: Buffer, at: number): Piece | string {
  const left = Math.min(bytes.length, (Math.floor(at / BLOCK) + 1) * BLOCK) - at;
  if (left < HEADER) return 'a piece ends in its header';
  const kind = bytes[at + 6];
  const end = at + HEADER + bytes.readUInt16LE(at + 4);
  if (kind < FULL || kind > LAST) return `a piece of kind ${kind}`;
  if (end > at + left) return 'a piece ends in its data';
  if (unmasked(bytes.readUInt32LE(at)) !== crc32c(bytes.subarray(at + 6, end))) return 'a piece does not have its checksum';
  return { kind, data: bytes.subarray(at + HEADER, end), end };
}
