/**
 * Query parameters as Go's net/url reads them: the first value of a name counts, `+` is a blank, a parameter with a bad escape or a
 * semicolon is dropped silently.
 */

export interface Query {
  /** The first value; '' when the name is given bare; undefined when absent. */
  get(name: string): string | undefined;
  has(name: string): boolean;
  all(name: string): readonly string[];
}

const EMPTY: Query = { get: () => undefined, has: () => false, all: () => [] };
const MAX_PARAMETERS = 1000;

export function parseQuery(raw: string): Query {
  if (raw === '') return EMPTY;
  const values = new Map<string, string[]>();
  for (const pair of raw.split('&', MAX_PARAMETERS)) {
    if (pair === '' || pair.includes(';')) continue;
    const equals = pair.indexOf('=');
    const name = unescapeQuery(equals < 0 ? pair : pair.slice(0, equals));
    const value = unescapeQuery(equals < 0 ? '' : pair.slice(equals + 1));
    if (name === undefined || value === undefined) continue;
    const list = values.get(name);
    if (list === undefined) values.set(name, [value]);
    else list.push(value);
  }
  return { get: (name) => values.get(name)?.[0], has: (name) => values.has(name), all: (name) => values.get(name) ?? [] };
}

function unescapeQuery(text: string): string | undefined {
  if (!text.includes('%') && !text.includes('+')) return text;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
