/**
 * Reading and writing members of untrusted plain objects. Every member name is data: `__proto__`, `constructor` and `toString`
 * are legal ConfigMap keys and label names, so nothing here reads through the prototype or writes to it.
 */

export type Plain = Record<string, unknown>;

/** True for a JSON object: neither null, nor a list, nor one of the number forms of `json.ts`. */
export function isPlain(value: unknown): value is Plain {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null || !isNumberLike(value);
}

/** A class instance that stands for a JSON number (`NumberLiteral`). */
function isNumberLike(value: object): boolean {
  return 'isJsonNumber' in value && !Object.hasOwn(value, 'isJsonNumber');
}

/** The own member `key`, or undefined. */
export function getOwn(object: Plain, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Sets the own member `key`; the only safe way when the key comes from outside. */
export function setOwn(object: Plain, key: string, value: unknown): void {
  if (key === '__proto__') Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  else object[key] = value;
}

/** The members as a new object, without those that `drop` names. */
export function without(object: Plain, ...drop: string[]): Plain {
  const result: Plain = {};
  for (const key of Object.keys(object)) if (!drop.includes(key)) setOwn(result, key, object[key]);
  return result;
}

/** Keys in the order of their UTF-8 bytes, as Go sorts strings. JavaScript's own order differs only where surrogates occur. */
export function sortedKeys(object: Plain): string[] {
  const keys = Object.keys(object);
  if (keys.length < 2) return keys;
  return keys.some((key) => SURROGATE_OR_ABOVE.test(key)) ? keys.sort(compareBytes) : keys.sort();
}

const SURROGATE_OR_ABOVE = /[\ud800-\uffff]/;

/** Compares as Go compares strings: by UTF-8 bytes, which is by code point. */
export function compareBytes(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x === y) continue;
    // A surrogate belongs to a code point above every one of the basic plane.
    const xs = (x & 0xf800) === 0xd800;
    const ys = (y & 0xf800) === 0xd800;
    return xs === ys ? x - y : xs ? 1 : -1;
  }
  return a.length - b.length;
}

/** Halves of surrogate pairs that stand alone become U+FFFD, as in Go, whose strings cannot hold them. */
export function wellFormed(text: string): string {
  return (text as WellFormable).toWellFormed();
}

/** Every Node that we run on has it; the language level we compile for does not know it yet. */
type WellFormable = string & { toWellFormed(): string };
