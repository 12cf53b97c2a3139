/**
 * Reads manifests: files, directories, standard input; YAML or JSON, several documents, Lists unfolded. Mirrors cli-runtime `resource` visitors:
 * in a directory only .json, .yaml and .yml count, in name order; sub-directories only with --recursive.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { AnyObject } from '../../machinery/api/object.ts';
import { parseYamlDocuments } from '../../machinery/api/yaml.ts';
import { CliError } from '../errors.ts';

export interface Manifest {
  readonly object: AnyObject;
  /** The file, or `STDIN`. */
  readonly source: string;
}

const EXTENSIONS = ['.json', '.yaml', '.yml'];

/** `paths` as given with -f; `-` is standard input. Throws in kubectl's wording. */
export async function readManifests(paths: readonly string[], recursive: boolean, stdin: () => Promise<string>): Promise<Manifest[]> {
  const out: Manifest[] = [];
  for (const path of paths) {
    if (path === '-') out.push(...parseManifests(await stdin(), 'STDIN'));
    else if (/^https?:\/\//.test(path)) throw new CliError(`the path "${path}" is a URL; fetch it first and give the file`);
    else for (const file of filesOf(path, recursive)) out.push(...parseManifests(readFileSync(file, 'utf8'), file));
  }
  return out;
}

function filesOf(path: string, recursive: boolean): string[] {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) throw new CliError(`the path "${path}" does not exist`);
  if (!stat.isDirectory()) return [path];
  const files = walk(path, recursive);
  if (files.length === 0) throw new CliError(`error reading [${path}]: recognized file extensions are [${EXTENSIONS.join(' ')}]`);
  return files;
}

function walk(folder: string, recursive: boolean): string[] {
  const entries = readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    if (statSync(path).isDirectory()) return recursive ? walk(path, true) : [];
    return EXTENSIONS.some((ext) => entry.name.endsWith(ext)) ? [path] : [];
  });
}

/** Objects of one text. Empty documents are skipped; anything without apiVersion and kind is refused. */
export function parseManifests(text: string, source: string): Manifest[] {
  let documents: unknown[];
  try {
    documents = parseYamlDocuments(text);
  } catch (error) {
    throw new CliError(`error parsing ${source}: ${(error as Error).message}`, { cause: error });
  }
  return documents.filter((doc) => doc !== null && doc !== undefined).flatMap((doc) => unfold(doc, source));
}

function unfold(document: unknown, source: string): Manifest[] {
  const unreadable = (why: string): CliError => new CliError(`unable to decode "${source}": ${why}`);
  if (typeof document !== 'object' || document === null || Array.isArray(document)) {
    const shown = Array.isArray(document) ? 'array' : typeof document;
    throw unreadable(
      `json: cannot unmarshal ${shown} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`,
    );
  }
  const object = document as AnyObject & { items?: unknown };
  if (typeof object.kind !== 'string' || object.kind === '') throw unreadable(`Object 'Kind' is missing in '${JSON.stringify(document)}'`);
  if (typeof object.apiVersion !== 'string' || object.apiVersion === '') throw validationError(source, 'apiVersion not set');
  if (object.kind.endsWith('List') && Array.isArray(object.items)) return object.items.flatMap((item) => unfold(item, source));
  object.metadata ??= {};
  return [{ object, source }];
}

export function validationError(source: string, why: string): CliError {
  const turnOff = 'if you choose to ignore these errors, turn validation off with --validate=false';
  return new CliError(`error validating "${source}": error validating data: ${why}; ${turnOff}`);
}
