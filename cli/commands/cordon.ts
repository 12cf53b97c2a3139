/** `cordon`: marks nodes unschedulable. */
import { throwAll } from '../errors.ts';
import { CORDON_FLAGS, fetchNodes, setSchedulable } from '../nodes/cordon.ts';
import type { Verb } from '../verb.ts';

export const verb: Verb = {
  usage: 'NODE',
  flags: CORDON_FLAGS,
  run: async (session, args) => {
    const { found, errors } = await fetchNodes(session, args);
    for (const node of found) await setSchedulable(session, node, true).catch((error) => errors.push(error));
    throwAll(errors);
  },
};
