/** `cordon`: marks nodes unschedulable. */
import { CORDON_FLAGS, fetchNodes, setSchedulable } from '../nodes/cordon.ts';
import { actOnEach } from '../resources/fetch.ts';
import type { Verb } from '../verb.ts';

export const verb: Verb = {
  usage: 'NODE',
  flags: CORDON_FLAGS,
  run: async (session, args) => {
    const { found, errors } = await fetchNodes(session, args);
    await actOnEach(found, errors, (node) => setSchedulable(session, node, true));
  },
};
