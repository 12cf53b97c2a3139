/**
 * Reads a command line as kubectl does (spf13/pflag): `--name=value`, `--name value`, `-n value`, `-nvalue`, `-Aw`, `--` and flags anywhere between words.
 * yargs cannot read `-ojson` or `-nkube-system`, so the words are read here; yargs draws the help and the completion from the same tables.
 */
import { CliError } from './errors.ts';

export interface FlagSpec {
  /** `list` splits at commas and repeats; `array` only repeats. */
  readonly type: 'string' | 'boolean' | 'list' | 'array' | 'integer' | 'duration';
  readonly short?: string;
  readonly default?: string | boolean | number;
  readonly help: string;
  /** The value meant by the bare flag, where a value is optional (`--dry-run`). */
  readonly bare?: string;
  readonly hidden?: boolean;
}
export type FlagTable = Readonly<Record<string, FlagSpec>>;

/** Flags that every verb takes. */
export const GLOBAL_FLAGS: FlagTable = {
  kubeconfig: { type: 'string', help: 'Path to the kubeconfig file; without it $KUBECONFIG, then the nearest .flyball/kubeconfig' },
  context: { type: 'string', help: 'The name of the kubeconfig context to use' },
  cluster: { type: 'string', help: 'The name of the kubeconfig cluster to use' },
  user: { type: 'string', help: 'The name of the kubeconfig user to use' },
  namespace: { type: 'string', short: 'n', help: 'If present, the namespace scope for this CLI request' },
  server: { type: 'string', short: 's', help: 'The address and port of the Kubernetes API server' },
  token: { type: 'string', help: 'Bearer token for authentication to the API server' },
  as: { type: 'string', help: 'Username to impersonate for the operation' },
  'as-group': { type: 'array', help: 'Group to impersonate for the operation, this flag can be repeated to specify multiple groups' },
  'as-uid': { type: 'string', help: 'UID to impersonate for the operation' },
  'insecure-skip-tls-verify': { type: 'boolean', help: "If true, the server's certificate will not be checked for validity" },
  'request-timeout': { type: 'string', default: '0', help: 'The length of time to wait before giving up on a single server request' },
  'warnings-as-errors': { type: 'boolean', help: 'Treat warnings received from the server as errors and exit with a non-zero exit code' },
  v: { type: 'string', short: 'v', help: 'Number for the log level verbosity', hidden: true },
  help: { type: 'boolean', short: 'h', help: 'Show what this verb does and which flags it takes' },
};

