/** Node selector and node affinity: required terms decide, preferred ones weigh. */
import { matchesRequiredAffinity, matchesTerm, namedNodes } from '../framework/node-affinity.ts';
import { normalizeByMaximum, type Plugin, unresolvable } from '../framework/plugin.ts';

const rejection = unresolvable("node(s) didn't match Pod's node affinity/selector");

export const nodeAffinity: Plugin = {
  name: 'NodeAffinity',
  weight: 2,
  prefilter: ({ pod }) => {
    if (!pod.spec.nodeSelector && !pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution) return {};
    const names = namedNodes(pod);
    if (names?.size === 0) return { rejection: unresolvable('pod affinity terms conflict') };
    return {
      filter: (node) => (node.node && matchesRequiredAffinity(pod, node.node) ? undefined : rejection),
      ...(names && { nodeNames: names }),
    };
  },
  prescore: ({ pod }) => {
    const preferred = (pod.spec.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).filter(
      (term) => term.weight !== 0,
    );
    if (preferred.length === 0) return undefined;
    return {
      score: ({ node }) => preferred.reduce((sum, { weight, preference }) => sum + (node && matchesTerm(preference, node) ? weight : 0), 0),
      normalize: (scores) => normalizeByMaximum(scores),
    };
  },
  mayHelp: ({ pod }, event) =>
    event.kind === 'node-added' || event.kind === 'node-labels' ? matchesRequiredAffinity(pod, event.node) : event.kind === 'own-update',
};
