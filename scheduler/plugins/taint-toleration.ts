/** Taints NoSchedule and NoExecute keep out pods that do not tolerate them; of the rest, nodes with fewer untolerated PreferNoSchedule taints are better. */

import { tolerates, untolerated } from '../../machinery/api/toleration.ts';
import { normalizeByMaximum, type Plugin, unresolvable } from '../framework/plugin.ts';

const HARD = ['NoSchedule', 'NoExecute'];
const rejection = unresolvable('node(s) had untolerated taint(s)');

export const taintToleration: Plugin = {
  name: 'TaintToleration',
  weight: 3,
  prefilter: ({ pod }) => {
    const tolerations = pod.spec.tolerations ?? [];
    return {
      filter: (node) => {
        const taints = node.node?.spec?.taints;
        return taints && taints.length > 0 && untolerated(taints, tolerations, HARD) ? rejection : undefined;
      },
    };
  },
  prescore: ({ pod }, nodes) => {
    if (!nodes.some((node) => node.node?.spec?.taints?.some((taint) => taint.effect === 'PreferNoSchedule'))) return undefined;
    const tolerations = (pod.spec.tolerations ?? []).filter((toleration) => !toleration.effect || toleration.effect === 'PreferNoSchedule');
    return {
      score: (node) =>
        (node.node?.spec?.taints ?? []).filter(
          (taint) => taint.effect === 'PreferNoSchedule' && !tolerations.some((toleration) => tolerates(toleration, taint)),
        ).length,
      normalize: (scores) => normalizeByMaximum(scores, true),
    };
  },
  mayHelp: (_pod, event) => event.kind === 'node-added' || event.kind === 'node-taints' || event.kind === 'own-update',
};
