/**
 * Checks a table of LevelDB (`doc/table_format.md`): every block has the checksum it was written with. LevelDB compares none unless it is told to with
 * each read, which its binding cannot; and a changed byte in the index of a table makes it end the process (an assertion), from a thread of its own.
 */
import { crc32c, unmasked } from './crc32c.ts';
import { unpackSnappy } from './snappy.ts';
import { VarintReader } from './varint.ts';

const FOOTER = 48;
const MAGIC = Buffer.from('57fb808b247547db', 'hex');
/** Behind each block: how it is packed, and its checksum. */
const TRAILER = 5;
const PACKED = 1;

interface Handle {
  readonly offset: number;
  readonly size: number;
}

/** What is wrong, with its place; undefined when all is well. */
export function damageOfTable(bytes: Buffer): string | undefined {
  if (bytes.length < FOOTER || !bytes.subarray(bytes.length - MAGIC.length).equals(MAGIC))
    return 'is no whole table: its last bytes are wrong';
  const table = bytes.subarray(0, bytes.length - FOOTER);
  try {
    const footer = new VarintReader(bytes.subarray(bytes.length - FOOTER, bytes.length - MAGIC.length));
    const [meta, index] = [handleIn(footer), handleIn(footer)];
    let end = 0;
    for (const handle of [...handlesOf(table, index), ...handlesOf(table, meta)]) {
      contentOf(table, handle);
      end += handle.size + TRAILER;
    }
    // Every byte belongs to a block: an index that leaves one out would hide what is in it.
    if (end !== meta.offset) throw new Error(`its blocks make up ${end} bytes of ${meta.offset}`);
    return undefined;
  } catch (error) {
    return `is damaged: ${(error as Error).message}`;
  }
}

const handleIn = (reader: VarintReader): Handle => ({ offset: reader.number(), size: reader.number() });

/** A block's content, still packed if it is. Throws when it is not what was written. */
function contentOf(table: Buffer, { offset, size }: Handle): { content: Buffer; kind: number } {
  const end = offset + size;
  if (end + TRAILER > table.length) throw new Error(`it points to byte ${end} of ${table.length}`);
  if (unmasked(table.readUInt32LE(end + 1)) !== crc32c(table.subarray(offset, end + 1))) {
    throw new Error(`the block at byte ${offset} does not have its checksum`);
  }
  return { content: table.subarray(offset, end), kind: table[end] };
}

/** The places that an index block points to. Entries share the beginnings of their keys; behind them stand the restart points and their number. */
function handlesOf(table: Buffer, handle: Handle): Handle[] {
  const { content, kind } = contentOf(table, handle);
  const block = kind === PACKED ? unpackSnappy(content) : content;
  const end = block.length - 4 * (block.readUInt32LE(block.length - 4) + 1);
  const reader = new VarintReader(block.subarray(0, end));
  const handles: Handle[] = [];
  while (!reader.done) {
    reader.number();
    const keyLength = reader.number();
    const valueLength = reader.number();
    reader.skip(keyLength);
    handles.push(handleIn(new VarintReader(reader.skip(valueLength))));
  }
  return handles;
}
