/** A pod that names its node goes nowhere else. (Such a pod is normally not scheduled at all.) */
import { type Plugin, unresolvable } from '../framework/plugin.ts';

const rejection = unresolvable("node(s) didn't match the requested node name");

export const nodeName: Plugin = {
  name: 'NodeName',
  prefilter: ({ pod }) => (pod.spec.nodeName ? { filter: (node) => (node.name === pod.spec.nodeName ? undefined : rejection) } : {}),
  mayHelp: (_pod, event) => event.kind === 'node-added' || event.kind === 'own-update',
};
