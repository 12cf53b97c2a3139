/**
 * Command-line options as one table per component: flag, environment variable, type, default, help. Mirrors upstream's flag names and pflag's
 * reading of them (`--flag value`, `--flag=value`, `--bool`, `--bool=false`).
 *
 * A flag wins over its environment variable, which wins over the default; every problem is reported, not only the first.
 *
 * Worked example: `{ leaseDurationMs: { flag: 'leader-elect-lease-duration', type: 'duration', default: '15s', help: '…' } }` reads
 * `--leader-elect-lease-duration 1m30s`, else FLYBALL_LEADER_ELECT_LEASE_DURATION, else 15 s, and yields `{ leaseDurationMs: 90000 }`.
 */
import { formatValue, parseValue } from './option-values.ts';

interface SpecBase<Default> {
  /** Without dashes. Absent: the key in kebab-case, without a trailing `Ms`. */
  readonly flag?: string;
  /** One letter, without dash. */
  readonly short?: string;
  /** Absent: FLYBALL_ and the flag in upper snake case. */
  readonly env?: string;
  readonly help: string;
  readonly default?: Default;
  readonly required?: boolean;
}
export interface StringSpec extends SpecBase<string> {
  readonly type: 'string';
  readonly choices?: readonly string[];
}
export interface BooleanSpec extends SpecBase<boolean> {
  readonly type: 'boolean';
}
export interface NumberSpec extends SpecBase<number> {
  readonly type: 'integer' | 'number';
  readonly min?: number;
  readonly max?: number;
}
/** A Go duration; the value is in milliseconds. */
export interface DurationSpec extends SpecBase<string> {
  readonly type: 'duration';
}
/** Comma-separated; a repeated flag adds to it. */
export interface ListSpec extends SpecBase<readonly string[]> {
  readonly type: 'list';
}
/** `key=value` pairs, comma-separated; a repeated flag adds to it. */
export interface MapSpec extends SpecBase<Readonly<Record<string, string>>> {
  readonly type: 'map';
}
export type OptionSpec = StringSpec | BooleanSpec | NumberSpec | DurationSpec | ListSpec | MapSpec;
export type OptionsTable = Readonly<Record<string, OptionSpec>>;

type Raw<S extends OptionSpec> = S extends { type: 'string'; choices: readonly (infer C)[] }
  ? C
  : S extends { type: 'string' }
    ? string
    : S extends { type: 'boolean' }
      ? boolean
      : S extends { type: 'list' }
        ? readonly string[]
        : S extends { type: 'map' }
          ? Readonly<Record<string, string>>
          : number;
type ValueOf<S extends OptionSpec> = S extends { default: unknown } | { required: true } ? Raw<S> : Raw<S> | undefined;
/** The parsed form of a table: one member per row. */
export type OptionsOf<T extends OptionsTable> = { readonly [K in keyof T]: ValueOf<T[K]> };

export function defineOptions<const T extends OptionsTable>(table: T): T {
  return table;
}

/** All problems of a command line together, one per line. */
export class OptionsError extends Error {
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'OptionsError';
    this.problems = problems;
  }
}

export function flagName(key: string, spec: OptionSpec): string {
  return spec.flag ?? key.replace(/Ms$/, '').replace(/[A-Z]+/g, (letters) => `-${letters.toLowerCase()}`);
}

export function envName(key: string, spec: OptionSpec): string {
  return spec.env ?? `FLYBALL_${flagName(key, spec).toUpperCase().replaceAll('-', '_')}`;
}

