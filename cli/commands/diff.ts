/** `diff`: what `apply` would change, as a unified diff. Mirrors kubectl `cmd/diff`; exit code 1 means that there are differences. */
import { createTwoFilesPatch } from 'diff';
import type { AnyObject } from '../../machinery/api/object.ts';
import { isReason } from '../../machinery/api/status.ts';
import { formatYaml } from '../../machinery/api/yaml.ts';
import { usageError } from '../errors.ts';
import { sortKeys } from '../printers/json.ts';
import { withoutManagedFields } from '../printers/output.ts';
import { actOnEach, type Found, fetchObjects } from '../resources/fetch.ts';
import { withLastApplied } from '../resources/last-applied.ts';
import type { Session } from '../session.ts';
import type { Verb } from '../verb.ts';
import { FILE_FLAGS, managerFlag, SELECTOR_FLAGS } from '../verb-flags.ts';
import { threeWayPatch } from './apply.ts';

export const verb: Verb = {
  usage: '-f FILENAME',
  flags: {
    ...FILE_FLAGS,
    ...SELECTOR_FLAGS,
    ...managerFlag('kubectl-client-side-apply'),
    'server-side': { type: 'boolean', help: 'If true, apply runs in the server instead of the client' },
    'force-conflicts': { type: 'boolean', help: 'If true, server-side apply will force the changes against conflicts' },
    'show-managed-fields': { type: 'boolean', help: 'If true, include managed fields in the diff' },
  },
  run: diff,
};

async function diff(session: Session): Promise<number> {
  if (session.flags.list('filename').length === 0) throw usageError(session.verb, 'must specify one of -f and -k');
  const { found, errors } = await fetchObjects(session, [], { local: true });
  let differs = false;
  await actOnEach(found, errors, async (item) => {
    const text = await difference(session, item);
    differs ||= text !== '';
    session.out(text);
  });
  return differs ? 1 : 0;
}

async function difference(session: Session, item: Found): Promise<string> {
  const { resource, namespace, name, object } = item;
  const live = await session.api.get(resource, { namespace, name }).catch((error) => {
    if (isReason(error, 'NotFound')) return undefined;
    throw error;
  });
  const merged = await dryRun(session, item, live);
  const file = `${object.apiVersion.replaceAll('/', '.')}.${object.kind}.${namespace}.${name}`;
  const [from, to] = [shown(session, live), shown(session, merged)];
  return from === to ? '' : createTwoFilesPatch(`LIVE/${file}`, `MERGED/${file}`, from, to).replace(/^=+\n/, '');
}

function dryRun(session: Session, { resource, namespace, name, object }: Found, live: AnyObject | undefined): Promise<AnyObject> {
  const write = { dryRun: 'server', fieldManager: session.flags.string('field-manager') } as const;
  if (session.flags.bool('server-side')) {
    return session.api.patch(resource, { namespace, name }, 'application/apply-patch+yaml', object, {
      ...write,
      force: session.flags.bool('force-conflicts'),
    });
  }
  if (!live) return session.api.create(resource, { namespace }, withLastApplied(object), write);
  const { patch, type } = threeWayPatch(object, live);
  return session.api.patch(resource, { namespace, name }, type, patch, write);
}

function shown(session: Session, object: AnyObject | undefined): string {
  if (!object) return '';
  return formatYaml(sortKeys(session.flags.bool('show-managed-fields') ? object : withoutManagedFields(object)));
}
