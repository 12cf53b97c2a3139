/**
 * Parses kubectl's JSONPath templates: text with `{…}` actions. Mirrors client-go `util/jsonpath` (parser.go): range/end, filters, unions, slices,
 * recursive descent, quoted text. It is not the JSONPath of the RFC.
 */
export type PathNode =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'list'; readonly nodes: PathNode[] }
  | { readonly type: 'field'; readonly name: string }
  | { readonly type: 'slice'; readonly params: readonly [Bound, Bound, Bound]; readonly single: boolean }
  | { readonly type: 'filter'; readonly left: PathNode[]; readonly operator: string; readonly right: PathNode[] }
  | { readonly type: 'literal'; readonly value: number | boolean | string }
  | { readonly type: 'wildcard' }
  | { readonly type: 'recursive' }
  | { readonly type: 'union'; readonly members: PathNode[][] }
  | { readonly type: 'identifier'; readonly name: string };

export type Bound = { readonly known: boolean; readonly value: number };

class Scanner {
  readonly text: string;
  at = 0;
  constructor(text: string) {
    this.text = text;
  }
  get done(): boolean {
    return this.at >= this.text.length;
  }
  peek(): string {
    return this.text[this.at] ?? '';
  }
  startsWith(prefix: string): boolean {
    return this.text.startsWith(prefix, this.at);
  }
}

/** Throws Error with the upstream reason, such as `unclosed action`. */
export function parseTemplate(template: string): PathNode[] {
  const scanner = new Scanner(template);
  const nodes: PathNode[] = [];
  while (!scanner.done) {
    const open = template.indexOf('{', scanner.at);
    const text = template.slice(scanner.at, open < 0 ? undefined : open);
    if (text !== '') nodes.push({ type: 'text', text });
    if (open < 0) break;
    scanner.at = open + 1;
    nodes.push({ type: 'list', nodes: parseAction(scanner) });
  }
  return nodes;
}

function parseAction(scanner: Scanner): PathNode[] {
  const nodes: PathNode[] = [];
  for (;;) {
    const c = scanner.peek();
    if (scanner.done || c === '\n') throw new Error('unclosed action');
    if (c === '}') {
      scanner.at++;
      return nodes;
    }
    parseStep(scanner, nodes);
  }
}

function parseStep(scanner: Scanner, nodes: PathNode[]): void {
  const c = scanner.peek();
  if (c === ' ' || c === '@' || c === '$') scanner.at++;
  else if (c === '[') nodes.push(parseBracket(scanner));
  else if (c === '"' || c === "'") nodes.push({ type: 'text', text: parseQuoted(scanner) });
  else if (c === '.') parseDot(scanner, nodes);
  else if (/[-+\d]/.test(c)) nodes.push({ type: 'literal', value: parseNumber(scanner) });
  else if (/[\p{L}_]/u.test(c)) nodes.push(parseIdentifier(scanner));
  else throw new Error(`unrecognized character in action: U+${c.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')} '${c}'`);
}

function parseDot(scanner: Scanner, nodes: PathNode[]): void {
  scanner.at++;
  if (scanner.peek() === '.') {
    nodes.push({ type: 'recursive' });
    scanner.at++;
    if (scanner.peek() === '[' || scanner.peek() === '') return;
    if (/[\w\p{L}*\\]/u.test(scanner.peek())) nodes.push(parseField(scanner));
    return;
  }
  if (scanner.peek() === '[') return;
  const next = scanner.peek();
  if (next === '' || next === '}' || next === ' ' || next === '@') return;
  nodes.push(parseField(scanner));
}