/** The values of one call. Asking for a flag that is in no table is a bug. */
export class Flags {
  readonly #table: FlagTable;
  readonly #values = new Map<string, string[]>();
  /** How many words stood before `--`; -1 without one. */
  dash = -1;
  constructor(table: FlagTable) {
    this.#table = table;
  }
  spec(name: string): FlagSpec | undefined {
    return Object.hasOwn(this.#table, name) ? this.#table[name] : undefined;
  }
  byShort(letter: string): string | undefined {
    return Object.keys(this.#table).find((name) => this.#table[name].short === letter);
  }
  add(name: string, value: string): void {
    const spec = this.spec(name)!;
    checkValue(spec, name, value);
    if (spec.type === 'array') this.#values.set(name, [...(this.#values.get(name) ?? []), value]);
    else if (spec.type === 'list') this.#values.set(name, [...(this.#values.get(name) ?? []), ...splitList(value)]);
    else this.#values.set(name, [value]);
  }
  /** True when the caller wrote the flag, whatever its value. */
  changed(name: string): boolean {
    return this.#values.has(name);
  }
  string(name: string): string {
    return this.#values.get(name)?.[0] ?? String(this.#default(name) ?? '');
  }
  bool(name: string): boolean {
    const given = this.#values.get(name)?.[0];
    return given === undefined ? this.#default(name) === true : isTrue(given);
  }
  integer(name: string): number {
    return Number(this.#values.get(name)?.[0] ?? this.#default(name) ?? 0);
  }
  list(name: string): string[] {
    return this.#values.get(name) ?? [];
  }
  /** Milliseconds; `0` and `0s` are none. A bare number is seconds where kubectl takes one. */
  durationMs(name: string): number {
    return parseDurationMs(this.string(name)) ?? 0;
  }
  has(name: string): boolean {
    return this.spec(name) !== undefined;
  }
  #default(name: string): string | boolean | number | undefined {
    const spec = this.spec(name);
    if (spec === undefined) throw new Error(`flag ${name} is in no table`);
    return spec.default;
  }
}

export interface ParsedLine {
  readonly words: string[];
  readonly flags: Flags;
}

/** Throws `CliError` in pflag's wording. `verb` is the full name, for the hint to its help. */
export function parseLine(argv: readonly string[], table: FlagTable, verb: string): ParsedLine {
  const flags = new Flags({ ...GLOBAL_FLAGS, ...table });
  const words: string[] = [];
  const rest = [...argv];
  const fail = (message: string): never => {
    throw new CliError(`${message}\nSee '${verb} --help' for usage.`);
  };
  while (rest.length > 0) {
    const word = rest.shift()!;
    if (word === '--') {
      flags.dash = words.length;
      words.push(...rest);
      break;
    }
    try {
      if (word.startsWith('--')) readLong(word, rest, flags);
      else if (word.startsWith('-') && word.length > 1) readShort(word, rest, flags);
      else words.push(word);
    } catch (error) {
      fail((error as Error).message);
    }
  }
  return { words, flags };
}

function readLong(word: string, rest: string[], flags: Flags): void {
  const equals = word.indexOf('=');
  const name = equals < 0 ? word.slice(2) : word.slice(2, equals);
  if (name === '' || name.startsWith('-')) throw new Error(`bad flag syntax: ${word}`);
  const spec = flags.spec(name);
  if (!spec) throw new Error(`unknown flag: --${name}`);
  if (equals >= 0) flags.add(name, word.slice(equals + 1));
  else if (spec.type === 'boolean') flags.add(name, 'true');
  else if (spec.bare !== undefined) flags.add(name, spec.bare);
  else if (rest.length > 0) flags.add(name, rest.shift()!);
  else throw new Error(`flag needs an argument: --${name}`);
}

function readShort(word: string, rest: string[], flags: Flags): void {
  for (let i = 1; i < word.length; i++) {
    const letter = word[i];
    const name = flags.byShort(letter);
    if (name === undefined) throw new Error(`unknown shorthand flag: '${letter}' in ${word}`);
    const spec = flags.spec(name)!;
    const after = word.slice(i + 1);
    if (after.startsWith('=')) {
      flags.add(name, after.slice(1));
      return;
    }
    if (spec.type === 'boolean') {
      flags.add(name, 'true');
      continue;
    }
    if (after !== '') {
      flags.add(name, after);
      return;
    }
    if (spec.bare !== undefined) {
      flags.add(name, spec.bare);
      return;
    }
    if (rest.length === 0) throw new Error(`flag needs an argument: '${letter}' in ${word}`);
    flags.add(name, rest.shift()!);
    return;
  }
}

/** Go's strconv.ParseBool. */
const TRUE = ['1', 't', 'T', 'true', 'TRUE', 'True'];
const FALSE = ['0', 'f', 'F', 'false', 'FALSE', 'False'];
const isTrue = (text: string): boolean => TRUE.includes(text);

function checkValue(spec: FlagSpec, name: string, value: string): void {
  const shown = spec.short ? `-${spec.short}, --${name}` : `--${name}`;
  const bad = (why: string): never => {
    throw new Error(`invalid argument "${value}" for "${shown}" flag: ${why}`);
  };
  if (spec.type === 'boolean' && !TRUE.includes(value) && !FALSE.includes(value))
    bad(`strconv.ParseBool: parsing "${value}": invalid syntax`);
  if (spec.type === 'integer' && !/^[-+]?\d+$/.test(value)) bad(`strconv.ParseInt: parsing "${value}": invalid syntax`);
  if (spec.type === 'duration' && parseDurationMs(value) === undefined) bad(`time: invalid duration "${value}"`);
}

const UNIT_MS: Record<string, number> = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

function parseDurationMs(text: string): number | undefined {
  if (/^[-+]?0$/.test(text)) return 0;
  const match = /^([-+]?)((?:\d+(?:\.\d*)?(?:ns|us|µs|ms|s|m|h))+)$/.exec(text);
  if (!match) return undefined;
  let total = 0;
  for (const part of match[2].matchAll(/(\d+(?:\.\d*)?)(ns|us|µs|ms|s|m|h)/g)) total += Number(part[1]) * UNIT_MS[part[2]];
  return match[1] === '-' ? -total : total;
}

/** pflag reads a string slice as one CSV record: quotes protect commas. */
function splitList(text: string): string[] {
  if (text === '') return [];
  if (!text.includes('"')) return text.split(',');
  const out: string[] = [];
  for (const match of text.matchAll(/(?:"((?:[^"]|"")*)"|([^,]*))(?:,|$)/g)) {
    if (match[0] === '' && out.length > 0) break;
    out.push(match[1] !== undefined ? match[1].replaceAll('""', '"') : match[2]);
  }
  return out;
}
