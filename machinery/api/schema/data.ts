/**
 * Reads the compact facts in `schema/data/*.json`, one file per group and version, at first use.
 * The form is written by `scripts/generate.ts`. The files are found from the package root, so that bundled code finds them as well.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { twinFile, twinOf } from './twins.ts';

/** `[name, type, flags, protobufNumber, extras?]`; flags: o omitempty, z omitzero, p pointer, r required, i inlined. */
export type FieldRow = readonly [string, string, string, number, Record<string, unknown>?];

export interface CompactType {
  readonly alias?: string;
  readonly enum?: readonly string[];
  readonly pbWrapper?: boolean;
  readonly openapi?: string;
  readonly hidden?: true;
  readonly gvk?: readonly string[];
  readonly json?: string;
  readonly inlineRequired?: readonly string[];
  readonly mapType?: 'granular' | 'atomic';
  readonly unions?: unknown;
  readonly fields?: readonly FieldRow[];
}

export interface GroupFile {
  readonly goPackage: string;
  readonly types: Readonly<Record<string, CompactType>>;
}

export const SCALAR_NAMES: ReadonlySet<string> = new Set(
  'string bool int32 int64 double bytes any time microTime duration quantity intOrString rawExtension fieldsV1 json'.split(' '),
);

function packageRoot(): string {
  let directory = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(directory, 'package.json'))) {
    const parent = dirname(directory);
    if (parent === directory) throw new Error(`no package.json above ${fileURLToPath(import.meta.url)}`);
    directory = parent;
  }
  return directory;
}

let dataDirectory: string | undefined;

export function readDataFile(name: string): unknown {
  dataDirectory ??= join(packageRoot(), 'machinery', 'api', 'schema', 'data');
  return JSON.parse(readFileSync(join(dataDirectory, name), 'utf8'));
}

const groups = new Map<string, GroupFile | undefined>();

/** `stem` is a file name without `.json`: `apps.v1`, `core.v1`, `meta.v1`. Names from outside that are no file give false. */
export function hasGroupFile(stem: string): boolean {
  if (groups.has(stem)) return groups.get(stem) !== undefined;
  if (!/^[a-z0-9][a-z0-9.-]*$/.test(stem) || stem === 'resources' || stem === 'scalars') return false;
  if (groups.size > MAX_REMEMBERED) return existsGroup(stem);
  groups.set(stem, existsGroup(stem) ? readGroup(stem) : undefined);
  return groups.get(stem) !== undefined;
}

/** Bounds what requests for groups that do not exist can make us remember. */
const MAX_REMEMBERED = 1000;

function readGroup(stem: string): GroupFile {
  const twin = twinOf(stem);
  return twin === undefined ? (readDataFile(`${stem}.json`) as GroupFile) : twinFile(stem, loadGroup(twin));
}

function existsGroup(stem: string): boolean {
  if (twinOf(stem) !== undefined) return true;
  dataDirectory ??= join(packageRoot(), 'machinery', 'api', 'schema', 'data');
  return existsSync(join(dataDirectory, `${stem}.json`));
}

export function loadGroup(stem: string): GroupFile {
  if (!hasGroupFile(stem)) throw new Error(`no schema data for ${stem}`);
  return groups.get(stem) ?? readGroup(stem);
}
