/** Marks nodes unschedulable or schedulable; shared by `cordon`, `uncordon` and `drain`. Mirrors kubectl `pkg/drain/cordon.go`. */
import type { Node } from '../../machinery/api/types/core.v1.ts';
import { CliError, usageError } from '../errors.ts';
import type { FlagTable } from '../flags.ts';
import { type Fetched, type Found, fetchObjects } from '../resources/fetch.ts';
import type { Session } from '../session.ts';
import { DRY_RUN_FLAG, dryRunOf, SELECTOR_FLAGS } from '../verb-flags.ts';

export const CORDON_FLAGS: FlagTable = { ...SELECTOR_FLAGS, ...DRY_RUN_FLAG };

/** The nodes named by the words or the selector. Throws in kubectl's wording. */
export async function fetchNodes(session: Session, args: readonly string[]): Promise<Fetched> {
  const selector = session.flags.string('selector');
  if (args.length === 0 && selector === '') throw usageError(session.verb, `USAGE: ${session.verb.split(' ')[1]} NODE [flags]`);
  if (args.length > 0 && selector !== '') throw new CliError('error: cannot specify both a node name and a --selector option');
  return fetchObjects(session, args, { type: 'nodes' });
}

export async function setSchedulable(session: Session, item: Found, cordon: boolean): Promise<void> {
  const { object, resource, name } = item;
  if (object.kind !== 'Node')
    throw new CliError(`error: unable to ${cordon ? 'cordon' : 'uncordon'} node "${name}": expected Node, got ${object.kind}`);
  const dryRun = dryRunOf(session.flags);
  const suffix = { none: '', client: ' (dry run)', server: ' (server dry run)' }[dryRun];
  const already = ((object as unknown as Node).spec?.unschedulable ?? false) === cordon;
  const done = cordon ? 'cordoned' : 'uncordoned';
  if (!already && dryRun !== 'client') {
    await session.api.patch(
      resource,
      { name },
      'application/strategic-merge-patch+json',
      { spec: { unschedulable: cordon ? true : null } },
      { dryRun },
    );
  }
  session.line(`node/${name} ${already ? 'already ' : ''}${done}${suffix}`);
}
