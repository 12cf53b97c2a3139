/** `replace`: puts whole objects; with --force deletes and creates again. Mirrors kubectl `cmd/replace`. */
import { LAST_APPLIED } from '../../machinery/api/well-known-labels.ts';
import { CliError, throwAll, usageError, withSource } from '../errors.ts';
import { resultPrinter } from '../printers/output.ts';
import { deleteAndWait } from '../resources/deletion.ts';
import { fetchObjects } from '../resources/fetch.ts';
import { withLastApplied } from '../resources/last-applied.ts';
import type { Session } from '../session.ts';
import type { Verb } from '../verb.ts';
import { DRY_RUN_FLAG, dryRunOf, FILE_FLAGS, managerFlag, OUTPUT_FLAGS, VALIDATE_FLAG, validationOf } from '../verb-flags.ts';

export const verb: Verb = {
  usage: '-f FILENAME',
  flags: {
    ...FILE_FLAGS,
    ...OUTPUT_FLAGS,
    ...DRY_RUN_FLAG,
    ...VALIDATE_FLAG,
    ...managerFlag('kubectl-replace'),
    force: { type: 'boolean', help: 'If true, delete the object and create it again' },
    'grace-period': { type: 'integer', default: -1, help: 'Period of time in seconds given to the resource to terminate gracefully' },
    cascade: { type: 'string', default: 'background', bare: 'background', help: 'Must be "background", "orphan", or "foreground"' },
    timeout: { type: 'duration', default: '0s', help: 'The length of time to wait before giving up on a delete' },
    'save-config': { type: 'boolean', help: 'If true, the configuration of current object will be saved in its annotation' },
    subresource: { type: 'string', help: 'If specified, replace will operate on the subresource of the requested object' },
    raw: { type: 'string', help: 'Raw URI to PUT to the server' },
  },
  run: replace,
};

async function replace(session: Session, args: readonly string[]): Promise<void> {
  const { flags } = session;
  if (args.length > 0 || flags.list('filename').length === 0) throw usageError(session.verb, 'must specify --filename to replace');
  const dryRun = dryRunOf(flags);
  const print = await resultPrinter(flags, dryRun);
  const { found, errors } = await fetchObjects(session, [], { local: true });
  const write = { dryRun, fieldManager: flags.string('field-manager'), fieldValidation: validationOf(flags) };
  for (const item of found) {
    const { resource, namespace, name, object, source } = item;
    const saved = flags.bool('save-config') || object.metadata.annotations?.[LAST_APPLIED] !== undefined;
    const body = saved ? withLastApplied(object) : object;
    try {
      if (dryRun === 'client') session.out(print(body, 'replaced'));
      else if (flags.bool('force')) {
        const grace = flags.integer('grace-period');
        await deleteAndWait(session, item, { propagationPolicy: 'Background', gracePeriodSeconds: Math.max(grace, 0) });
        session.line(`${resource.kind.toLowerCase()}${resource.group === '' ? '' : `.${resource.group}`} "${name}" deleted`);
        session.out(print(await session.api.create(resource, { namespace }, body, write), 'replaced'));
      } else
        session.out(
          print(
            await session.api.replace(resource, { namespace, name, subresource: flags.string('subresource') }, body, write),
            'replaced',
          ),
        );
    } catch (error) {
      errors.push(withSource(error, 'replacing', source));
    }
  }
  if (found.length === 0 && errors.length === 0) throw new CliError('no objects passed to replace');
  throwAll(errors);
}
