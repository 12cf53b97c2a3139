/**
 * Making room for a pod by taking pods of lower priority away: which node, which victims, and what to say when nothing helps. A dry run on the
 * snapshot, which is left as it was. Mirrors upstream `framework/preemption`, `plugins/defaultpreemption`.
 */
import { matches, selectorOf } from '../machinery/api/selector.ts';
import type { PodDisruptionBudget } from '../machinery/api/types/policy.v1.ts';
import type { Found } from './find-node.ts';
import { histogram } from './fit-error.ts';
import type { NodeInfo } from './framework/node-info.ts';
import type { Prefiltered, Rejection } from './framework/plugin.ts';
import type { PodInfo } from './framework/pod-info.ts';
import type { Snapshot } from './framework/snapshot.ts';

export interface Preemption {
  /** Where room will be; undefined when preemption cannot help. */
  readonly nodeName: string | undefined;
  readonly victims: readonly PodInfo[];
  /** What follows the reasons in the message; '' when a node was found. */
  readonly message: string;
}

const NOT_HELPFUL = 'Preemption is not helpful for scheduling';
const NO_VICTIMS = 'No preemption victims found for incoming pod';
/** What the rule of resource claims says first. */
const claimsText = ({ pod }: PodInfo): string =>
  (pod.spec.resourceClaims?.length ?? 0) > 0 ? 'still not schedulable' : 'no new claims to deallocate';

export interface PreemptionInput {
  readonly pod: PodInfo;
  readonly found: Pick<Found, 'diagnosis' | 'prefiltered'>;
  readonly snapshot: Snapshot;
  readonly budgets: readonly PodDisruptionBudget[];
}

export function preempt({ pod, found, snapshot, budgets }: PreemptionInput): Preemption {
  const nothing = (message: string): Preemption => ({ nodeName: undefined, victims: [], message });
  const { diagnosis } = found;
  const claims = claimsText(pod);
  // A pod rejected before nodes were looked at is not known to the plugins that would be asked here.
  if (diagnosis.prefilterMessage !== undefined) return nothing('not found');
  if (pod.pod.spec.preemptionPolicy === 'Never') return nothing(`${claims}, preemption: not eligible due to preemptionPolicy=Never.`);
  if (waitsForVictims(pod, snapshot)) return nothing(`${claims}, preemption: not eligible due to a terminating pod on the nominated node.`);
  const candidates: Candidate[] = [];
  const reasons: string[] = [];
  for (const [name, rejection] of diagnosis.rejections) {
    const node = snapshot.node(name);
    const result = rejection.resolvable && node ? victimsOn(node, { pod, prefiltered: found.prefiltered, budgets }) : [NOT_HELPFUL];
    if ('victims' in result) candidates.push(result);
    else reasons.push(...result);
  }
  const best = candidates.reduce<Candidate | undefined>((first, other) => (first && !isBetter(other, first) ? first : other), undefined);
  if (best) return { nodeName: best.node.name, victims: best.victims, message: '' };
  return nothing(`${claims}, preemption: 0/${diagnosis.nodeCount} nodes are available: ${histogram(reasons)}.`);
}

/** Room was already made where the pod is nominated, and is not free yet. */
function waitsForVictims(pod: PodInfo, snapshot: Snapshot): boolean {
  const nominated = pod.pod.status?.nominatedNodeName;
  const node = nominated ? snapshot.node(nominated) : undefined;
  return [...(node?.pods.values() ?? [])].some(
    ({ pod: other, priority }) =>
      priority < pod.priority &&
      other.metadata.deletionTimestamp !== undefined &&
      (other.status?.conditions ?? []).some(
        (condition) => condition.type === 'DisruptionTarget' && condition.reason === 'PreemptionByScheduler',
      ),
  );
}

interface Candidate {
  readonly node: NodeInfo;
  readonly victims: readonly PodInfo[];
  readonly violations: number;
}

