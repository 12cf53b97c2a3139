/**
 * Writes YAML as go-yaml v2 does, byte for byte as far as API objects go: sorted keys, lists at their parent's indentation, which
 * strings are quoted and how, lines folded at 80 columns. Mirrors go-yaml `encode.go` and libyaml's emitter.
 */
import { NumberLiteral } from './json-number.ts';
import { isPlain, type Plain } from './plain.ts';
import { goFloat, resolvePlain } from './yaml-scalars.ts';

const BEST_WIDTH = 80;
const INDENT = 2;
const MAX_SIMPLE_KEY = 128;

export function formatYamlValue(value: unknown): string {
  const writer = new Writer();
  writer.node(value, { indent: 0, key: false });
  writer.endLine();
  return writer.text;
}

interface Context {
  /** Where a collection would put its entries; text goes on two columns further right. */
  readonly indent: number;
  readonly key: boolean;
}

class Writer {
  text = '';
  #column = 0;

  put(text: string): void {
    this.text += text;
    const newline = text.lastIndexOf('\n');
    this.#column = newline < 0 ? this.#column + text.length : text.length - newline - 1;
  }
  endLine(): void {
    if (!this.text.endsWith('\n')) this.put('\n');
  }

  /** Writes at the current position; a block collection's first entry is expected to fit there. */
  node(value: unknown, context: Context): void {
    if (Array.isArray(value) && value.length > 0) this.#sequence(value, context.indent);
    else if (isPlain(value) && hasMembers(value)) this.#mapping(value, context.indent);
    else this.#scalar(value, context);
  }

