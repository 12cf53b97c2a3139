/** Runs parsed Go templates over decoded JSON. Mirrors text/template's exec.go with kubectl's extra functions (`exists`, `base64decode`). */
import { CliError } from '../errors.ts';
import { formatGo, sortKeys } from './json.ts';
import { type Operand, type Pipeline, parseGoTemplate, type TemplateNode } from './template-parse.ts';

export interface GoTemplate {
  print(value: unknown): string;
}

/** Throws CliError for a template that cannot be parsed; running it may throw CliError too. */
export function compileGoTemplate(source: string, options: { allowMissing: boolean }): GoTemplate {
  let nodes: TemplateNode[];
  try {
    nodes = parseGoTemplate(source);
  } catch (error) {
    throw new CliError(`error parsing template ${source}, template: output:1: ${(error as Error).message}`);
  }
  return {
    print: (value) => {
      const run = new Run(value, options.allowMissing);
      try {
        run.nodes(nodes, value);
      } catch (error) {
        if (error instanceof CliError || error instanceof Jump) throw error;
        throw new CliError(`error executing template "${source}": template: output:1: ${(error as Error).message}`);
      }
      return run.text;
    },
  };
}

type ControlNode = Extract<TemplateNode, { readonly pipeline: Pipeline; readonly body: TemplateNode[] }>;

const isControl = (node: TemplateNode): node is ControlNode => node.type === 'if' || node.type === 'range' || node.type === 'with';

class Jump extends Error {}

const truth = (value: unknown): boolean => {
  if (Array.isArray(value) || typeof value === 'string') return value.length > 0;
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return value !== undefined && value !== null && value !== false && value !== 0;
};

const shown = (value: unknown): string => (value === undefined || value === null ? '<no value>' : formatGo(value));

class Run {
  text = '';
  readonly #root: unknown;
  readonly #allowMissing: boolean;
  #variables: { name: string; value: unknown }[] = [];
  constructor(root: unknown, allowMissing: boolean) {
    this.#root = root;
    this.#allowMissing = allowMissing;
  }

  nodes(nodes: readonly TemplateNode[], dot: unknown): void {
    const depth = this.#variables.length;
    try {
      for (const node of nodes) this.#node(node, dot);
    } finally {
      this.#variables.length = depth;
    }
  }

  #node(node: TemplateNode, dot: unknown): void {
    if (node.type === 'text') this.text += node.text;
    else if (isControl(node)) this.#control(node, dot);
    else if (node.type === 'action') {
      const value = this.#pipeline(node.pipeline, dot);
      if (node.pipeline.sets.length === 0) this.text += shown(value);
    } else throw new Jump(node.type);
  }

  #control(node: ControlNode, dot: unknown): void {
    const depth = this.#variables.length;
    if (node.type === 'range') this.#range(node, dot);
    else {
      const value = this.#pipeline(node.pipeline, dot);
      if (truth(value)) this.nodes(node.body, node.type === 'with' ? value : dot);
      else this.nodes(node.otherwise, dot);
    }
    this.#variables.length = depth;
  }

  #range(node: ControlNode, dot: unknown): void {
    const value = this.#pipeline({ ...node.pipeline, sets: [] }, dot);
    const pairs = entries(value);
    if (pairs.length === 0) {
      this.nodes(node.otherwise, dot);
      return;
    }
    const { sets } = node.pipeline;
    const depth = this.#variables.length;
    for (const [key, item] of pairs) {
      this.#variables.length = depth;
      if (sets.length > 1) this.#variables.push({ name: sets[0], value: key });
      if (sets.length > 0) this.#variables.push({ name: sets[sets.length - 1], value: item });
      try {
        this.nodes(node.body, item);
      } catch (error) {
        if (!(error instanceof Jump)) throw error;
        if (error.message === 'break') break;
      }
    }
  }

  #pipeline(pipeline: Pipeline, dot: unknown): unknown {
    let value: unknown;
    pipeline.commands.forEach((command, i) => {
      value = this.#command(command, dot, i === 0 ? [] : [value]);
    });
    for (const name of pipeline.sets) this.#set(name, value, pipeline.declares);
    return value;
  }

  #set(name: string, value: unknown, declares: boolean): void {
    const existing = declares ? undefined : this.#variables.findLast((variable) => variable.name === name);
    if (existing) existing.value = value;
    else this.#variables.push({ name, value });
  }

  #command(command: readonly Operand[], dot: unknown, piped: readonly unknown[]): unknown {
    const [first, ...rest] = command;
    if (first.type !== 'function') {
      if (rest.length > 0 || piped.length > 0) throw new Error(`can't give argument to non-function`);
      return this.#operand(first, dot);
    }
    if (first.name === 'and' || first.name === 'or') return this.#shortCircuit(first.name, rest, { dot, piped });
    return call(first.name, [...rest.map((operand) => this.#operand(operand, dot)), ...piped]);
  }

  #shortCircuit(name: string, operands: readonly Operand[], from: { dot: unknown; piped: readonly unknown[] }): unknown {
    let value: unknown;
    for (const operand of operands) {
      value = this.#operand(operand, from.dot);
      if (truth(value) === (name === 'or')) return value;
    }
    return from.piped.length > 0 ? from.piped[0] : value;
  }

  #operand(operand: Operand, dot: unknown): unknown {
    switch (operand.type) {
      case 'constant':
        return operand.value;
      case 'field':
        return this.#path(dot, operand.path);
      case 'variable':
        return this.#path(this.#variable(operand.name), operand.path);
      case 'pipeline':
        return this.#path(this.#pipeline(operand.pipeline, dot), operand.path);
      case 'function':
        return call(operand.name, []);
    }
  }

  #variable(name: string): unknown {
    if (name === '$') return this.#root;
    const found = this.#variables.findLast((variable) => variable.name === name);
    if (!found) throw new Error(`undefined variable "${name}"`);
    return found.value;
  }

  #path(value: unknown, path: readonly string[]): unknown {
    let at = value;
    for (const name of path) {
      if (at === undefined || at === null) return undefined;
      if (typeof at !== 'object' || Array.isArray(at)) throw new Error(`can't evaluate field ${name} in type interface {}`);
      if (!Object.hasOwn(at, name) && !this.#allowMissing) throw new Error(`map has no entry for key "${name}"`);
      at = Object.hasOwn(at, name) ? (at as Record<string, unknown>)[name] : undefined;
    }
    return at;
  }
}

