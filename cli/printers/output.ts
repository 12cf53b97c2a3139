/**
 * Chooses how objects are printed from `-o`, `--template` and friends. Mirrors cli-runtime `genericclioptions.PrintFlags`: the same formats, the same
 * refusals, `---` between YAML documents, managedFields left out unless asked for.
 */
import { readFileSync } from 'node:fs';
import type { AnyObject } from '../../machinery/api/object.ts';
import { shownResource } from '../discovery/mapper.ts';
import { CliError } from '../errors.ts';
import type { Flags } from '../flags.ts';
import type { DryRun } from '../verb-flags.ts';
import { formatJson, sortKeys } from './json.ts';
import { compileJsonPath } from './jsonpath.ts';

export type ObjectPrinter = (object: AnyObject) => string;

const FORMATS = [
  'go-template',
  'go-template-file',
  'json',
  'jsonpath',
  'jsonpath-as-json',
  'jsonpath-file',
  'name',
  'template',
  'templatefile',
  'yaml',
];

/**
 * The printer of `-o`, or undefined when `-o` is absent (or `wide`), where each verb has its own form.
 * `typed`: keep the order of members in JSON, for objects made here.
 */
export async function objectPrinter(
  flags: Flags,
  options: { typed?: boolean; extra?: readonly string[] } = {},
): Promise<ObjectPrinter | undefined> {
  const [format, argument] = splitFormat(flags.string('output'), flags.string('template'));
  const missing = flags.has('allow-missing-template-keys') ? flags.bool('allow-missing-template-keys') : true;
  const keep = flags.has('show-managed-fields') && flags.bool('show-managed-fields');
  const shaped = (object: AnyObject): AnyObject => (keep ? object : withoutManagedFields(object));
  switch (format) {
    case '':
    case 'wide':
      return undefined;
    case 'json':
      return (object) => formatJson(options.typed ? shaped(object) : sortKeys(shaped(object)));
    case 'yaml':
      return yamlPrinter(shaped);
    case 'name':
      return (object) => `${objectName(object)}\n`;
    case 'jsonpath':
    case 'jsonpath-as-json':
    case 'jsonpath-file':
      return pathPrinter(format, argument, missing);
    case 'go-template':
    case 'template':
    case 'go-template-file':
    case 'templatefile':
      return templatePrinter(format, argument, missing);
    default:
      throw unknownFormat(flags.string('output'), options.extra);
  }
}

export function unknownFormat(format: string, extra: readonly string[] = []): CliError {
  const allowed = [...FORMATS, ...extra].sort().join(',');
  return new CliError(`unable to match a printer suitable for the output format "${format}", allowed formats are: ${allowed}`);
}

/** `-o jsonpath={.a}` → ['jsonpath', '{.a}']; `-o go-template --template=T` → ['go-template', T]. */
export function splitFormat(output: string, template: string): [string, string] {
  const equals = output.indexOf('=');
  if (equals >= 0) return [output.slice(0, equals), output.slice(equals + 1)];
  if (output === '' && template !== '') return ['go-template', template];
  return [output, template];
}

async function yamlPrinter(shaped: (object: AnyObject) => AnyObject): Promise<ObjectPrinter> {
  const { formatYaml } = await import('../../machinery/api/yaml.ts');
  let count = 0;
  return (object) => `${count++ > 0 ? '---\n' : ''}${formatYaml(sortKeys(shaped(object)))}`;
}

function pathPrinter(format: string, argument: string, allowMissing: boolean): ObjectPrinter {
  if (argument === '') throw new CliError(`template format specified but no template given`);
  const template = format === 'jsonpath-file' ? readTemplate(argument) : argument;
  const path = compileJsonPath(template, { allowMissing, asJson: format === 'jsonpath-as-json' });
  return (object) => {
    try {
      return path.print(object) + (format === 'jsonpath-as-json' ? '\n' : '');
    } catch (error) {
      if (error instanceof CliError) throw error;
      throw new CliError(`error executing jsonpath "${template}": Error executing template: ${(error as Error).message}`);
    }
  };
}

async function templatePrinter(format: string, argument: string, allowMissing: boolean): Promise<ObjectPrinter> {
  if (argument === '') throw new CliError('template format specified but no template given');
  const { compileGoTemplate } = await import('./template.ts');
  const template = compileGoTemplate(format.endsWith('file') ? readTemplate(argument) : argument, { allowMissing });
  return (object) => template.print(object);
}

function readTemplate(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    throw new CliError(`error reading --template ${path}, open ${path}: no such file or directory`);
  }
}

/** `pod/web`, `deployment.apps/web`. */
export function objectName(object: AnyObject): string {
  const slash = object.apiVersion.indexOf('/');
  const group = slash < 0 ? '' : object.apiVersion.slice(0, slash);
  return `${shownResource({ group, kind: object.kind })}/${object.metadata?.name ?? ''}`;
}

export function withoutManagedFields(object: AnyObject): AnyObject {
  const items = (object as { items?: unknown }).items;
  const { managedFields: _managedFields, ...metadata } = object.metadata ?? {};
  const stripped = object.metadata?.managedFields === undefined ? object : { ...object, metadata };
  return Array.isArray(items)
    ? ({ ...stripped, items: items.map((item) => withoutManagedFields(item as AnyObject)) } as AnyObject)
    : stripped;
}

const SUFFIX: Record<DryRun, string> = { none: '', client: ' (dry run)', server: ' (server dry run)' };

/** Prints what a verb did: `deployment.apps/web created`, or the object as `-o` says. */
export async function resultPrinter(
  flags: Flags,
  dryRun: DryRun = 'none',
  options: { typed?: boolean } = {},
): Promise<(object: AnyObject, done: string) => string> {
  const printer = await objectPrinter(flags, options);
  if (printer) return (object) => printer(object);
  return (object, done) => `${objectName(object)} ${done}${SUFFIX[dryRun]}\n`;
}
