/**
 * The stored bytes of an object with another `metadata.resourceVersion`: what a watcher gets when an object leaves its selector (the old
 * state at the new revision), and what an update that was compared with the old version is written as. The bytes are scanned, not parsed: numbers, key order and escapes stay exactly as they are.
 */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

export function withRevision(bytes: Buffer, revision: number): Buffer {
  const metadata = findMember(bytes, 0, 'metadata');
  const value = metadata === undefined ? undefined : findMember(bytes, metadata, 'resourceVersion');
  if (value === undefined || bytes[value] !== QUOTE) throw new Error('a stored object has no metadata.resourceVersion');
  return Buffer.concat([bytes.subarray(0, value + 1), Buffer.from(String(revision)), bytes.subarray(endOfString(bytes, value) - 1)]);
}

/** Where the value of a member of the object at `at` begins. Stored JSON is compact: no space anywhere. */
function findMember(bytes: Buffer, at: number, name: string): number | undefined {
  const quoted = Buffer.from(JSON.stringify(name));
  let i = at + 1;
  while (bytes[i] === QUOTE) {
    const end = endOfString(bytes, i);
    if (end - i === quoted.length && bytes.compare(quoted, 0, quoted.length, i, end) === 0) return end + 1;
    i = endOfValue(bytes, end + 1) + 1;
  }
  return undefined;
}

function endOfString(bytes: Buffer, at: number): number {
  let i = at + 1;
  for (;;) {
    const next = bytes.indexOf(QUOTE, i);
    if (next < 0) throw new Error('a stored object is cut short');
    let slashes = next - 1;
    while (bytes[slashes] === BACKSLASH) slashes--;
    if ((next - slashes) % 2 === 1) return next + 1;
    i = next + 1;
  }
}

/** Just after the value at `at`. */
function endOfValue(bytes: Buffer, at: number): number {
  let depth = 0;
  for (let i = at; i < bytes.length; ) {
    const byte = bytes[i];
    if (byte === QUOTE) {
      i = endOfString(bytes, i);
      if (depth === 0) return i;
      continue;
    }
    if (byte === 0x7b || byte === 0x5b) depth++;
    else if (byte === 0x7d || byte === 0x5d) {
      if (depth === 0) return i;
      if (--depth === 0) return i + 1;
    } else if (byte === 0x2c && depth === 0) return i;
    i++;
  }
  return bytes.length;
}
