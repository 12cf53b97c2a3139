/**
 * Reads `--from-literal`, `--from-file`, `--from-env-file` for config maps and secrets. Mirrors kubectl `util/{configmap,secret}`: key rules, name clashes,
 * directories taken file by file.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { CliError } from '../errors.ts';
import type { Flags, FlagTable } from '../flags.ts';

export const DATA_FLAGS: FlagTable = {
  'from-literal': { type: 'array', help: 'Specify a key and literal value to insert (i.e. mykey=somevalue)' },
  'from-file': { type: 'list', help: 'Key file or directory; optionally with a key (key=path)' },
  'from-env-file': { type: 'list', help: 'Specify the path to a file to read lines of key=val pairs' },
  'append-hash': { type: 'boolean', help: 'Append a hash of the object to its name' },
};

const KEY = /^[-._a-zA-Z0-9]+$/;

/** Raw values by key, in the order kubectl reads them. */
export function readData(flags: Flags): Map<string, Buffer> {
  if (flags.list('from-env-file').length > 0 && (flags.list('from-file').length > 0 || flags.list('from-literal').length > 0)) {
    throw new CliError('from-env-file cannot be combined with from-file or from-literal');
  }
  const data = new Map<string, Buffer>();
  for (const literal of flags.list('from-literal')) addLiteral(data, literal);
  for (const source of flags.list('from-file')) addFile(data, source);
  for (const path of flags.list('from-env-file')) addEnvFile(data, path);
  return data;
}

function add(data: Map<string, Buffer>, key: string, value: Buffer): void {
  if (!KEY.test(key) || key === '.' || key.startsWith('..')) {
    throw new CliError(
      `"${key}" is not a valid key name: a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')`,
    );
  }
  if (data.has(key)) throw new CliError(`cannot add key "${key}", another key by that name already exists`);
  data.set(key, value);
}

function addLiteral(data: Map<string, Buffer>, literal: string): void {
  const equals = literal.indexOf('=');
  if (equals === 0) throw new CliError(`invalid literal source ${literal}, expected key=value`);
  if (equals < 0) throw new CliError(`invalid literal source ${literal}, expected key=value`);
  let value = literal.slice(equals + 1);
  if (value.length > 1 && ((value.startsWith('"') && value.endsWith('"')) || (value.startsWith("'") && value.endsWith("'"))))
    value = value.slice(1, -1);
  add(data, literal.slice(0, equals), Buffer.from(value));
}

function addFile(data: Map<string, Buffer>, source: string): void {
  const parts = source.split('=');
  if (parts.length > 2) throw new CliError("key names or file paths cannot contain '='");
  const path = parts[parts.length - 1];
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) throw new CliError(`error reading ${path}: no such file or directory`);
  if (!stat.isDirectory()) {
    add(data, parts.length === 2 ? parts[0] : basename(path), readFileSync(path));
    return;
  }
  if (parts.length === 2) throw new CliError('cannot give a key name for a directory path');
  for (const name of readdirSync(path).sort()) {
    const file = join(path, name);
    if (statSync(file).isFile() && KEY.test(name)) add(data, name, readFileSync(file));
  }
}

function addEnvFile(data: Map<string, Buffer>, path: string): void {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) throw new CliError(`error reading ${path}: no such file or directory`);
  if (stat.isDirectory()) throw new CliError(`env config file cannot be a directory`);
  for (const line of readFileSync(path, 'utf8').split(/\r?\n/)) {
    const text = line.trimStart();
    if (text === '' || text.startsWith('#')) continue;
    const equals = text.indexOf('=');
    const key = equals < 0 ? text : text.slice(0, equals);
    add(data, key, Buffer.from(equals < 0 ? '' : text.slice(equals + 1)));
  }
}

export const sortedEntries = (data: ReadonlyMap<string, Buffer>): [string, Buffer][] => [...data].sort(([a], [b]) => (a < b ? -1 : 1));
