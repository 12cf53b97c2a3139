/** `get`: shows objects as tables, documents or templates, once or as they change. Mirrors kubectl `cmd/get/get.go`. */
import { readFileSync } from 'node:fs';
import type { AnyObject } from '../../machinery/api/object.ts';
import { isReason } from '../../machinery/api/status.ts';
import { CliError, PlainError, throwAll } from '../errors.ts';
import { parseColumnsFile, parseColumnsSpec } from '../printers/custom-columns.ts';
import { type ObjectPrinter, objectPrinter, splitFormat } from '../printers/output.ts';
import { sortObjects } from '../printers/sort.ts';
import { fetchObjects } from '../resources/fetch.ts';
import type { Session } from '../session.ts';
import type { Verb } from '../verb.ts';
import { ALL_NAMESPACES_FLAG, FIELD_SELECTOR_FLAGS, FILE_FLAGS, OUTPUT_FLAGS, SELECTOR_FLAGS } from '../verb-flags.ts';

export const verb: Verb = {
  usage: '(TYPE[.VERSION][.GROUP] [NAME | -l label] | TYPE[.VERSION][.GROUP]/NAME ...) [flags]',
  flags: {
    ...OUTPUT_FLAGS,
    ...FILE_FLAGS,
    ...SELECTOR_FLAGS,
    ...FIELD_SELECTOR_FLAGS,
    ...ALL_NAMESPACES_FLAG,
    watch: { type: 'boolean', short: 'w', help: 'After listing/getting the requested object, watch for changes' },
    'watch-only': { type: 'boolean', help: 'Watch for changes to the requested object(s), without listing/getting first' },
    'output-watch-events': { type: 'boolean', help: 'Output watch event objects when --watch or --watch-only is used' },
    'sort-by': {
      type: 'string',
      help: "If non-empty, sort list types using this field specification, a JSONPath expression (e.g. '{.metadata.name}')",
    },
    'show-labels': { type: 'boolean', help: 'When printing, show all labels as the last column' },
    'show-kind': { type: 'boolean', help: 'If present, list the resource type for the requested object(s)' },
    'label-columns': { type: 'list', short: 'L', help: 'Labels that are going to be presented as columns' },
    'no-headers': { type: 'boolean', help: "When using the default or custom-column output format, don't print headers" },
    'ignore-not-found': { type: 'boolean', help: 'If the requested object does not exist the command will return exit code 0' },
    'chunk-size': { type: 'integer', default: 500, help: 'Return large lists in chunks rather than all at once' },
    'server-print': { type: 'boolean', default: true, help: 'If true, have the server return the appropriate table output' },
    subresource: { type: 'string', help: 'If specified, gets the subresource of the requested object' },
    raw: { type: 'string', help: 'Raw URI to request from the server' },
  },
  run: get,
};

async function get(session: Session, args: readonly string[]): Promise<void> {
  const { flags } = session;
  if (flags.changed('raw')) {
    if (args.length > 0) throw new CliError('arguments may not be passed when --raw is specified');
    session.out(await session.api.text({ path: flags.string('raw') }));
    return;
  }
  if (args.length === 0 && flags.list('filename').length === 0) {
    throw new PlainError(
      `You must specify the type of resource to get. Use "${session.verb.split(' ')[0]} api-resources" for a complete list of supported resources.\n\nerror: Required resource not specified.\nUse "${session.verb.split(' ')[0]} explain <resource>" for a detailed description of that resource (e.g. ${session.verb.split(' ')[0]} explain pods).\nSee '${session.verb} -h' for help and examples`,
    );
  }
  const print = await documentPrinter(session);
  const watching = flags.bool('watch') || flags.bool('watch-only');
  if (watching) return (await import('./get-watch.ts')).watchObjects(session, args, print);
  if (print) return getDocuments(session, args, print);
  return (await import('./get-table.ts')).getTables(session, args);
}

/** What prints whole objects; undefined means tables. */
export type DocumentPrinter = { readonly object: ObjectPrinter; readonly list?: (objects: readonly AnyObject[]) => string };

async function documentPrinter(session: Session): Promise<DocumentPrinter | undefined> {
  const { flags } = session;
  const [format, argument] = splitFormat(flags.string('output'), flags.string('template'));
  if (format === 'custom-columns' || format === 'custom-columns-file') {
    const headers = !flags.bool('no-headers');
    const columns =
      format === 'custom-columns' ? parseColumnsSpec(argument, headers) : parseColumnsFile(readFileSync(argument, 'utf8'), headers);
    return { object: (object) => columns.print([object]), list: (objects) => columns.print(objects) };
  }
  const printer = await objectPrinter(flags, { extra: ['custom-columns', 'custom-columns-file', 'wide'] });
  return printer && { object: printer, ...(format === 'name' && { list: (objects) => objects.map(printer).join('') }) };
}

async function getDocuments(session: Session, args: readonly string[], print: DocumentPrinter): Promise<void> {
  const { found, errors, single } = await fetchObjects(session, args, { subresource: session.flags.string('subresource') });
  const failures = session.flags.bool('ignore-not-found') ? errors.filter((error) => !isReason(error, 'NotFound')) : errors;
  const sortBy = session.flags.string('sort-by');
  const objects =
    sortBy === ''
      ? found.map((f) => f.object)
      : sortObjects(
          found.map((f) => f.object),
          sortBy,
        );
  const [only] = objects;
  if (print.list) session.out(errors.length > 0 && objects.length === 0 ? '' : print.list(objects));
  else if (single && only) session.out(print.object(only));
  else if (!single && (objects.length > 0 || errors.length === 0)) {
    session.out(
      print.object({ apiVersion: 'v1', items: objects, kind: 'List', metadata: { resourceVersion: '' } } as unknown as AnyObject),
    );
  }
  throwAll(failures);
}
