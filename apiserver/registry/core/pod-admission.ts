/**
 * What mutating admission does to a new pod: service account, priority, default tolerations, runtime class, topology labels. Mirrors the plugins
 * of kubernetes `plugin/pkg/admission` of these names, in their order.
 */

import { deepEqual } from '../../../machinery/api/equality.ts';
import { unclassified } from '../../../machinery/api/status.ts';
import type * as core from '../../../machinery/api/types/core.v1.ts';
import type { RuntimeClass } from '../../../machinery/api/types/node.k8s.io.v1.ts';
import type { PriorityClass } from '../../../machinery/api/types/scheduling.k8s.io.v1.ts';
import { MIRROR, NOT_READY, REGION, UNREACHABLE, ZONE } from '../../../machinery/api/well-known-labels.ts';
import type { StrategyContext } from '../resource.ts';
import { mergeTolerations } from './merge-tolerations.ts';
import { refusePod } from './pod-refusal.ts';
import { admitMirror } from './pod-secrets.ts';
import { admitServiceAccount } from './pod-service-account.ts';

const DEFAULT_TOLERATION_SECONDS = 300;

export async function admitPod(pod: core.Pod, context: StrategyContext): Promise<void> {
  pod.spec ??= { containers: [] };
  if (pod.metadata.annotations?.[MIRROR] === undefined) await admitServiceAccount(pod, context);
  else admitMirror(pod);
  admitPriority(pod, context);
  admitTolerations(pod.spec);
  admitTopologyLabels(pod, context);
  if (pod.spec.runtimeClassName !== undefined) admitRuntimeClass(pod, context);
  else if (pod.spec.overhead !== undefined) throw refusePod(pod, NO_OVERHEAD);
}

/** The classes every cluster has, should they not be stored yet. */
const SYSTEM_CLASSES = new Map([
  ['system-cluster-critical', 2000000000],
  ['system-node-critical', 2000001000],
]);

interface Priority {
  readonly name: string;
  readonly value: number;
  readonly policy: string;
}

function admitPriority(pod: core.Pod, context: StrategyContext): void {
  const { spec } = pod;
  const name = spec.priorityClassName ?? '';
  const { value, policy, name: className } = name === '' ? defaultPriority(context) : namedPriority(pod, name, context);
  if (className !== '') spec.priorityClassName = className;
  if (spec.priority !== undefined && spec.priority !== value) {
    throw refusePod(
      pod,
      `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${value} from the given PriorityClass name`,
    );
  }
  spec.priority = value;
  if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== policy) {
    throw refusePod(
      pod,
      `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; priority admission controller computed ${policy} from the given PriorityClass name`,
    );
  }
  spec.preemptionPolicy = policy as core.PodSpec['preemptionPolicy'] & string;
}

const priorityOf = (found: PriorityClass): Priority => ({
  name: found.metadata.name ?? '',
  value: found.value ?? 0,
  policy: found.preemptionPolicy ?? 'PreemptLowerPriority',
});

function namedPriority(pod: core.Pod, name: string, context: StrategyContext): Priority {
  const found = context.reader.get<PriorityClass>('scheduling.k8s.io', 'priorityclasses', '', name);
  if (found !== undefined) return priorityOf(found);
  const system = SYSTEM_CLASSES.get(name);
  if (system === undefined) throw refusePod(pod, `no PriorityClass with name ${name} was found`);
  return { name, value: system, policy: 'PreemptLowerPriority' };
}

/** Of several default classes the lowest counts. */
function defaultPriority(context: StrategyContext): Priority {
  let lowest: PriorityClass | undefined;
  for (const candidate of context.reader.list<PriorityClass>('scheduling.k8s.io', 'priorityclasses')) {
    if (candidate.globalDefault === true && (lowest === undefined || (candidate.value ?? 0) < (lowest.value ?? 0))) lowest = candidate;
  }
  return lowest === undefined ? { name: '', value: 0, policy: 'PreemptLowerPriority' } : priorityOf(lowest);
}

/** A node may be away for five minutes before its pods are evicted, unless the pod says otherwise. */
export function admitTolerations(spec: core.PodSpec): void {
  for (const key of [NOT_READY, UNREACHABLE]) {
    const tolerates = (spec.tolerations ?? []).some((t) => (!t.key || t.key === key) && (!t.effect || t.effect === 'NoExecute'));
    if (tolerates) continue;
    spec.tolerations = [
      ...(spec.tolerations ?? []),
      { key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: DEFAULT_TOLERATION_SECONDS },
    ];
  }
}

const TOPOLOGY_LABELS = [ZONE, REGION];

/** A pod that names its node carries the node's zone and region from the start; binding does the same. */
function admitTopologyLabels(pod: core.Pod, context: StrategyContext): void {
  if (pod.spec.nodeName) copyTopologyLabels(pod, pod.spec.nodeName, context);
}

export function copyTopologyLabels(pod: core.Pod, nodeName: string, context: Pick<StrategyContext, 'reader'>): void {
  const labels = context.reader.get<core.Node>('', 'nodes', '', nodeName)?.metadata.labels;
  for (const key of TOPOLOGY_LABELS) {
    const value = labels?.[key];
    if (value !== undefined) pod.metadata.labels = { ...pod.metadata.labels, [key]: value };
  }
}

const NO_OVERHEAD = 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead';

function admitRuntimeClass(pod: core.Pod, context: StrategyContext): void {
  const { spec } = pod;
  const name = spec.runtimeClassName!;
  if (name === '') throw unclassified('resource name may not be empty');
  const found = context.reader.get<RuntimeClass>('node.k8s.io', 'runtimeclasses', '', name);
  if (found === undefined) throw refusePod(pod, `pod rejected: RuntimeClass "${name}" not found`);
  const overhead = found.overhead?.podFixed;
  if (overhead !== undefined) {
    if (spec.overhead !== undefined && !deepEqual(spec.overhead, overhead)) {
      throw refusePod(pod, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
    }
    spec.overhead = { ...overhead };
  } else if (spec.overhead !== undefined) {
    throw refusePod(pod, NO_OVERHEAD);
  }
  const scheduling = found.scheduling;
  if (Object.keys(scheduling?.nodeSelector ?? {}).length + (scheduling?.tolerations?.length ?? 0) === 0) return;
  for (const [key, value] of Object.entries(scheduling?.nodeSelector ?? {})) {
    const own = spec.nodeSelector?.[key];
    if (own !== undefined && own !== value) {
      throw refusePod(pod, `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${own}`);
    }
    spec.nodeSelector = { ...spec.nodeSelector, [key]: value };
  }
  const tolerations = mergeTolerations(spec.tolerations ?? [], scheduling?.tolerations ?? []);
  if (tolerations.length > 0) spec.tolerations = tolerations;
}
