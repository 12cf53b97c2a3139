/** `rollout pause` and `rollout resume` of a Deployment. */
import { CliError } from '../errors.ts';
import { resultPrinter } from '../printers/output.ts';
import { actOnEach, fetchObjects, requireAsked } from '../resources/fetch.ts';
import type { Session } from '../session.ts';
import type { Verb } from '../verb.ts';
import { FILE_FLAGS, managerFlag, OUTPUT_FLAGS, SELECTOR_FLAGS } from '../verb-flags.ts';

const pauseVerb = (pausing: boolean): Verb => ({
  usage: 'RESOURCE',
  flags: { ...FILE_FLAGS, ...OUTPUT_FLAGS, ...SELECTOR_FLAGS, ...managerFlag('kubectl-rollout') },
  run: (session, args) => setPaused(session, args, pausing),
});

export const pause = pauseVerb(true);
export const resume = pauseVerb(false);

async function setPaused(session: Session, args: readonly string[], pausing: boolean): Promise<void> {
  const { flags } = session;
  requireAsked(session, args);
  const print = await resultPrinter(flags);
  const { found, errors } = await fetchObjects(session, args);
  await actOnEach(found, errors, async ({ object, resource, namespace, name }) => {
    const shown = `${resource.resource}${resource.group === '' ? '' : `.${resource.group}`} "${name}"`;
    if (object.kind !== 'Deployment') throw new CliError(`${shown} ${pausing ? 'pausing' : 'resuming'} is not supported`);
    const paused = (object.spec as { paused?: boolean }).paused === true;
    if (paused === pausing) throw new CliError(pausing ? `${shown} is already paused` : `${shown} is not paused`);
    const patch = { spec: { paused: pausing ? true : null } };
    const result = await session.api.patch(resource, { namespace, name }, 'application/strategic-merge-patch+json', patch, {
      fieldManager: flags.string('field-manager'),
    });
    session.out(print(result, pausing ? 'paused' : 'resumed'));
  });
}