/** Throws OptionsError. Positional arguments are a problem: components take flags only. */
export function parseOptions<T extends OptionsTable>(
  table: T,
  argv: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): OptionsOf<T> {
  const problems: string[] = [];
  const given = readFlags(table, argv, problems);
  const values: Record<string, unknown> = {};
  for (const [key, spec] of Object.entries(table)) {
    const fromEnv = env[envName(key, spec)];
    const texts = given.get(key) ?? (fromEnv === undefined ? undefined : [fromEnv]);
    const where = given.has(key) ? `--${flagName(key, spec)}` : envName(key, spec);
    const result = texts === undefined ? defaultOf(key, spec) : parseValue(spec, texts);
    if ('problem' in result) problems.push(texts === undefined ? result.problem : `${where}: ${result.problem}`);
    else values[key] = result.value;
  }
  if (problems.length > 0) throw new OptionsError(problems);
  return values as OptionsOf<T>;
}

/** The values of a table when nothing is given, with some replaced: for tests and for components started in one process. */
export function optionsWith<T extends OptionsTable>(table: T, values: Partial<OptionsOf<T>>): OptionsOf<T> {
  const result: Record<string, unknown> = {};
  for (const [key, spec] of Object.entries(table)) {
    if (Object.hasOwn(values, key) && values[key] !== undefined) result[key] = values[key];
    else {
      const byDefault = defaultOf(key, spec);
      if ('problem' in byDefault) throw new OptionsError([byDefault.problem]);
      result[key] = byDefault.value;
    }
  }
  return result as OptionsOf<T>;
}

type Result = { value: unknown } | { problem: string };

function defaultOf(key: string, spec: OptionSpec): Result {
  if (spec.default === undefined) return spec.required ? { problem: `--${flagName(key, spec)} is required` } : { value: undefined };
  return typeof spec.default === 'string' ? parseValue(spec, [spec.default]) : { value: spec.default };
}

function readFlags(table: OptionsTable, argv: readonly string[], problems: string[]): Map<string, string[]> {
  const byFlag = new Map<string, [string, OptionSpec]>();
  for (const [key, spec] of Object.entries(table)) {
    byFlag.set(`--${flagName(key, spec)}`, [key, spec]);
    if (spec.short) byFlag.set(`-${spec.short}`, [key, spec]);
  }
  const given = new Map<string, string[]>();
  for (let i = 0; i < argv.length; i++) {
    const argument = argv[i] ?? '';
    if (!argument.startsWith('-')) {
      problems.push(`unexpected argument "${argument}"`);
      continue;
    }
    const equals = argument.indexOf('=');
    const flag = equals < 0 ? argument : argument.slice(0, equals);
    const found = byFlag.get(flag);
    if (!found) {
      problems.push(`unknown flag: ${flag}`);
      if (equals < 0 && argv[i + 1] !== undefined && !argv[i + 1]!.startsWith('-')) i++;
      continue;
    }
    const [key, spec] = found;
    let text = equals < 0 ? undefined : argument.slice(equals + 1);
    if (text === undefined) {
      if (spec.type === 'boolean') text = 'true';
      else if (i + 1 < argv.length) text = argv[++i];
      else {
        problems.push(`flag needs an argument: ${flag}`);
        continue;
      }
    }
    const texts = given.get(key) ?? [];
    texts.push(text ?? '');
    given.set(key, texts);
  }
  return given;
}

/** Help text: one row per flag, sorted by name. */
export function formatUsage(name: string, table: OptionsTable): string {
  const rows = Object.entries(table).map(([key, spec]) => {
    const flag = `${spec.short ? `-${spec.short}, ` : '    '}--${flagName(key, spec)}`;
    const type = spec.type === 'boolean' ? '' : ` ${spec.type}`;
    const byDefault = spec.default === undefined || spec.default === '' ? '' : ` (default ${formatValue(spec.default)})`;
    return { flag: flag + type, text: `${spec.help}${byDefault} [$${envName(key, spec)}]` };
  });
  rows.sort((a, b) => (a.flag.trimStart() < b.flag.trimStart() ? -1 : 1));
  const width = Math.max(...rows.map((row) => row.flag.length));
  return `Usage: ${name} [flags]\n\nFlags:\n${rows.map((row) => `  ${row.flag.padEnd(width)}   ${row.text}`).join('\n')}\n`;
}
