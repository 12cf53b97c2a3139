/** A host port serves one pod of a node. */
import { type Plugin, unschedulable } from '../framework/plugin.ts';

const rejection = unschedulable("node(s) didn't have free ports for the requested pod ports");

export const nodePorts: Plugin = {
  name: 'NodePorts',
  prefilter: ({ hostPorts }) =>
    hostPorts.length > 0 ? { filter: (node) => (hostPorts.some((port) => node.portTaken(port)) ? rejection : undefined) } : {},
  mayHelp: (_pod, event) => event.kind === 'node-added' || event.kind === 'pod-removed' || event.kind === 'own-update',
};
