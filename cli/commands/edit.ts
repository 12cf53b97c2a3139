/** `edit`: opens objects in the editor and sends what changed. Mirrors kubectl `cmd/edit`: comments on top, an unchanged or empty file cancels, refusals reopen it. */

import { type AnyObject, parseApiVersion } from '../../machinery/api/object.ts';
import { createThreeWayPatch } from '../../machinery/api/patch/strategic.ts';
import { kindSchema } from '../../machinery/api/schema/schema.ts';
import { formatYaml, parseYaml } from '../../machinery/api/yaml.ts';
import { CliError, errorMessage } from '../errors.ts';
import { formatSortedJson, sortKeys } from '../printers/json.ts';
import { resultPrinter, withoutManagedFields } from '../printers/output.ts';
import { mergePatchBetween } from '../resources/differences.ts';
import { editText } from '../resources/editor.ts';
import { actOnEach, type Found, fetchObjects } from '../resources/fetch.ts';
import type { Session } from '../session.ts';
import type { Verb } from '../verb.ts';
import { FILE_FLAGS, managerFlag, OUTPUT_FLAGS, VALIDATE_FLAG, validationOf } from '../verb-flags.ts';

export const verb: Verb = {
  usage: '(RESOURCE/NAME | -f FILENAME)',
  flags: {
    ...FILE_FLAGS,
    ...OUTPUT_FLAGS,
    ...VALIDATE_FLAG,
    ...managerFlag('kubectl-edit'),
    subresource: { type: 'string', help: 'If specified, edit will operate on the subresource of the requested object' },
    'save-config': { type: 'boolean', help: 'If true, the configuration of current object will be saved in its annotation', hidden: true },
    'output-patch': { type: 'boolean', help: 'Output the patch if the resource is edited' },
  },
  run: edit,
};

const HEADER = `# Please edit the object below. Lines beginning with a '#' will be ignored,
# and an empty file will abort the edit. If an error occurs while saving this file will be
# reopened with the relevant failures.
#
`;

async function edit(session: Session, args: readonly string[]): Promise<void> {
  if (args.length === 0 && session.flags.list('filename').length === 0)
    throw new CliError(`must specify one of -f and -k\nSee '${session.verb} -h' for help and examples`);
  const { found, errors } = await fetchObjects(session, args);
  if (found.length === 0 && errors.length === 0) {
    session.err('edit cancelled, no objects found');
    return;
  }
  await actOnEach(found, errors, (item) => editOne(session, item));
}

async function editOne(session: Session, item: Found): Promise<void> {
  const asJson = session.flags.string('output') === 'json';
  const shown = session.flags.bool('show-managed-fields') ? item.object : withoutManagedFields(item.object);
  const original = asJson ? formatSortedJson(shown) : formatYaml(sortKeys(shown));
  let body = original;
  let refusal = '';
  for (;;) {
    const before = HEADER + refusal + body;
    const after = editText(before, session.deps.surroundings.editor, asJson ? '.json' : '.yaml');
    const text = after
      .split('\n')
      .filter((line) => !line.startsWith('#'))
      .join('\n');
    if (text.trim() === '') return session.err('Edit cancelled, saved file was empty.');
    if (text === original) return session.err('Edit cancelled, no changes made.');
    if (after === before) throw new CliError(`Edit cancelled, no valid changes were saved.`);
    try {
      return await save(session, item, { shown, edited: parseYaml(text) as AnyObject });
    } catch (error) {
      body = text;
      refusal = refusalComment(item, error);
    }
  }
}

function refusalComment({ resource, name }: Found, error: unknown): string {
  const reason = `# ${resource.resource}${resource.group === '' ? '' : `.${resource.group}`} "${name}" was not valid:\n`;
  return `${reason}${errorMessage(error)
    .split('\n')
    .map((line) => `# * ${line}\n`)
    .join('')}#\n`;
}

async function save(session: Session, item: Found, { shown, edited }: { shown: AnyObject; edited: AnyObject }): Promise<void> {
  const { flags } = session;
  const { resource, namespace, name } = item;
  if (edited.metadata?.name !== name || edited.kind !== item.object.kind)
    throw new CliError('At least one of apiVersion, kind and name was changed');
  const schema = kindSchema({ ...parseApiVersion(edited.apiVersion), kind: edited.kind });
  const patch = schema ? (createThreeWayPatch(schema, shown, edited, shown) as Record<string, unknown>) : mergePatchBetween(shown, edited);
  if (Object.keys(patch).length === 0) return session.err('Edit cancelled, no changes made.');
  if (flags.bool('output-patch')) session.line(`Patch: ${JSON.stringify(patch)}`);
  const where = { namespace, name, subresource: flags.string('subresource') };
  const write = { fieldManager: flags.string('field-manager'), fieldValidation: validationOf(flags) };
  const result = await session.api.patch(
    resource,
    where,
    schema ? 'application/strategic-merge-patch+json' : 'application/merge-patch+json',
    patch,
    write,
  );
  session.out((await resultPrinter(flags))(result, 'edited'));
}
