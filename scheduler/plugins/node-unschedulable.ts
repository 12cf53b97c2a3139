/** Cordoned nodes take no new pods, unless a pod tolerates the taint `node.kubernetes.io/unschedulable`. */

import { tolerates } from '../../machinery/api/toleration.ts';
import { UNSCHEDULABLE } from '../../machinery/api/well-known-labels.ts';
import { type Plugin, unresolvable } from '../framework/plugin.ts';

const CORDONED = { key: UNSCHEDULABLE, effect: 'NoSchedule' } as const;
const rejection = unresolvable('node(s) were unschedulable');

export const nodeUnschedulable: Plugin = {
  name: 'NodeUnschedulable',
  prefilter: ({ pod }) => {
    if ((pod.spec.tolerations ?? []).some((toleration) => tolerates(toleration, CORDONED))) return {};
    return { filter: (node) => (node.node?.spec?.unschedulable ? rejection : undefined) };
  },
  mayHelp: (_pod, event) =>
    event.kind === 'node-added' || event.kind === 'node-schedulable' || event.kind === 'node-taints' || event.kind === 'own-update',
};