function entries(value: unknown): [unknown, unknown][] {
  if (Array.isArray(value)) return value.map((item, i) => [i, item]);
  if (typeof value === 'number') return Array.from({ length: Math.max(0, value) }, (_, i) => [i, i]);
  if (typeof value === 'object' && value !== null) return Object.entries(sortKeys(value) as Record<string, unknown>);
  if (value === undefined || value === null) return [];
  throw new Error(`range can't iterate over ${formatGo(value)}`);
}

function call(name: string, args: readonly unknown[]): unknown {
  const body = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined;
  if (!body) throw new Error(`function "${name}" not defined`);
  return body(...args);
}

const index = (value: unknown, ...keys: readonly unknown[]): unknown =>
  keys.reduce<unknown>((at, key) => {
    if (at === undefined || at === null) throw new Error('error calling index: index of untyped nil');
    if (Array.isArray(at)) {
      if (typeof key !== 'number' || key < 0 || key >= at.length)
        throw new Error(`error calling index: index out of range: ${String(key)}`);
      return at[key];
    }
    return Object.hasOwn(at as object, String(key)) ? (at as Record<string, unknown>)[String(key)] : undefined;
  }, value);

const order = (a: unknown, b: unknown): number => ((a as number) < (b as number) ? -1 : (a as number) > (b as number) ? 1 : 0);

const FUNCTIONS: Readonly<Record<string, (...args: readonly unknown[]) => unknown>> = {
  index,
  len: (value) =>
    typeof value === 'string'
      ? Buffer.byteLength(value)
      : Array.isArray(value)
        ? value.length
        : Object.keys((value ?? {}) as object).length,
  not: (value) => !truth(value),
  eq: (first, ...others) => others.some((other) => other === first),
  ne: (a, b) => a !== b,
  lt: (a, b) => order(a, b) < 0,
  le: (a, b) => order(a, b) <= 0,
  gt: (a, b) => order(a, b) > 0,
  ge: (a, b) => order(a, b) >= 0,
  print: (...args) =>
    args
      .map((arg, i) => (i > 0 && typeof arg !== 'string' && typeof args[i - 1] !== 'string' ? ` ${formatGo(arg)}` : formatGo(arg)))
      .join(''),
  println: (...args) => `${args.map(formatGo).join(' ')}\n`,
  printf: (format, ...args) => sprintf(String(format), args),
  slice: (value, from, to) => (value as string).slice(Number(from ?? 0), to === undefined ? undefined : Number(to)),
  html: (value) => formatGo(value).replace(/[&<>"']/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&#34;', "'": '&#39;' })[c]!),
  urlquery: (value) => encodeURIComponent(formatGo(value)).replaceAll('%20', '+'),
  base64decode: (value) => Buffer.from(String(value), 'base64').toString('utf8'),
  exists: (value, ...keys) => {
    let at = value;
    for (const key of keys) {
      if (typeof at !== 'object' || at === null || !Object.hasOwn(at, String(key))) return false;
      at = (at as Record<string, unknown>)[String(key)];
    }
    return true;
  },
};

/** The verbs of Go's fmt that templates use: %s %v %d %q %t %f %%, with width, precision and left alignment. */
export function sprintf(format: string, args: readonly unknown[]): string {
  let next = 0;
  const text = format.replace(
    /%([-0+ #]*)(\d*)(?:\.(\d+))?([a-zA-Z%])/g,
    (_, flags: string, size: string, precision: string | undefined, verb: string) => {
      if (verb === '%') return '%';
      if (next >= args.length) return `%!${verb}(MISSING)`;
      const body = verbText(verb, args[next++], precision);
      const zero = flags.includes('0') && !flags.includes('-') && verb !== 's' && verb !== 'v';
      return flags.includes('-') ? body.padEnd(Number(size)) : body.padStart(Number(size), zero ? '0' : ' ');
    },
  );
  if (next >= args.length) return text;
  return `${text}%!(EXTRA ${args
    .slice(next)
    .map((arg) => `${typeof arg === 'number' ? 'float64' : typeof arg}=${formatGo(arg)}`)
    .join(', ')})`;
}

function verbText(verb: string, value: unknown, precision: string | undefined): string {
  if (verb === 'q') return JSON.stringify(String(value));
  if (verb === 'f') return Number(value).toFixed(precision === undefined ? 6 : Number(precision));
  if (verb === 'x') return typeof value === 'number' ? value.toString(16) : Buffer.from(String(value)).toString('hex');
  const text = formatGo(value);
  return precision === undefined || verb === 'd' ? text : [...text].slice(0, Number(precision)).join('');
}
