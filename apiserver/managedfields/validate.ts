/**
 * Checks an applied configuration against the type, with the texts of structured-merge-diff `typed/validate.go`. Values in those texts look
 * like Go prints them; clients show them as they are.
 */
import { quoteGo } from '../../machinery/api/field-error.ts';
import { isJsonNumber, NumberLiteral, numberText } from '../../machinery/api/json-number.ts';
import { isPlain, type Plain, sortedKeys } from '../../machinery/api/plain.ts';
import { elementText } from './field-set.ts';
import { itemElement, membersOf, type ScalarCheck, type Typed, TypedError, type TypedList } from './typed.ts';

/** All that is wrong, as upstream words it: `.spec.foo: field not declared in schema`. Empty when nothing is. */
export function validateTyped(type: Typed, value: unknown, allowDuplicates = false): string[] {
  const problems: string[] = [];
  new Validator(problems, allowDuplicates).node(type, value, '');
  return problems;
}

/** One problem, or several under a heading. */
export function problemText(problems: readonly string[]): string {
  return problems.length === 1 ? problems[0] : ['errors:', ...problems.map((problem) => `  ${problem}`)].join('\n');
}

class Validator {
  readonly #problems: string[];
  readonly #allowDuplicates: boolean;
  constructor(problems: string[], allowDuplicates: boolean) {
    this.#problems = problems;
    this.#allowDuplicates = allowDuplicates;
  }

  node(type: Typed, value: unknown, path: string): void {
    if (value === null || value === undefined) return;
    switch (type.kind) {
      case 'scalar': {
        const problem = scalarProblem(type.check, value);
        if (problem !== undefined) this.#report(path, problem);
        return;
      }
      case 'struct':
        if (isPlain(value)) this.#struct(membersOf(type.schema).byName, value, path);
        else this.#report(path, `expected map, got ${pointerText(value)}`);
        return;
      case 'map':
        if (isPlain(value)) for (const key of Object.keys(value)) this.node(type.of, value[key], `${path}.${key}`);
        else this.#report(path, `expected map, got ${pointerText(value)}`);
        return;
      case 'list':
        if (Array.isArray(value)) this.#list(type, value, path);
        else this.#report(path, `expected list, got ${pointerText(value)}`);
    }
  }

  #struct(members: ReturnType<typeof membersOf>['byName'], value: Plain, path: string): void {
    const unknown = Object.keys(value).find((key) => !members.has(key));
    if (unknown !== undefined) this.#report(`${path}.${unknown}`, 'field not declared in schema');
    else for (const key of Object.keys(value)) this.node(members.get(key)!.type, value[key], `${path}.${key}`);
  }

  #list(type: TypedList, items: readonly unknown[], path: string): void {
    const seen = new Set<string>();
    for (const [i, item] of items.entries()) {
      if (type.relation === 'atomic') {
        this.node(type.of, item, `${path}[${i}]`);
        continue;
      }
      let element: string;
      try {
        element = itemElement(type, item);
      } catch (error) {
        if (!(error instanceof TypedError)) throw error;
        this.#report(path, `element ${i}: ${error.message}`);
        return;
      }
      if (seen.has(element) && !this.#allowDuplicates) this.#report(path, `duplicate entries for key ${elementText(element)}`);
      seen.add(element);
      this.node(type.of, item, path + elementText(element));
    }
  }

  #report(path: string, problem: string): void {
    this.#problems.push(`${path}: ${problem}`);
  }
}

function scalarProblem(check: ScalarCheck, value: unknown): string | undefined {
  switch (check) {
    case 'numeric':
      return isJsonNumber(value) ? undefined : `expected numeric (int or float), got ${goType(value)}`;
    case 'string':
      return typeof value === 'string' ? undefined : `expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`;
    case 'boolean':
      return typeof value === 'boolean' ? undefined : `expected boolean, got ${pointerText(value)}`;
    case 'untyped':
      return typeof value === 'object' && !(value instanceof NumberLiteral) ? `expected any scalar, got ${pointerText(value)}` : undefined;
  }
}

function goType(value: unknown): string {
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'bool';
  return Array.isArray(value) ? '[]interface {}' : 'map[string]interface {}';
}

function pointerText(value: unknown): string {
  return `&{${goText(value)}}`;
}

/** Go's %#v. */
function goSyntax(value: unknown): string {
  if (value === null || value === undefined) return 'interface {}(nil)';
  if (typeof value === 'string') return quoteGo(value);
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`;
  if (!isPlain(value)) return goText(value);
  const members = sortedKeys(value).map((key) => `${quoteGo(key)}:${goSyntax(value[key])}`);
  return `map[string]interface {}{${members.join(', ')}}`;
}

/** Go's %v. */
function goText(value: unknown): string {
  if (value === null || value === undefined) return '<nil>';
  if (typeof value === 'string' || typeof value === 'boolean') return String(value);
  if (isJsonNumber(value)) return numberText(value);
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`;
  const object = value as Plain;
  return `map[${sortedKeys(object)
    .map((key) => `${key}:${goText(object[key])}`)
    .join(' ')}]`;
}