function parseField(scanner: Scanner): PathNode {
  if (scanner.peek() === '*') {
    scanner.at++;
    return { type: 'wildcard' };
  }
  let name = '';
  while (!scanner.done) {
    const c = scanner.peek();
    if (c === '\\') {
      name += scanner.text[scanner.at + 1] ?? '';
      scanner.at += 2;
      continue;
    }
    if (/[\s.[\]{},|()=!<>&"'@$]/.test(c)) break;
    name += c;
    scanner.at++;
  }
  return { type: 'field', name };
}

function parseQuoted(scanner: Scanner): string {
  const quote = scanner.peek();
  let text = '';
  for (scanner.at++; ; scanner.at++) {
    if (scanner.done) throw new Error('unterminated quoted string');
    const c = scanner.peek();
    if (c === quote) break;
    if (c !== '\\') {
      text += c;
      continue;
    }
    scanner.at++;
    const escapes: Record<string, string> = {
      n: '\n',
      t: '\t',
      r: '\r',
      '\\': '\\',
      '"': '"',
      "'": "'",
      b: '\b',
      f: '\f',
      v: '\v',
      a: '\x07',
    };
    text += escapes[scanner.peek()] ?? `\\${scanner.peek()}`;
  }
  scanner.at++;
  return text;
}

function parseNumber(scanner: Scanner): number {
  const match = /^[-+]?\d[\d.]*/.exec(scanner.text.slice(scanner.at));
  if (!match) throw new Error(`cannot parse number ${scanner.text.slice(scanner.at, scanner.at + 1)}`);
  scanner.at += match[0].length;
  return Number(match[0]);
}

function parseIdentifier(scanner: Scanner): PathNode {
  const match = /^[\p{L}\p{N}_]+/u.exec(scanner.text.slice(scanner.at))!;
  scanner.at += match[0].length;
  const word = match[0];
  if (word === 'true' || word === 'false') return { type: 'literal', value: word === 'true' };
  if (word !== 'range' && word !== 'end') throw new Error(`unrecognized identifier ${word}`);
  return { type: 'identifier', name: word };
}

const INDEX = /^(-?\d*)(:-?\d*)?(:-?\d*)?$/;

function parseBracket(scanner: Scanner): PathNode {
  const inside = readBracket(scanner);
  if (inside.startsWith('?(') && inside.endsWith(')')) return parseFilter(inside.slice(2, -1));
  const parts = splitOutsideQuotes(inside, ',');
  if (parts.length > 1) return { type: 'union', members: parts.map((part) => parseInside(`[${part.trim()}]`)) };
  if (inside === '*') return { type: 'wildcard' };
  const quoted = /^'(.*)'$/s.exec(inside) ?? /^"(.*)"$/s.exec(inside);
  // Dots inside the quotes separate members too, unless a backslash stands before them.
  if (quoted) return { type: 'list', nodes: parseInside(`.${quoted[1]}`) };
  const index = INDEX.exec(inside);
  if (!index || inside === '') throw new Error(`invalid array index ${inside}`);
  const bound = (text: string | undefined): Bound => {
    const digits = text?.replace(':', '') ?? '';
    return { known: digits !== '', value: digits === '' ? 0 : Number(digits) };
  };
  return { type: 'slice', params: [bound(index[1]), bound(index[2]), bound(index[3])], single: index[2] === undefined };
}

/** The text between the bracket at the scanner and its partner, quotes and inner brackets respected. */
function readBracket(scanner: Scanner): string {
  const start = scanner.at + 1;
  let depth = 0;
  let quote = '';
  for (; !scanner.done; scanner.at++) {
    const c = scanner.peek();
    if (quote !== '') {
      if (c === '\\') scanner.at++;
      else if (c === quote) quote = '';
    } else if (c === '"' || c === "'") quote = c;
    else if (c === '[') depth++;
    else if (c === ']' && --depth === 0) {
      scanner.at++;
      return scanner.text.slice(start, scanner.at - 1);
    }
  }
  throw new Error('unterminated array');
}

function splitOutsideQuotes(text: string, separator: string): string[] {
  const parts: string[] = [''];
  let quote = '';
  for (const c of text) {
    if (quote !== '') quote = c === quote ? '' : quote;
    else if (c === '"' || c === "'") quote = c;
    if (c === separator && quote === '') parts.push('');
    else parts[parts.length - 1] += c;
  }
  return parts;
}

function parseFilter(text: string): PathNode {
  const match = /^((?:[^=!<>"']|'[^']*'|"[^"]*")+?)\s*(==|!=|<=|>=|<|>)\s*(.*)$/s.exec(text);
  if (!match) return { type: 'filter', left: parseInside(text), operator: 'exists', right: [] };
  return { type: 'filter', left: parseInside(match[1].trim()), operator: match[2], right: parseInside(match[3].trim()) };
}

function parseInside(text: string): PathNode[] {
  return parseAction(new Scanner(`${text}}`));
}
