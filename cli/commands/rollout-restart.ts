/** `rollout restart`: changes an annotation of the template, so that every pod is replaced. */

import { formatTime } from '../../machinery/api/time.ts';
import { CliError } from '../errors.ts';
import { resultPrinter } from '../printers/output.ts';
import { actOnEach, fetchObjects, requireAsked } from '../resources/fetch.ts';
import { checkKind } from '../rollout/kinds.ts';
import type { Session } from '../session.ts';
import type { Verb } from '../verb.ts';
import { FILE_FLAGS, managerFlag, OUTPUT_FLAGS, SELECTOR_FLAGS } from '../verb-flags.ts';

export const verb: Verb = {
  usage: 'RESOURCE',
  flags: { ...FILE_FLAGS, ...OUTPUT_FLAGS, ...SELECTOR_FLAGS, ...managerFlag('kubectl-rollout') },
  run: restart,
};

async function restart(session: Session, args: readonly string[]): Promise<void> {
  const { flags } = session;
  requireAsked(session, args);
  const print = await resultPrinter(flags);
  const { found, errors } = await fetchObjects(session, args);
  const patch = { spec: { template: { metadata: { annotations: { 'kubectl.kubernetes.io/restartedAt': formatTime(session.now()) } } } } };
  await actOnEach(found, errors, async ({ object, resource, namespace, name }) => {
    checkKind(object, 'object restarter');
    if ((object.spec as { paused?: boolean } | undefined)?.paused)
      throw new CliError(`${resource.resource}.${resource.group} "${name}" can't restart paused deployment (run rollout resume first)`);
    const result = await session.api.patch(resource, { namespace, name }, 'application/strategic-merge-patch+json', patch, {
      fieldManager: flags.string('field-manager'),
    });
    session.out(print(result, 'restarted'));
  });
}
