/**
 * As much of DER as certificates and requests for them need: the elements of a sequence, one after the other, and how to write them. Nothing is
 * decoded that nobody asks for.
 */

export interface DerElement {
  readonly tag: number;
  /** The element with its header. */
  readonly bytes: Buffer;
  readonly content: Buffer;
}

export const SEQUENCE = 0x30;
export const SET = 0x31;
export const BIT_STRING = 0x03;
export const OBJECT_IDENTIFIER = 0x06;

/** The elements that `bytes` holds. Throws when they are not whole. */
export function derElements(bytes: Buffer): DerElement[] {
  const elements: DerElement[] = [];
  for (let rest = bytes; rest.length > 0; ) {
    const element = derElement(rest);
    elements.push(element);
    rest = rest.subarray(element.bytes.length);
  }
  return elements;
}

/** The first element; what follows it is not looked at. Throws when it is not whole. */
export function derElement(bytes: Buffer): DerElement {
  const { start, end } = extent(bytes);
  return { tag: bytes[0]!, bytes: bytes.subarray(0, end), content: bytes.subarray(start, end) };
}

function extent(bytes: Buffer): { start: number; end: number } {
  const first = bytes[1];
  if (first === undefined) throw new Error('asn1: syntax error: truncated tag or length');
  let start = 2;
  let length = first;
  if (first >= 0x80) {
    const count = first - 0x80;
    if (count === 0 || count > 4 || start + count > bytes.length) throw new Error('asn1: structure error: bad length');
    length = bytes.readUIntBE(start, count);
    start += count;
  }
  if (start + length > bytes.length) throw new Error('asn1: syntax error: data truncated');
  return { start, end: start + length };
}

/** The elements of one constructed element of the tag. */
export function derChildren(element: DerElement | undefined, tag: number): DerElement[] {
  if (element === undefined) throw new Error('asn1: syntax error: sequence truncated');
  if (element.tag !== tag) throw new Error(`asn1: structure error: tags don't match (${tag & 0x1f} vs ${described(element)})`);
  return derElements(element.content);
}

/** As Go prints it (encoding/asn1 tagAndLength). */
const described = ({ tag, content }: DerElement): string =>
  `{class:${tag >> 6} tag:${tag & 0x1f} length:${content.length} isCompound:${(tag & 0x20) !== 0}}`;

/** Dotted decimal form of an object identifier. */
export function objectIdentifier(element: DerElement | undefined): string {
  if (element?.tag !== OBJECT_IDENTIFIER) throw new Error("asn1: structure error: tags don't match");
  const arcs: number[] = [];
  let value = 0;
  for (const byte of element.content) {
    value = value * 128 + (byte & 0x7f);
    if (byte >= 0x80) continue;
    if (arcs.length === 0) {
      const root = Math.min(Math.floor(value / 40), 2);
      arcs.push(root, value - root * 40);
    } else arcs.push(value);
    value = 0;
  }
  return arcs.join('.');
}

/** An element of these parts. */
export function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content]);
  const bytes = length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...bytes]), content]);
}
