/**
 * Tells kubelets by an annotation how long they may keep Secrets and ConfigMaps: the larger the cluster, the longer. Mirrors upstream `pkg/controller/ttl`.
 * The boundaries overlap so that a cluster at a limit does not have all its nodes written again and again.
 */
import type { Node } from '../machinery/api/types/core.v1.ts';
import { nodes } from '../machinery/client/resource-type.ts';
import type { PlannedController } from '../machinery/loop/controller.ts';
import { NOTHING, type Plan } from '../machinery/loop/plan.ts';
import { watchFor } from '../machinery/loop/watches.ts';

const ANNOTATION = 'node.alpha.kubernetes.io/ttl';
const STEPS = [
  { above: 0, upTo: 100, seconds: 0 },
  { above: 90, upTo: 500, seconds: 15 },
  { above: 450, upTo: 1000, seconds: 30 },
  { above: 900, upTo: 2000, seconds: 60 },
  { above: 1800, upTo: Number.POSITIVE_INFINITY, seconds: 300 },
];

export interface ObservedTtl {
  readonly node: Node;
  readonly clusterSize: number;
}

export function ttlController(): PlannedController<ObservedTtl> {
  return {
    name: 'ttl',
    component: 'ttl-controller',
    watches: [watchFor(nodes)],
    observe(key, view) {
      const node = view.of(nodes).get(key);
      return node && { node, clusterSize: view.of(nodes).list().length };
    },
    compare: compareTtl,
  };
}

export function compareTtl({ node, clusterSize }: ObservedTtl): Plan {
  const current = Number(node.metadata.annotations?.[ANNOTATION] ?? Number.NaN);
  const fits = STEPS.some((step) => step.seconds === current && clusterSize > step.above && clusterSize <= step.upTo);
  if (fits || node.metadata.deletionTimestamp !== undefined) return NOTHING;
  const { seconds } = STEPS.find((step) => clusterSize <= step.upTo)!;
  const { name = '', uid } = node.metadata;
  const patch = { metadata: { uid, annotations: { [ANNOTATION]: String(seconds) } } };
  return {
    actions: [
      { do: 'patch', type: nodes, name: { name }, patchType: 'application/strategic-merge-patch+json', patch, tolerate: ['NotFound'] },
    ],
  };
}