interface DryRun {
  readonly pod: PodInfo;
  readonly prefiltered: ReadonlyMap<string, Prefiltered>;
  readonly budgets: readonly PodDisruptionBudget[];
}

/** The fewest pods of lower priority that must go from a node, or why that would not help. */
function victimsOn(node: NodeInfo, run: DryRun): Candidate | readonly string[] {
  const lower = [...node.pods.values()].filter((other) => other.priority < run.pod.priority);
  if (lower.length === 0) return [NO_VICTIMS];
  const away = new Set<PodInfo>();
  const take = (other: PodInfo): void => {
    node.removePod(other.uid);
    away.add(other);
    for (const { removePod } of run.prefiltered.values()) removePod?.(other, node);
  };
  const giveBack = (other: PodInfo): void => {
    node.addPod(other);
    away.delete(other);
    for (const { addPod } of run.prefiltered.values()) addPod?.(other, node);
  };
  try {
    for (const other of lower) take(other);
    const rejection = rejectionOn(node, run.prefiltered);
    if (rejection) return rejection.reasons;
    const { violating, others } = splitByBudget(lower.sort(moreImportant), run.budgets);
    let violations = 0;
    // The most important get their place back first, those protected by a budget before all others.
    for (const other of [...violating, ...others]) {
      giveBack(other);
      if (!rejectionOn(node, run.prefiltered)) continue;
      take(other);
      if (violating.includes(other)) violations++;
    }
    return { node, victims: [...away].sort(moreImportant), violations };
  } finally {
    for (const other of [...away]) giveBack(other);
  }
}

function rejectionOn(node: NodeInfo, prefiltered: ReadonlyMap<string, Prefiltered>): Rejection | undefined {
  for (const { filter } of prefiltered.values()) {
    const rejection = filter?.(node);
    if (rejection) return rejection;
  }
  return undefined;
}

const startOf = ({ pod }: PodInfo): string => pod.status?.startTime ?? '9999';

/** Higher priority first, then the one that has run longer. */
const moreImportant = (a: PodInfo, b: PodInfo): number =>
  b.priority - a.priority || (startOf(a) < startOf(b) ? -1 : startOf(a) > startOf(b) ? 1 : 0);

function splitByBudget(pods: readonly PodInfo[], budgets: readonly PodDisruptionBudget[]): { violating: PodInfo[]; others: PodInfo[] } {
  const left = budgets.map((budget) => budget.status?.disruptionsAllowed ?? 0);
  const violating: PodInfo[] = [];
  const others: PodInfo[] = [];
  for (const pod of pods) {
    let violates = false;
    for (const [i, budget] of budgets.entries()) {
      const selector = budget.spec?.selector;
      if (budget.metadata.namespace !== pod.namespace || !selector || Object.keys(pod.labels).length === 0) continue;
      if (!matches(selectorOf(selector), pod.labels) || Object.hasOwn(budget.status?.disruptedPods ?? {}, pod.pod.metadata.name ?? ''))
        continue;
      left[i] = (left[i] as number) - 1;
      if ((left[i] as number) < 0) violates = true;
    }
    (violates ? violating : others).push(pod);
  }
  return { violating, others };
}

/** Upstream's pickOneNodeForPreemption: fewest broken budgets, lowest highest victim, lowest sum, fewest victims, youngest highest victim. */
function isBetter(a: Candidate, b: Candidate): boolean {
  const highest = (candidate: Candidate): number => candidate.victims[0]?.priority ?? Number.NEGATIVE_INFINITY;
  const sum = (candidate: Candidate): number => candidate.victims.reduce((total, victim) => total + victim.priority + 2 ** 31, 0);
  const keys = (candidate: Candidate): number[] => [candidate.violations, highest(candidate), sum(candidate), candidate.victims.length];
  const [x, y] = [keys(a), keys(b)];
  for (const [i, value] of x.entries()) if (value !== y[i]) return value < (y[i] as number);
  return (a.victims[0] ? startOf(a.victims[0]) : '') > (b.victims[0] ? startOf(b.victims[0]) : '');
}
