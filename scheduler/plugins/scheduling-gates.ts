/** A pod with scheduling gates does not enter the active queue; the API server sets its condition at creation. Kept as a rule of its own so that the table of plugins is whole. */
import { type Plugin, unresolvable } from '../framework/plugin.ts';

export const schedulingGates: Plugin = {
  name: 'SchedulingGates',
  prefilter: ({ pod }) => {
    const gates = (pod.spec.schedulingGates ?? []).map((gate) => gate.name);
    return gates.length > 0 ? { rejection: unresolvable(`waiting for scheduling gates: [${gates.join(' ')}]`) } : {};
  },
  mayHelp: (_pod, event) => event.kind === 'own-update',
};
