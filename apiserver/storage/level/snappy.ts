/** Unpacks what LevelDB packed with Snappy (google/snappy `format_description.txt`): only the small index of a table, see table-file.ts. */
import { VarintReader } from './varint.ts';

/** Throws with what is wrong. */
export function unpackSnappy(packed: Buffer): Buffer {
  const reader = new VarintReader(packed);
  const output = Buffer.alloc(lengthOf(reader));
  let at = 0;
  while (!reader.done) {
    const tag = reader.byte();
    const isCopy = (tag & 3) !== 0;
    const { length, offset } = isCopy ? copyOf(tag, reader) : { length: literalLength(tag, reader), offset: 0 };
    if (at + length > output.length) throw new Error('it unpacks to more than it tells');
    if (!isCopy) reader.skip(length).copy(output, at);
    else if (offset === 0 || offset > at) throw new Error('it repeats what is not there');
    else for (let i = 0; i < length; i++) output[at + i] = output[at + i - offset]; // may overlap: a run
    at += length;
  }
  if (at !== output.length) throw new Error('it unpacks to less than it tells');
  return output;
}

/** No index is larger. */
const MAX_UNPACKED = 64 * 1024 * 1024;

function lengthOf(reader: VarintReader): number {
  const length = reader.number();
  if (length > MAX_UNPACKED) throw new Error(`it would unpack to ${length} bytes`);
  return length;
}

function literalLength(tag: number, reader: VarintReader): number {
  const short = tag >>> 2;
  return (short < 60 ? short : littleEndian(reader, short - 59)) + 1;
}

function copyOf(tag: number, reader: VarintReader): { length: number; offset: number } {
  if ((tag & 3) === 1) return { length: ((tag >>> 2) & 7) + 4, offset: ((tag >>> 5) << 8) | reader.byte() };
  return { length: (tag >>> 2) + 1, offset: littleEndian(reader, (tag & 3) === 2 ? 2 : 4) };
}

function littleEndian(reader: VarintReader, bytes: number): number {
  let value = 0;
  for (let i = 0; i < bytes; i++) value += reader.byte() * 256 ** i;
  return value;
}
