/**
 * Label selectors: the text form of queries, the object form of specs, matching. Mirrors apimachinery `labels/selector.go`
 * (lexer, parser, error texts) and `metav1.LabelSelectorAsSelector`.
 */
import { invalidValue } from './field-error.ts';
import { labelValue, qualifiedName } from './names.ts';
import type { LabelSelector } from './object.ts';
import { compareBytes } from './plain.ts';

export type SelectorOperator = 'in' | 'notin' | '=' | '==' | '!=' | 'exists' | '!' | 'gt' | 'lt';

export interface Requirement {
  readonly key: string;
  readonly operator: SelectorOperator;
  /** Sorted, without repetition. */
  readonly values: readonly string[];
}

/** All requirements must hold; none means everything. `nothing` matches no object at all. */
export interface Selector {
  readonly requirements: readonly Requirement[];
  readonly nothing: boolean;
}

export type Labels = Readonly<Record<string, string>> | undefined;

export class SelectorError extends Error {}

export const everything: Selector = { requirements: [], nothing: false };
export const nothing: Selector = { requirements: [], nothing: true };

export function matches(selector: Selector, labels: Labels): boolean {
  return !selector.nothing && selector.requirements.every((requirement) => matchesRequirement(requirement, labels));
}

function matchesRequirement({ key, operator, values }: Requirement, labels: Labels): boolean {
  const value = labels !== undefined && labels !== null && Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case 'in':
    case '=':
    case '==':
      return value !== undefined && values.includes(value);
    case 'notin':
    case '!=':
      return value === undefined || !values.includes(value);
    case 'exists':
      return value !== undefined;
    case '!':
      return value === undefined;
    default: {
      const [left, right] = [parseInt64(value), parseInt64(values[0])];
      return left !== undefined && right !== undefined && (operator === 'gt' ? left > right : left < right);
    }
  }
}

/** strconv.ParseInt(text, 10, 64). */
function parseInt64(text: string | undefined): bigint | undefined {
  if (text === undefined || !/^[-+]?\d{1,40}$/.test(text)) return undefined;
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text);
  return value >= -(1n << 63n) && value < 1n << 63n ? value : undefined;
}

/** The selector of a spec: undefined matches nothing, an empty one everything. Throws SelectorError for an unknown operator. */
export function selectorOf(selector: LabelSelector | undefined | null): Selector {
  if (selector === undefined || selector === null) return nothing;
  const requirements: Requirement[] = Object.entries(selector.matchLabels ?? {}).map(([key, value]) => makeRequirement(key, '=', [value]));
  for (const { key, operator, values } of selector.matchExpressions ?? []) {
    const own = OBJECT_OPERATORS.get(operator);
    if (own === undefined) throw new SelectorError(`${JSON.stringify(operator)} is not a valid label selector operator`);
    requirements.push(makeRequirement(key, own, values ?? []));
  }
  return { requirements: byKey(requirements), nothing: false };
}

const OBJECT_OPERATORS = new Map<string, SelectorOperator>([
  ['In', 'in'],
  ['NotIn', 'notin'],
  ['Exists', 'exists'],
  ['DoesNotExist', '!'],
]);

/** A selector of exact labels, as Services and ReplicationControllers have it. Absent and empty match everything (labels.SelectorFromSet). */
export function selectorOfLabels(labels: Labels): Selector {
  return {
    requirements: byKey(Object.entries(labels ?? {}).map(([key, value]) => ({ key, operator: '=' as const, values: [value] }))),
    nothing: false,
  };
}

const byKey = (requirements: Requirement[]): Requirement[] => requirements.sort((a, b) => compareBytes(a.key, b.key));

/** `app=web,env notin (x,y),!old`. `nothing` prints ''. */
export function formatSelector(selector: Selector): string {
  return selector.requirements.map(formatRequirement).join(',');
}