  #sequence(items: readonly unknown[], indent: number): void {
    items.forEach((item, i) => {
      if (i > 0) this.#lineAt(indent);
      this.put('- ');
      const nested = Array.isArray(item) || isPlain(item);
      this.node(item, { indent: nested ? indent + INDENT : indent, key: false });
    });
  }

  #mapping(object: Plain, indent: number): void {
    const keys = Object.keys(object).filter((key) => object[key] !== undefined);
    keys.sort(compareKeys).forEach((key, i) => {
      if (i > 0) this.#lineAt(indent);
      const simple = Buffer.byteLength(key) <= MAX_SIMPLE_KEY && !/[\n\r\u0085\u2028\u2029]/.test(key);
      if (!simple) this.put('? ');
      this.#string(key, { indent, key: simple });
      if (!simple) this.#lineAt(indent);
      this.put(':');
      this.#member(object[key], indent, simple);
    });
  }

  #member(value: unknown, indent: number, simple: boolean): void {
    if (Array.isArray(value) && value.length > 0) {
      // A list under a simple key is not indented.
      if (simple) this.#lineAt(indent);
      else this.put(' ');
      this.#sequence(value, simple ? indent : indent + INDENT);
    } else if (isPlain(value) && hasMembers(value)) {
      if (simple) this.#lineAt(indent + INDENT);
      else this.put(' ');
      this.#mapping(value, indent + INDENT);
    } else {
      this.put(' ');
      this.#scalar(value, { indent, key: false });
    }
  }

  #lineAt(indent: number): void {
    this.endLine();
    this.put(' '.repeat(indent));
  }

  #scalar(value: unknown, context: Context): void {
    if (value === null || value === undefined) this.put('null');
    else if (typeof value === 'string') this.#string(value, context);
    else if (typeof value === 'number') this.put(Number.isInteger(value) ? String(value) : goFloat(value));
    else if (value instanceof NumberLiteral) this.put(/^-?\d+$/.test(value.text) ? value.text : goFloat(Number(value.text)));
    else if (Array.isArray(value)) this.put('[]');
    else if (typeof value === 'object') this.put('{}');
    else this.put(String(value));
  }

  #string(text: string, { indent, key }: Context): void {
    const style = chooseStyle(text, key);
    const folded = indent + INDENT;
    if (style === 'literal') this.#literal(text, folded);
    else if (style === 'double') this.#double(text, folded, !key);
    else if (style === 'single') this.#single(text, folded, !key);
    else this.#plain(text, folded, !key);
  }

  #break(indent: number): void {
    this.put(`\n${' '.repeat(indent)}`);
  }

  #plain(text: string, indent: number, fold: boolean): void {
    let spaces = false;
    for (let i = 0; i < text.length; i++) {
      if (text[i] === ' ') {
        if (fold && !spaces && this.#column > BEST_WIDTH && text[i + 1] !== ' ') this.#break(indent);
        else this.put(' ');
        spaces = true;
      } else {
        i = this.#run(text, i) - 1;
        spaces = false;
      }
    }
  }

  /** Writes up to the next space at once; columns count characters, not UTF-16 units. */
  #run(text: string, from: number): number {
    const space = text.indexOf(' ', from);
    const end = space < 0 ? text.length : space;
    const run = text.slice(from, end);
    this.text += run;
    this.#column += [...run].length;
    return end;
  }

  #single(text: string, indent: number, fold: boolean): void {
    this.put("'");
    let spaces = false;
    let breaks = false;
    for (let i = 0; i < text.length; i++) {
      const c = text[i]!;
      if (c === ' ') {
        if (fold && !spaces && this.#column > BEST_WIDTH && i > 0 && i < text.length - 1 && text[i + 1] !== ' ') this.#break(indent);
        else this.put(' ');
        spaces = true;
      } else if (c === '\n') {
        this.put(breaks ? '\n' : '\n\n');
        breaks = true;
      } else {
        if (breaks) this.put(' '.repeat(indent));
        this.put(c === "'" ? "''" : c);
        spaces = false;
        breaks = false;
      }
    }
    this.put("'");
  }

  #double(text: string, indent: number, fold: boolean): void {
    this.put('"');
    let spaces = false;
    const length = Buffer.byteLength(text);
    let at = 0;
    for (const c of text) {
      const size = Buffer.byteLength(c);
      if (c === ' ') {
        if (fold && !spaces && this.#column > BEST_WIDTH && at > 0 && at < length - 1) {
          this.#break(indent);
          if (text[at + 1] === ' ') this.put('\\');
        } else this.put(' ');
        spaces = true;
      } else {
        this.put(escapeDouble(c));
        spaces = false;
      }
      at += size;
    }
    this.put('"');
  }

  #literal(text: string, indent: number): void {
    let header = '|';
    if (/^[ \n\r\u0085\u2028\u2029]/.test(text)) header += INDENT;
    if (!/[\n\r\u0085\u2028\u2029]$/.test(text)) header += '-';
    else if (text.length === 1 || /[\n\r\u0085\u2028\u2029]{2}$/.test(text)) header += '+';
    this.put(header);
    for (const line of text.replace(/\n$/, '').split('\n')) this.put(line === '' ? '\n' : `\n${' '.repeat(indent)}${line}`);
    this.put('\n');
  }
}

function hasMembers(value: Plain): boolean {
  return Object.keys(value).some((key) => value[key] !== undefined);
}

type Style = 'plain' | 'single' | 'double' | 'literal';

function chooseStyle(text: string, key: boolean): Style {
  const allowed = analyze(text);
  if (text.includes('\n')) return allowed.block && !key ? 'literal' : 'double';
  const resolved = resolvePlain(text).type;
  if (resolved !== 'string' || isBase60(text)) return 'double';
  if (allowed.plain) return 'plain';
  return allowed.single ? 'single' : 'double';
}

/** Sexagesimal numbers of YAML 1.1, which older readers would take for numbers. */
function isBase60(text: string): boolean {
  return /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/.test(text);
}

const BREAK = '\n\r\u0085\u2028\u2029';
const STARTS_INDICATOR = '#,[]{}&*!|>\'"%@`';

