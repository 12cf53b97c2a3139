/** What `label` and `annotate` share: `key=value` sets, `key-` removes. Mirrors kubectl `cmd/label` and `cmd/annotate`. */
import type { AnyObject } from '../../machinery/api/object.ts';
import { setOwn } from '../../machinery/api/plain.ts';
import { CliError } from '../errors.ts';
import type { FlagTable } from '../flags.ts';
import { resultPrinter } from '../printers/output.ts';
import { actOnEach, type Found, fetchObjects } from '../resources/fetch.ts';
import type { Session } from '../session.ts';
import {
  ALL_NAMESPACES_FLAG,
  DRY_RUN_FLAG,
  dryRunOf,
  FIELD_SELECTOR_FLAGS,
  FILE_FLAGS,
  managerFlag,
  OUTPUT_FLAGS,
  SELECTOR_FLAGS,
} from '../verb-flags.ts';

export const metadataFlags = (manager: string): FlagTable => ({
  ...FILE_FLAGS,
  ...OUTPUT_FLAGS,
  ...SELECTOR_FLAGS,
  ...FIELD_SELECTOR_FLAGS,
  ...ALL_NAMESPACES_FLAG,
  ...DRY_RUN_FLAG,
  ...managerFlag(manager),
  all: { type: 'boolean', help: 'Select all resources, in the namespace of the specified resource types' },
  overwrite: { type: 'boolean', help: 'If true, allow values to be overwritten, otherwise reject updates that overwrite existing ones' },
  list: { type: 'boolean', help: 'If true, display the values for a given resource' },
  local: { type: 'boolean', help: 'If true, this will NOT contact api-server but run locally' },
  'resource-version': {
    type: 'string',
    help: 'If non-empty, the update will only succeed if this is the current resource-version for the object',
  },
});

export interface MetadataVerb {
  readonly member: 'labels' | 'annotations';
  /** `label`, `annotation`. */
  readonly noun: string;
  /** What was done, by what changed. */
  readonly done: (change: { set: boolean; removed: boolean; differs: boolean }) => string;
}

interface Changes {
  readonly set: Map<string, string>;
  readonly remove: string[];
}

const isChange = (word: string): boolean => word.includes('=') || (word.endsWith('-') && word.length > 1);

export async function setMetadata(session: Session, args: readonly string[], what: MetadataVerb): Promise<void> {
  const { flags } = session;
  const first = args.findIndex(isChange);
  const words = first < 0 ? args : args.slice(0, first);
  const changes = parseChanges(first < 0 ? [] : args.slice(first), what);
  const listing = flags.bool('list');
  if (words.length === 0 && flags.list('filename').length === 0)
    throw new CliError('one or more resources must be specified as <resource> <name> or <resource>/<name>');
  if (changes.set.size === 0 && changes.remove.length === 0 && !listing) throw new CliError(`at least one ${what.noun} update is required`);
  const dryRun = dryRunOf(flags);
  const print = await resultPrinter(flags, dryRun);
  const { found, errors } = await fetchObjects(session, words, { needsNames: true, local: flags.bool('local') });
  await actOnEach(found, errors, async (item) => {
    session.out(
      listing && changes.set.size + changes.remove.length === 0
        ? listValues(item, what, found.length > 1)
        : await change(session, item, { changes, what, print }),
    );
  });
}

function listValues({ object }: Found, { member, noun }: MetadataVerb, many: boolean): string {
  const lines = Object.entries(object.metadata[member] ?? {})
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${many ? ' ' : ''}${key}=${value}\n`);
  return `${many ? `Listing ${noun}s for ${object.kind}.${object.apiVersion}/${object.metadata.name}:\n` : ''}${lines.join('')}`;
}

function parseChanges(words: readonly string[], { noun }: MetadataVerb): Changes {
  const set = new Map<string, string>();
  const remove: string[] = [];
  for (const word of words) {
    const equals = word.indexOf('=');
    if (equals > 0) set.set(word.slice(0, equals), word.slice(equals + 1));
    else if (equals < 0 && word.endsWith('-')) remove.push(word.slice(0, -1));
    else if (equals === 0) throw new CliError(`invalid ${noun} spec: ${word}`);
    else throw new CliError(`all resources must be specified before ${noun} changes: ${word}`);
  }
  const both = remove.find((key) => set.has(key));
  if (both !== undefined) throw new CliError(`can not both modify and remove a ${noun} in the same command`);
  return { set, remove };
}

interface ChangeCall {
  readonly changes: Changes;
  readonly what: MetadataVerb;
  readonly print: (object: AnyObject, done: string) => string;
}

async function change(session: Session, item: Found, { changes, what, print }: ChangeCall): Promise<string> {
  const { flags } = session;
  const { object, resource, namespace, name } = item;
  const old = object.metadata[what.member] ?? {};
  checkOverwrite(session, old, { changes, what });
  const missing = changes.remove.filter((key) => !Object.hasOwn(old, key));
  const notes = what.member === 'labels' ? missing.map((key) => `label "${key}" not found.\n`).join('') : '';
  const values = { ...old, ...Object.fromEntries(changes.set) };
  for (const key of changes.remove) delete values[key];
  const patch: Record<string, string | null> = {};
  for (const [key, value] of changes.set) if (!Object.hasOwn(old, key) || old[key] !== value) setOwn(patch, key, value);
  for (const key of changes.remove) if (Object.hasOwn(old, key)) setOwn(patch, key, null);
  const differs = Object.keys(patch).length > 0;
  const done = what.done({ set: changes.set.size > 0, removed: changes.remove.length > 0, differs });
  const dryRun = dryRunOf(flags);
  const changed = { ...object, metadata: { ...object.metadata, [what.member]: values } };
  if (dryRun === 'client' || flags.bool('local') || !differs) return notes + print(changed, done);
  const version = flags.string('resource-version');
  const body = { metadata: { [what.member]: patch, ...(version !== '' && { resourceVersion: version }) } };
  const result = await session.api.patch(resource, { namespace, name }, 'application/merge-patch+json', body, {
    dryRun,
    fieldManager: flags.string('field-manager'),
  });
  return notes + print(result, done);
}

function checkOverwrite(
  session: Session,
  old: Readonly<Record<string, string>>,
  { changes, what }: Pick<ChangeCall, 'changes' | 'what'>,
): void {
  if (session.flags.bool('overwrite')) return;
  const taken = [...changes.set].filter(([key, value]) => Object.hasOwn(old, key) && (what.member === 'annotations' || old[key] !== value));
  if (taken.length === 0) return;
  if (what.member === 'labels')
    throw new CliError(taken.map(([key]) => `'${key}' already has a value (${old[key]}), and --overwrite is false`).join('\n'));
  throw new CliError(
    `--overwrite is false but found the following declared annotation(s): ${taken.map(([key]) => `'${key}' already has a value (${old[key]})`).join('; ')}`,
  );
}