function formatRequirement({ key, operator, values }: Requirement): string {
  switch (operator) {
    case 'exists':
      return key;
    case '!':
      return `!${key}`;
    case 'in':
    case 'notin':
      return `${key} ${operator} (${values.join(',')})`;
    case 'gt':
      return `${key}>${values[0]}`;
    case 'lt':
      return `${key}<${values[0]}`;
    default:
      return `${key}${operator}${values[0] ?? ''}`;
  }
}

function aggregate(messages: string[]): SelectorError {
  return new SelectorError(messages.length === 1 ? messages[0]! : `[${messages.join(', ')}]`);
}

function makeRequirement(key: string, operator: SelectorOperator, values: readonly string[]): Requirement {
  const problems: string[] = [];
  const keyErrors = qualifiedName(key);
  if (keyErrors.length > 0) problems.push(invalidValue('key', key, keyErrors.join('; ')).message);
  const unique = [...new Set(values)].sort(compareBytes);
  const complaint = valueCountComplaint(operator, unique.length);
  if (complaint !== undefined) problems.push(`values: Invalid value: [${unique.map((v) => JSON.stringify(v)).join(',')}]: ${complaint}`);
  if (operator === 'gt' || operator === 'lt') {
    unique.forEach((value, i) => {
      if (parseInt64(value) === undefined)
        problems.push(invalidValue(`values[${i}]`, value, "for 'Gt', 'Lt' operators, the value must be an integer").message);
    });
  }
  unique.forEach((value, i) => {
    const errors = labelValue(value);
    if (errors.length > 0) problems.push(invalidValue(`values[${i}][${key}]`, value, errors.join('; ')).message);
  });
  if (problems.length > 0) throw aggregate(problems);
  return { key, operator, values: unique };
}

function valueCountComplaint(operator: SelectorOperator, count: number): string | undefined {
  switch (operator) {
    case 'in':
    case 'notin':
      return count === 0 ? "for 'in', 'notin' operators, values set can't be empty" : undefined;
    case 'exists':
    case '!':
      return count > 0 ? 'values set must be empty for exists and does not exist' : undefined;
    case 'gt':
    case 'lt':
      return count === 1 ? undefined : "for 'Gt', 'Lt' operators, exactly one value is required";
    default:
      return count === 1 ? undefined : 'exact-match compatibility requires one single value';
  }
}

type TokenKind = 'end' | 'identifier' | 'error' | ')' | '(' | ',' | '!' | '=' | '==' | '!=' | '>' | '<' | 'in' | 'notin';
interface Token {
  readonly kind: TokenKind;
  readonly text: string;
}

const SPECIAL = new Set(['=', '!', '(', ')', ',', '>', '<']);
const SYMBOLS = new Set([')', ',', '!', '==', '=', '>', '<', '!=', '(']);
const SPACE = /[ \t\r\n]/;

function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    if (SPACE.test(text[at]!)) {
      at++;
      continue;
    }
    const start = at;
    if (SPECIAL.has(text[at]!)) {
      // The longest run of special characters that is itself a symbol.
      let symbol = '';
      for (let end = start + 1; end <= text.length && SPECIAL.has(text[end - 1]!); end++) {
        const run = text.slice(start, end);
        if (SYMBOLS.has(run)) symbol = run;
        else break;
      }
      at += symbol.length;
      tokens.push({ kind: symbol as TokenKind, text: symbol });
      continue;
    }
    while (at < text.length && !SPECIAL.has(text[at]!) && !SPACE.test(text[at]!)) at++;
    const word = text.slice(start, at);
    tokens.push({ kind: word === 'in' || word === 'notin' ? word : 'identifier', text: word });
  }
  return tokens;
}

const END: Token = { kind: 'end', text: '' };
const BINARY_OPERATORS = 'in, notin, =, ==, !=, gt, lt';

class Parser {
  readonly #tokens: readonly Token[];
  #at = 0;
  constructor(text: string) {
    this.#tokens = tokenize(text);
  }

