/**
 * What a disruption budget says to an eviction. Mirrors kubernetes `pkg/registry/core/pod/storage/eviction.go` (checkAndDecrement) and
 * `pkg/api/poddisruptionbudget`: whether one more pod may go, and what the budget remembers of it.
 */
import type { KubeObject } from '../../../machinery/api/object.ts';
import { forbidden, StatusError, tooManyRequests } from '../../../machinery/api/status.ts';
import type { Pod } from '../../../machinery/api/types/core.v1.ts';
import type { PodDisruptionBudget } from '../../../machinery/api/types/policy.v1.ts';

/** More disrupted pods than this are not remembered in a budget. */
const MAX_DISRUPTED = 2000;
const TYPE = 'DisruptionAllowed';

type Budget = PodDisruptionBudget & KubeObject;
type Status = NonNullable<PodDisruptionBudget['status']>;

/** Budgets do not protect pods that are finished, not started, or already going. */
export function isUnprotected(pod: Pod): boolean {
  return isEnding(pod) || pod.status?.phase === 'Pending';
}

/** Nothing that happens to the pod can make it healthy again. */
export function isEnding(pod: Pod): boolean {
  const phase = pod.status?.phase;
  return phase === 'Succeeded' || phase === 'Failed' || pod.metadata.deletionTimestamp !== undefined;
}

/** A pod that is not ready costs no healthy one: by policy AlwaysAllow, or when the budget is met without it. */
export function mayGoUnhealthy(budget: PodDisruptionBudget, pod: Pod): boolean {
  if (pod.status?.conditions?.some((c) => c.type === 'Ready' && c.status === 'True')) return false;
  if (budget.spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow') return true;
  const { currentHealthy = 0, desiredHealthy = 0 } = budget.status ?? {};
  return currentHealthy >= desiredHealthy && desiredHealthy > 0;
}

/** Takes one disruption from the budget, in place; `now` dates it. Throws when there is none to take. */
export function takeDisruption(budget: Budget, pod: string, now: string): void {
  const name = budget.metadata.name ?? '';
  budget.status ??= {} as Status;
  const { status } = budget;
  if ((status.observedGeneration ?? 0) < (budget.metadata.generation ?? 0)) throw notObserved(name);
  const allowed = status.disruptionsAllowed ?? 0;
  const refuse = (why: string): StatusError => forbidden({ group: 'policy', resource: 'poddisruptionbudget' }, name, why);
  if (allowed < 0) throw refuse('pdb disruptions allowed is negative');
  const disrupted = status.disruptedPods as Record<string, string> | undefined;
  if (Object.keys(disrupted ?? {}).length > MAX_DISRUPTED) {
    throw refuse('DisruptedPods map too big - too many evictions not confirmed by PDB controller');
  }
  if (allowed === 0) throw refused(whyNone(name, status), 0);
  status.disruptionsAllowed = allowed - 1;
  if (allowed === 1) status.conditions = withoutDisruptions(status, now);
  status.disruptedPods = { ...disrupted, [pod]: now };
}

/** The figures mean nothing when the budget's controller could not count. */
function whyNone(name: string, { conditions, currentHealthy = 0, desiredHealthy = 0 }: Status): string {
  const none = `The disruption budget ${name} does not allow evicting pods currently`;
  const said = conditions?.find((c) => c.type === TYPE && c.status === 'False' && c.message !== '');
  if (said?.reason === 'SyncFailed') return `${none} because it failed sync: ${said.message}`;
  if (currentHealthy <= desiredHealthy) {
    return `The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`;
  }
  return said === undefined ? none : `${none} (${said.reason}): ${said.message}`;
}

/** The last disruption is taken: the budget says so at once, before its controller looks again. */
function withoutDisruptions(status: Status, now: string): Status['conditions'] {
  const others = status.conditions ?? [];
  const before = others.find((condition) => condition.type === TYPE);
  const condition = {
    ...(status.observedGeneration && { observedGeneration: status.observedGeneration }),
    type: TYPE,
    status: 'False',
    lastTransitionTime: before?.status === 'False' ? before.lastTransitionTime : now,
    reason: 'InsufficientPods',
    message: '',
  };
  return before === undefined ? [...others, condition] : others.map((other) => (other === before ? condition : other));
}

/** The budget, or the pod beside it, is newer than what is known of it: to be asked again soon. */
export const notObserved = (name: string): StatusError =>
  refused(`The disruption budget ${name} is still being processed by the server.`, 10);

function refused(why: string, retryAfterSeconds: number): StatusError {
  const error = tooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", retryAfterSeconds);
  const details = { causes: [{ reason: 'DisruptionBudget', message: why }], ...(retryAfterSeconds > 0 && { retryAfterSeconds }) };
  return new StatusError({ ...error.status, details });
}
