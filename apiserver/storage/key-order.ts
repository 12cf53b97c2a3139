/**
 * Keys sort by their UTF-8 bytes, as in etcd; JavaScript compares UTF-16 code units. The two differ only where a surrogate pair (a
 * character above U+FFFF) meets a unit from U+E000 to U+FFFF. `orderOf` swaps these two ranges, so that `<` on the result is byte order:
 * 'a😀' (F0 9F 98 80) comes after 'a\uff5e' (EF BD 9E), though its first unit U+D83D is the smaller one.
 */

const HIGH = /[\ud800-\uffff]/;

/** A string whose UTF-16 order is the UTF-8 byte order of `key`. It maps unit by unit, so prefixes stay prefixes. */
export function orderOf(key: string): string {
  if (!HIGH.test(key)) return key;
  const units = new Array<number>(key.length);
  for (let i = 0; i < key.length; i++) {
    const unit = key.charCodeAt(i);
    units[i] = unit >= 0xe000 ? unit - 0x800 : unit >= 0xd800 ? unit + 0x2000 : unit;
  }
  let order = '';
  for (let i = 0; i < units.length; i += 4096) order += String.fromCharCode(...units.slice(i, i + 4096));
  return order;
}

/** An exclusive upper bound of all orders that start with `order`. */
export function endOfPrefix(order: string): string {
  return `${order}\uffff`;
}