  /** Where a value may stand, `in` and `notin` are plain words. */
  #peek(values: boolean): Token {
    const token = this.#tokens[this.#at] ?? END;
    return values && (token.kind === 'in' || token.kind === 'notin') ? { kind: 'identifier', text: token.text } : token;
  }
  #next(values: boolean): Token {
    const token = this.#peek(values);
    this.#at++;
    return token;
  }

  parse(): Requirement[] {
    const requirements: Requirement[] = [];
    for (;;) {
      const token = this.#peek(true);
      if (token.kind === 'end') return requirements;
      if (token.kind !== 'identifier' && token.kind !== '!')
        throw new SelectorError(`found '${token.text}', expected: !, identifier, or 'end of string'`);
      try {
        requirements.push(this.#requirement());
      } catch (error) {
        throw new SelectorError(`unable to parse requirement: ${(error as Error).message}`);
      }
      const after = this.#next(true);
      if (after.kind === 'end') return requirements;
      if (after.kind !== ',') throw new SelectorError(`found '${after.text}', expected: ',' or 'end of string'`);
      const following = this.#peek(true);
      if (following.kind !== 'identifier' && following.kind !== '!')
        throw new SelectorError(`found '${following.text}', expected: identifier after ','`);
    }
  }

  #requirement(): Requirement {
    let token = this.#next(true);
    const negated = token.kind === '!';
    if (negated) token = this.#next(false);
    if (token.kind !== 'identifier') throw new SelectorError(`found '${token.text}', expected: identifier`);
    const key = token.text;
    const keyErrors = qualifiedName(key);
    if (keyErrors.length > 0) throw new SelectorError(invalidValue('<nil>', key, keyErrors.join('; ')).message);
    const ahead = this.#peek(true).kind;
    if (negated) return makeRequirement(key, '!', []);
    if (ahead === 'end' || ahead === ',') return makeRequirement(key, 'exists', []);
    const operator = this.#operator();
    const values = operator === 'in' || operator === 'notin' ? this.#values() : [this.#exactValue()];
    return makeRequirement(key, operator, values);
  }

  #operator(): SelectorOperator {
    const token = this.#next(false);
    switch (token.kind) {
      case 'in':
      case 'notin':
      case '=':
      case '==':
      case '!=':
        return token.kind;
      case '>':
        return 'gt';
      case '<':
        return 'lt';
      default:
        throw new SelectorError(`found '${token.text}', expected: ${BINARY_OPERATORS}`);
    }
  }

  #values(): string[] {
    const open = this.#next(true);
    if (open.kind !== '(') throw new SelectorError(`found '${open.text}' expected: '('`);
    const first = this.#peek(true);
    if (first.kind === ')') {
      this.#at++;
      return [''];
    }
    if (first.kind !== 'identifier' && first.kind !== ',')
      throw new SelectorError(`found '${first.text}', expected: ',', ')' or identifier`);
    const values = this.#list();
    if (this.#next(true).kind !== ')') throw new SelectorError(`found '${first.text}', expected: ')'`);
    return values;
  }

  #list(): string[] {
    const values: string[] = [];
    for (;;) {
      const token = this.#next(true);
      if (token.kind === 'identifier') {
        values.push(token.text);
        const ahead = this.#peek(true);
        if (ahead.kind === ')') return values;
        if (ahead.kind !== ',') throw new SelectorError(`found '${ahead.text}', expected: ',' or ')'`);
      } else if (token.kind === ',') {
        if (values.length === 0) values.push('');
        const ahead = this.#peek(true);
        if (ahead.kind === ')') return [...values, ''];
        if (ahead.kind === ',') values.push('');
      } else throw new SelectorError(`found '${token.text}', expected: ',', or identifier`);
    }
  }

  #exactValue(): string {
    const ahead = this.#peek(true);
    if (ahead.kind === 'end' || ahead.kind === ',') return '';
    const token = this.#next(true);
    if (token.kind !== 'identifier') throw new SelectorError(`found '${token.text}', expected: identifier`);
    return token.text;
  }
}

/** Throws SelectorError with upstream's text, which is the whole message of its 400. */
export function parseSelector(text: string): Selector {
  return { requirements: byKey(new Parser(text).parse()), nothing: false };
}