/** Which forms can hold the text (libyaml's yaml_emitter_analyze_scalar), outside of flow collections. */
function analyze(text: string): { plain: boolean; single: boolean; block: boolean } {
  if (text === '') return { plain: true, single: true, block: false };
  let indicators = text.startsWith('---') || text.startsWith('...');
  let [special, spaceBreak, breakSpace, lineBreaks] = [false, false, false, false];
  let [previousSpace, previousBreak, afterBlank] = [false, false, true];
  for (let i = 0; i < text.length; i++) {
    const c = text[i]!;
    const next = text[i + 1];
    const beforeBlank = next === undefined || ` \t${BREAK}`.includes(next);
    if (
      i === 0 ? STARTS_INDICATOR.includes(c) || ('?:-'.includes(c) && beforeBlank) : (c === ':' && beforeBlank) || (c === '#' && afterBlank)
    )
      indicators = true;
    if (!isPrintable(text, i)) special = true;
    const [space, lineBreak] = [c === ' ', BREAK.includes(c)];
    if (space && previousBreak) breakSpace = true;
    if (lineBreak) {
      lineBreaks = true;
      if (previousSpace) spaceBreak = true;
    }
    [previousSpace, previousBreak, afterBlank] = [space, lineBreak, space || lineBreak || c === '\t'];
  }
  const edge = (c: string): boolean => c === ' ' || BREAK.includes(c);
  const refused = spaceBreak || special;
  return {
    plain: !refused && !breakSpace && !lineBreaks && !indicators && !edge(text[0]!) && !edge(text[text.length - 1]!),
    single: !refused && !breakSpace,
    block: !refused && !text.endsWith(' '),
  };
}

/** libyaml's idea of printable: no tab, no DEL, nothing beyond the basic plane. */
function isPrintable(text: string, i: number): boolean {
  const c = text.charCodeAt(i);
  return c === 0x0a || (c >= 0x20 && c <= 0x7e) || (c >= 0xa0 && c < 0xd800) || (c >= 0xe000 && c < 0xfffe && c !== 0xfeff);
}

const DOUBLE_ESCAPES = new Map<string, string>(
  Object.entries({
    '\0': '\\0',
    '\x07': '\\a',
    '\b': '\\b',
    '\t': '\\t',
    '\n': '\\n',
    '\v': '\\v',
    '\f': '\\f',
    '\r': '\\r',
    '\x1b': '\\e',
    '"': '\\"',
    '\\': '\\\\',
  }),
);
for (const [c, written] of [
  ['\u0085', '\\N'],
  ['\u00a0', '\\_'],
  ['\u2028', '\\L'],
  ['\u2029', '\\P'],
] as const)
  DOUBLE_ESCAPES.set(c, written);

function escapeDouble(c: string): string {
  if (isPrintable(c, 0) && !'"\\\n\u2028\u2029'.includes(c)) return c;
  const known = DOUBLE_ESCAPES.get(c);
  if (known !== undefined) return known;
  const code = c.codePointAt(0)!;
  const hex = code.toString(16).toUpperCase();
  return code <= 0xff ? `\\x${hex.padStart(2, '0')}` : code <= 0xffff ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
}

const isLetter = (c: string): boolean => /\p{L}/u.test(c);
const isDigit = (c: string | undefined): boolean => c !== undefined && c >= '0' && c <= '9';

/** go-yaml's natural order of keys: letters after everything else, runs of digits by their value. */
function compareKeys(left: string, right: string): number {
  const [a, b] = [[...left], [...right]];
  for (let i = 0; i < a.length && i < b.length; i++) {
    const [x, y] = [a[i]!, b[i]!];
    if (x === y) continue;
    const [xl, yl] = [isLetter(x), isLetter(y)];
    if (xl && yl) return x.codePointAt(0)! - y.codePointAt(0)!;
    if (xl || yl) return yl ? -1 : 1;
    return compareDigits(a, b, i);
  }
  return a.length - b.length;
}

function compareDigits(a: readonly string[], b: readonly string[], from: number): number {
  let lead = '';
  if (a[from] === '0' || b[from] === '0') {
    for (let j = from - 1; j >= 0 && isDigit(a[j]); j--) if (a[j] !== '0') lead = '1';
  }
  const run = (text: readonly string[]): string => {
    let end = from;
    while (isDigit(text[end])) end++;
    return text.slice(from, end).join('');
  };
  const [x, y] = [run(a), run(b)];
  const difference = BigInt(`0${lead}${x}`) - BigInt(`0${lead}${y}`);
  if (difference !== 0n) return difference < 0n ? -1 : 1;
  if (x.length !== y.length) return x.length - y.length;
  return a[from]!.codePointAt(0)! - b[from]!.codePointAt(0)!;
}
