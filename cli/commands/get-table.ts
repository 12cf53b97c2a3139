/** The table form of `get`: asks the server for Tables, one per type, and prints them with kubectl's spacing and blank lines between types. */
import type { AnyObject } from '../../machinery/api/object.ts';
import { isReason } from '../../machinery/api/status.ts';
import { listError, resourcePath, withQuery } from '../api.ts';
import type { Resource } from '../discovery/mapper.ts';
import { shownResource } from '../discovery/mapper.ts';
import { CliError, throwAll } from '../errors.ts';
import type { Flags } from '../flags.ts';
import { sortObjects } from '../printers/sort.ts';
import { type ServerTable, type TableOptions, TablePrinter, type TableRow } from '../printers/table.ts';
import { parseResourceWords, type Wanted } from '../resources/arguments.ts';
import { manifestNamespace } from '../resources/fetch.ts';
import { readManifests } from '../resources/manifests.ts';
import type { Session } from '../session.ts';

export const ACCEPT_TABLE =
  'application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json';

export function tableOptions(flags: Flags, resource: Resource, withKind: boolean): TableOptions {
  return {
    wide: flags.string('output') === 'wide',
    noHeaders: flags.bool('no-headers'),
    withNamespace: flags.bool('all-namespaces') && resource.namespaced,
    withKind: withKind || flags.bool('show-kind') ? shownResource(resource) : undefined,
    showLabels: flags.bool('show-labels'),
    labelColumns: flags.list('label-columns'),
    withEvent: flags.bool('output-watch-events'),
  };
}

export interface TableTarget extends Wanted {
  readonly namespace: string;
}

/** What the words or manifests name, with the namespace of each. */
export async function tableTargets(session: Session, args: readonly string[]): Promise<TableTarget[]> {
  const { flags } = session;
  const mapper = await session.mapper();
  if (flags.list('filename').length > 0) {
    const manifests = await readManifests(flags.list('filename'), flags.bool('recursive'), () => session.stdin());
    return manifests.map(({ object, source }) => {
      const name = object.metadata.name ?? '';
      const resource = mapper.kind(object.apiVersion, object.kind, { name, namespace: object.metadata.namespace ?? '', path: source });
      return { resource, name, namespace: manifestNamespace(session, resource, object) };
    });
  }
  const everywhere = flags.bool('all-namespaces');
  const { wanted } = parseResourceWords(args, mapper);
  const named = wanted.some((w) => w.name !== undefined);
  if (named && (flags.string('selector') !== '' || flags.string('field-selector') !== ''))
    throw new CliError('name cannot be provided when a selector is specified');
  if (named && everywhere) throw new CliError('a resource cannot be retrieved by name across all namespaces');
  return wanted.map((w) => ({ ...w, namespace: w.resource.namespaced && !everywhere ? session.namespace().name : '' }));
}

export function listQuery(flags: Flags): Record<string, string> {
  return { labelSelector: flags.string('selector'), fieldSelector: flags.string('field-selector') };
}

/** One Table; pages of a list are joined. */
export async function fetchTable(session: Session, target: TableTarget): Promise<ServerTable> {
  const { flags } = session;
  const include = flags.string('sort-by') === '' ? undefined : 'Object';
  const subresource = flags.string('subresource');
  if (target.name !== undefined) {
    const path = resourcePath(target.resource, { namespace: target.namespace, name: target.name, subresource });
    return session.api.json<ServerTable>({ path, query: { includeObject: include }, accept: ACCEPT_TABLE });
  }
  const rows: TableRow[] = [];
  let first: ServerTable | undefined;
  let next: string | undefined;
  do {
    const limit = flags.integer('chunk-size') > 0 ? flags.integer('chunk-size') : undefined;
    const path = withQuery(resourcePath(target.resource, target), { ...listQuery(flags), limit, continue: next, includeObject: include });
    const page = await session.api.json<ServerTable>({ path, accept: ACCEPT_TABLE }).catch((error) => {
      throw listError(error, target.resource, listQuery(flags));
    });
    first ??= page;
    rows.push(...(page.rows ?? []));
    next = page.metadata?.continue;
  } while (next);
  return { ...first, kind: 'Table', rows };
}

export async function getTables(session: Session, args: readonly string[]): Promise<void> {
  const { flags } = session;
  const targets = await tableTargets(session, args);
  const errors: unknown[] = [];
  const tables: { target: TableTarget; table: ServerTable }[] = [];
  for (const target of targets) {
    try {
      tables.push({ target, table: await fetchTable(session, target) });
    } catch (error) {
      errors.push(error);
    }
  }
  const failures = flags.bool('ignore-not-found') ? errors.filter((error) => !isReason(error, 'NotFound')) : errors;
  const types = new Set(tables.map(({ target }) => shownResource(target.resource)));
  const text = printGroups(session, tables, types.size > 1);
  session.out(text);
  const namespaced = targets.every((target) => target.resource.namespaced) && !flags.bool('all-namespaces');
  if (text === '' && errors.length === 0)
    session.err(namespaced ? `No resources found in ${session.namespace().name} namespace.` : 'No resources found');
  throwAll(failures);
}

/** Neighbouring tables of one type share a header and widths; a blank line stands between types. */
function printGroups(session: Session, tables: readonly { target: TableTarget; table: ServerTable }[], withKind: boolean): string {
  const { flags } = session;
  const groups: { resource: Resource; tables: ServerTable[] }[] = [];
  for (const { target, table } of tables) {
    const last = groups[groups.length - 1];
    if (last?.resource === target.resource) last.tables.push(table);
    else groups.push({ resource: target.resource, tables: [table] });
  }
  const texts = groups.map(({ resource, tables: pieces }) => {
    const printer = new TablePrinter(tableOptions(flags, resource, withKind));
    const rows = pieces.flatMap((piece) => [...(piece.rows ?? [])]);
    return printer.print({ ...pieces[0], kind: 'Table', rows: sorted(rows, flags.string('sort-by')) });
  });
  return texts.filter((text) => text !== '').join(flags.bool('no-headers') ? '' : '\n');
}

function sorted(rows: TableRow[], field: string): TableRow[] {
  return field === '' ? rows : sortObjects(rows, field, (row) => row.object as AnyObject);
}
