/** `get -w`: prints what is there, then one row or document per change until the server or Ctrl-C ends it. */
import type { AnyObject } from '../../machinery/api/object.ts';
import { type Status, StatusError } from '../../machinery/api/status.ts';
import { resourcePath } from '../api.ts';
import { CliError } from '../errors.ts';
import { type ServerTable, TablePrinter } from '../printers/table.ts';
import type { Session } from '../session.ts';
import type { DocumentPrinter } from './get.ts';
import { ACCEPT_TABLE, fetchTable, listQuery, type TableTarget, tableOptions, tableTargets } from './get-table.ts';

export async function watchObjects(session: Session, args: readonly string[], print: DocumentPrinter | undefined): Promise<void> {
  const targets = await tableTargets(session, args);
  const [target] = targets;
  if (targets.length !== 1 || !target) {
    const oneType = new Set(targets.map((t) => t.resource)).size === 1;
    throw new CliError(
      oneType
        ? 'watch is only supported on individual resources and resource collections - more than 1 resource was found'
        : 'you may only specify a single resource type',
    );
  }
  const query = watchQuery(session, target);
  const start = print ? await firstDocuments(session, target, print) : await firstTable(session, target);
  const path = resourcePath(target.resource, { namespace: target.namespace });
  try {
    for await (const event of session.api.watch({
      path,
      query: { ...query, resourceVersion: start.resourceVersion },
      accept: print ? undefined : ACCEPT_TABLE,
      signal: session.signal,
    })) {
      if (event.type === 'ERROR') throw new StatusError({ status: 'Failure', ...(event.object as unknown as Status) });
      if (event.type !== 'BOOKMARK') session.out(start.show(event));
    }
  } catch (error) {
    if (!session.signal.aborted) throw error;
  }
}

function watchQuery(session: Session, target: TableTarget): Record<string, string> {
  const query = listQuery(session.flags);
  if (target.name !== undefined) query.fieldSelector = `metadata.name=${target.name}`;
  return query;
}

interface Start {
  readonly resourceVersion: string | undefined;
  readonly show: (event: { type: string; object: AnyObject }) => string;
}

async function firstTable(session: Session, target: TableTarget): Promise<Start> {
  const { flags } = session;
  const printer = new TablePrinter(tableOptions(flags, target.resource, false));
  const table = await fetchTable(session, target);
  // Rows are printed one by one, as kubectl's watch does; the columns are learnt in any case.
  const head = printer.print(flags.bool('watch-only') ? { ...table, rows: [] } : table, 'ADDED');
  session.out(head);
  const version = table.metadata?.resourceVersion ?? table.rows?.[0]?.object?.metadata?.resourceVersion;
  return { resourceVersion: version, show: (event) => printer.print(event.object as unknown as ServerTable, event.type) };
}

async function firstDocuments(session: Session, target: TableTarget, print: DocumentPrinter): Promise<Start> {
  const { flags } = session;
  const shown = (event: { type: string; object: AnyObject }): string =>
    print.object(flags.bool('output-watch-events') ? ({ type: event.type, object: event.object } as unknown as AnyObject) : event.object);
  if (target.name !== undefined) {
    const object = await session.api.get(target.resource, target);
    if (!flags.bool('watch-only')) session.out(shown({ type: 'ADDED', object }));
    return { resourceVersion: object.metadata.resourceVersion, show: shown };
  }
  const list = await session.api.list(target.resource, target.namespace, listQuery(flags));
  const kind = list.kind.replace(/List$/, '');
  for (const item of flags.bool('watch-only') ? [] : list.items) {
    session.out(shown({ type: 'ADDED', object: { ...item, apiVersion: list.apiVersion, kind } }));
  }
  return { resourceVersion: list.metadata.resourceVersion as string, show: shown };
}
