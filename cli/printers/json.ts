/** JSON as kubectl prints it: four spaces, members of served objects sorted, Go's escaping of <, > and &. */

/** Sorts members by UTF-16 order of their names (the names of the API are ASCII) at every depth. */
export function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
      .map(([key, member]) => [key, sortKeys(member)]),
  );
}

const ESCAPES: Record<string, string> = { '<': '\\u003c', '>': '\\u003e', '&': '\\u0026', '\u2028': '\\u2028', '\u2029': '\\u2029' };

export const escapeHtml = (json: string): string => json.replace(/[<>&\u2028\u2029]/g, (c) => ESCAPES[c]);

/** Keeps the order of members (objects made here are typed, and Go prints those in field order). */
export function formatJson(value: unknown, indent = 4): string {
  return `${escapeHtml(JSON.stringify(value, undefined, indent) ?? 'null')}\n`;
}

export const formatSortedJson = (value: unknown): string => formatJson(sortKeys(value));

/** One line, members sorted: how maps and lists appear inside JSONPath output. */
export const compactJson = (value: unknown): string => escapeHtml(JSON.stringify(sortKeys(value)) ?? 'null');

/** Go's `fmt.Sprint` of a decoded JSON value: `map[a:1 b:[x y]]`, `<nil>`. */
export function formatGo(value: unknown): string {
  if (value === null || value === undefined) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(formatGo).join(' ')}]`;
  if (typeof value === 'object') {
    const pairs = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
    return `map[${pairs.map(([key, member]) => `${key}:${formatGo(member)}`).join(' ')}]`;
  }
  return typeof value === 'number' ? formatNumber(value) : String(value);
}

/** Integers plainly; fractions as Go's %v of a float64. */
export function formatNumber(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 2 ** 63) return BigInt(value).toString();
  const exponent = value === 0 ? 0 : Math.floor(Math.log10(Math.abs(value)));
  if (exponent >= -4 && exponent < 21) return String(value);
  return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
}
