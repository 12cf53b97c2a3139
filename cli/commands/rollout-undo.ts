/** `rollout undo`: puts the template of an earlier revision back. */

import type { AnyObject } from '../../machinery/api/object.ts';
import { DESIRED_REPLICAS, LAST_APPLIED, MAX_REPLICAS, REVISION, REVISION_HISTORY } from '../../machinery/api/well-known-labels.ts';
import { CliError } from '../errors.ts';
import { compactJson } from '../printers/json.ts';
import { resultPrinter } from '../printers/output.ts';
import { actOnEach, type Found, fetchObjects, requireAsked } from '../resources/fetch.ts';
import { checkKind, type Revision, revisionsOf, templateOf, type Workload } from '../rollout/kinds.ts';
import type { Session } from '../session.ts';
import type { Verb } from '../verb.ts';
import { DRY_RUN_FLAG, dryRunOf, FILE_FLAGS, OUTPUT_FLAGS, SELECTOR_FLAGS } from '../verb-flags.ts';

export const verb: Verb = {
  usage: '(TYPE NAME | TYPE/NAME) [flags]',
  flags: {
    ...FILE_FLAGS,
    ...OUTPUT_FLAGS,
    ...SELECTOR_FLAGS,
    ...DRY_RUN_FLAG,
    'to-revision': { type: 'integer', default: 0, help: 'The revision to rollback to. Default to 0 (last revision)' },
  },
  run: undo,
};

async function undo(session: Session, args: readonly string[]): Promise<void> {
  requireAsked(session, args);
  const print = await resultPrinter(session.flags);
  const { found, errors } = await fetchObjects(session, args);
  await actOnEach(found, errors, async (item) => {
    checkKind(item.object, 'rollbacker');
    session.out(print(item.object, await rollBack(session, item)));
  });
}

async function rollBack(session: Session, item: Found): Promise<string> {
  const { object, resource, name, namespace } = item;
  if (object.kind === 'Deployment' && (object.spec as { paused?: boolean }).paused) {
    throw new CliError(
      `deployments.apps "${name}": you cannot rollback a paused deployment; resume it first with '${session.verb.split(' ')[0]} rollout resume deployment/${name}' and try again`,
    );
  }
  const chosen = choose(await revisionsOf(session, item), session.flags.integer('to-revision'), item);
  const template = templateOf(chosen);
  const dryRun = dryRunOf(session.flags);
  const suffix = { none: '', client: ' (dry run)', server: ' (server dry run)' }[dryRun];
  if (dryRun === 'client') return `rolled back${suffix}`;
  if (compactJson(template) === compactJson((object as unknown as Workload).spec?.template))
    return `skipped rollback (current template already matches revision ${chosen.number})`;
  if (object.kind === 'Deployment') {
    const patch = [
      { op: 'replace', path: '/spec/template', value: template },
      { op: 'replace', path: '/metadata/annotations', value: annotationsAfter(object, chosen.object) },
    ];
    await session.api.patch(resource, { namespace, name }, 'application/json-patch+json', patch, { dryRun });
  } else {
    const data = (chosen.object as unknown as { data: unknown }).data;
    await session.api.patch(resource, { namespace, name }, 'application/strategic-merge-patch+json', data, { dryRun });
  }
  return `rolled back${suffix}`;
}

function choose(revisions: readonly Revision[], wanted: number, { object, name }: Found): Revision {
  if (wanted > 0) {
    const chosen = revisions.find((r) => r.number === wanted);
    if (!chosen) throw new CliError(`unable to find specified revision ${wanted} in history`);
    return chosen;
  }
  const previous = revisions[revisions.length - 2];
  if (previous) return previous;
  throw new CliError(`no rollout history found for ${object.kind.toLowerCase()} "${name}"`);
}

/** The deployment keeps what is its own and takes the rest from the revision. */
function annotationsAfter(deployment: AnyObject, replicaSet: AnyObject): Record<string, string> {
  const own = [LAST_APPLIED, REVISION, REVISION_HISTORY, DESIRED_REPLICAS, MAX_REPLICAS, 'deprecated.deployment.rollback.to'];
  const kept = Object.entries(deployment.metadata.annotations ?? {}).filter(([key]) => own.includes(key));
  const taken = Object.entries(replicaSet.metadata.annotations ?? {}).filter(([key]) => !own.includes(key));
  return Object.fromEntries([...kept, ...taken]);
}
