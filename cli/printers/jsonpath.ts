/**
 * Evaluates kubectl's JSONPath templates. Mirrors client-go `util/jsonpath` (jsonpath.go) and the way kubectl prints results: several results of one action
 * are joined by a space, maps and lists become JSON.
 */
import { CliError } from '../errors.ts';
import { compactJson, formatGo, formatJson, sortKeys } from './json.ts';
import { type PathNode, parseTemplate } from './jsonpath-parse.ts';

export interface JsonPathOptions {
  /** Missing members yield nothing instead of an error. */
  readonly allowMissing?: boolean;
  /** `-o jsonpath-as-json`. */
  readonly asJson?: boolean;
}

export interface JsonPath {
  /** The results of each action, in order. */
  find(value: unknown): unknown[][];
  print(value: unknown): string;
}

/** Throws CliError for a template that cannot be parsed; evaluation throws Error. */
export function compileJsonPath(template: string, options: JsonPathOptions = {}): JsonPath {
  let nodes: PathNode[];
  try {
    nodes = parseTemplate(template);
  } catch (error) {
    throw new CliError(`error parsing jsonpath ${template}, ${(error as Error).message}`);
  }
  const evaluator = new Evaluator(options.allowMissing ?? false);
  return {
    find: (value) => evaluator.run(nodes, value),
    print: (value) =>
      evaluator
        .run(nodes, value)
        .map((results) => printResults(results, options.asJson ?? false))
        .join(''),
  };
}

function printResults(results: readonly unknown[], asJson: boolean): string {
  if (asJson) return formatJson(results.map(sortKeys)).trimEnd();
  return results
    .map((value) => (typeof value === 'object' && value !== null ? compactJson(value) : value === null ? 'null' : formatGo(value)))
    .join(' ');
}

/** `.metadata.name`, `metadata.name` and `{.metadata.name}` are the same, for columns and --sort-by. */
export function relaxedPath(text: string): string {
  if (text === '') return '';
  const match = /^\{?\.?([^{}]+)\}?$/.exec(text) ?? /^\{\.?(.*)\}$/s.exec(text);
  if (!match)
    throw new CliError(`unexpected path string, expected a 'name1.name2' or '.name1.name2' or '{name1.name2}' or '{.name1.name2}'`);
  return match[1].startsWith('[') || match[1].startsWith('$') || match[1].startsWith('@') ? `{${match[1]}}` : `{.${match[1]}}`;
}

class Evaluator {
  readonly #allowMissing: boolean;
  constructor(allowMissing: boolean) {
    this.#allowMissing = allowMissing;
  }

  run(nodes: readonly PathNode[], value: unknown): unknown[][] {
    const out: unknown[][] = [];
    this.#sequence(nodes, value, out);
    return out;
  }

  #sequence(nodes: readonly PathNode[], value: unknown, out: unknown[][]): void {
    for (let i = 0; i < nodes.length; i++) {
      const node = nodes[i];
      const keyword = node.type === 'list' && node.nodes[0]?.type === 'identifier' ? node.nodes[0].name : '';
      if (keyword === 'end') throw new Error('not in range, nothing to end');
      if (keyword === 'range' && node.type === 'list') {
        const end = matchingEnd(nodes, i);
        for (const item of this.#steps(node.nodes.slice(1), [value])) this.#sequence(nodes.slice(i + 1, end), item, out);
        i = end;
      } else {
        out.push(node.type === 'list' ? this.#steps(node.nodes, [value]) : this.#step(node, [value]));
      }
    }
  }

  #steps(nodes: readonly PathNode[], values: unknown[]): unknown[] {
    return nodes.reduce((current, node) => this.#step(node, current), values);
  }

  #step(node: PathNode, values: unknown[]): unknown[] {
    switch (node.type) {
      case 'text':
        return [node.text];
      case 'literal':
        return [node.value];
      case 'list':
        return this.#steps(node.nodes, values);
      case 'field':
        return this.#field(node.name, values);
      case 'slice':
        return values.flatMap((value) => this.#slice(node, value));
      case 'filter':
        return values.flatMap((value) => this.#filter(node, value));
      case 'wildcard':
        return values.flatMap(children);
      case 'recursive':
        return values.flatMap(descendants);
      case 'union':
        return node.members.flatMap((member) => this.#steps(member, values));
      case 'identifier':
        return [];
    }
  }

  #field(name: string, values: unknown[]): unknown[] {
    if (values.length === 0) return values;
    if (name === '') return values;
    const found = values.flatMap((value) => {
      if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, name)) return [];
      return [(value as Record<string, unknown>)[name]];
    });
    if (found.length === 0 && !this.#allowMissing) throw new Error(`${name} is not found`);
    return found;
  }

  #slice(node: PathNode & { type: 'slice' }, value: unknown): unknown[] {
    if (value === null || value === undefined) return [];
    if (!Array.isArray(value)) throw new Error(`${formatGo(value)} is not array or slice`);
    const [low, high, step] = node.params;
    const size = value.length;
    const from = low.known ? (low.value < 0 ? low.value + size : low.value) : 0;
    if (node.single) {
      if (from >= size || from < 0) throw new Error(`array index out of bounds: index ${low.value}, length ${size}`);
      return [value[from]];
    }
    const to = Math.min(high.known ? (high.value < 0 ? high.value + size : high.value) : size, size);
    if (step.known && step.value <= 0) throw new Error('step must be > 0');
    const out: unknown[] = [];
    for (let i = Math.max(from, 0); i < to; i += step.known ? step.value : 1) out.push(value[i]);
    return out;
  }

  #filter(node: PathNode & { type: 'filter' }, value: unknown): unknown[] {
    if (value === null || value === undefined) return [];
    if (!Array.isArray(value)) throw new Error(`${formatGo(value)} is not array or slice and cannot be filtered`);
    return value.filter((item) => {
      const left = this.#lenient(node.left, item);
      if (node.operator === 'exists') return left.length > 0;
      if (left.length === 0) return false;
      const right = this.#lenient(node.right, item);
      if (left.length > 1) throw new Error('can only compare one element at a time');
      return right.length === 1 && compare(left[0], node.operator, right[0]);
    });
  }

  /** Inside a filter a missing member is no error. */
  #lenient(nodes: readonly PathNode[], value: unknown): unknown[] {
    return new Evaluator(true).#steps(nodes, [value]);
  }
}

function matchingEnd(nodes: readonly PathNode[], from: number): number {
  let depth = 0;
  for (let i = from; i < nodes.length; i++) {
    const node = nodes[i];
    const first = node.type === 'list' ? node.nodes[0] : undefined;
    if (first?.type !== 'identifier') continue;
    depth += first.name === 'range' ? 1 : -1;
    if (depth === 0) return i;
  }
  return nodes.length;
}

/** Members in name order: Go's map order is random there, ours repeats itself. */
function children(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(sortKeys(value) as Record<string, unknown>);
}

function descendants(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return [value];
  return [value, ...children(value).flatMap((child) => (typeof child === 'object' && child !== null ? descendants(child) : []))];
}

function compare(left: unknown, operator: string, right: unknown): boolean {
  if (operator === '==') return left === right;
  if (operator === '!=') return left !== right;
  if (typeof left !== typeof right) throw new Error('incompatible types for comparison');
  const [a, b] = [left as number, right as number];
  return operator === '<' ? a < b : operator === '<=' ? a <= b : operator === '>' ? a > b : a >= b;
}
