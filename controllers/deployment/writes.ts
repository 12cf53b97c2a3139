/**
 * From sizes and a status to a plan: the sets as they are to be written, the events that tell of it, and what the status becomes when a new set cannot
 * be made. Mirrors upstream `deployment/sync.go` (getNewReplicaSet, scaleReplicaSet, syncDeploymentStatus).
 */
import { deepEqual } from '../../machinery/api/equality.ts';
import type { Deployment, DeploymentStatus, ReplicaSet } from '../../machinery/api/types/apps.v1.ts';
import { REVISION } from '../../machinery/api/well-known-labels.ts';
import { deployments, replicasets } from '../../machinery/client/resource-type.ts';
import type { Action, Plan, PlannedEvent, UpdateAction } from '../../machinery/loop/plan.ts';
import { isNamespaceTerminating } from '../replicaset/status.ts';
import { currentSetAnnotations, revisionOf, sizeAnnotations } from './annotations.ts';
import { replicasOf } from './bounds.ts';
import { condition, countedStatus, hasProgressDeadline, withCondition } from './status.ts';

/** What is written about. */
export interface Written {
  readonly d: Deployment;
  /** The set of the present template, when there is one. */
  readonly stored: ReplicaSet | undefined;
  /** All sets it controls. */
  readonly owned: readonly ReplicaSet[];
  readonly now: Date;
}

/** A set to be written: `before` undefined makes it. */
export interface Step {
  readonly before: ReplicaSet | undefined;
  readonly next: ReplicaSet;
}

export function resized(d: Deployment, rs: ReplicaSet, size: number | undefined): ReplicaSet {
  return size === undefined || size === replicasOf(rs) ? rs : withSize(d, rs, size);
}

export const withCurrentAnnotations = (d: Deployment, rs: ReplicaSet, revision: number): ReplicaSet => ({
  ...rs,
  metadata: { ...rs.metadata, annotations: { ...currentSetAnnotations(d, rs, revision) } },
});

export function withSize(d: Deployment, rs: ReplicaSet, size: number): ReplicaSet {
  return {
    ...rs,
    metadata: { ...rs.metadata, annotations: { ...rs.metadata.annotations, ...sizeAnnotations(d) } },
    spec: { ...rs.spec, replicas: size },
  };
}

export function withMinReady(d: Deployment, rs: ReplicaSet): ReplicaSet['spec'] {
  const { minReadySeconds: _, ...spec } = rs.spec;
  return d.spec.minReadySeconds ? { ...spec, minReadySeconds: d.spec.minReadySeconds } : spec;
}

/** Turns sizes and status into writes and events. */
export function finish(written: Written, steps: readonly Step[], status: DeploymentStatus, forgotten: readonly ReplicaSet[] = []): Plan {
  const { d } = written;
  const actions: Action[] = [];
  const events: PlannedEvent[] = [];
  let created: ReplicaSet | undefined;
  for (const { before, next } of steps) {
    if (before !== undefined && deepEqual(before, next)) continue;
    if (before === undefined) created = next;
    actions.push(
      before === undefined
        ? { do: 'create', type: replicasets, object: next, tolerate: ['NamespaceTerminating'] }
        : { do: 'update', type: replicasets, object: next },
    );
    const after = actions.length - 1;
    const [from, to] = [before === undefined ? 0 : replicasOf(before), replicasOf(next)];
    const direction = to > from ? 'up' : 'down';
    if (from !== to)
      events.push({
        about: d,
        type: 'Normal',
        reason: 'ScalingReplicaSet',
        message: `Scaled ${direction} replica set ${next.metadata.name} from ${from} to ${to}`,
        after,
      });
    if (before === undefined)
      events.push({
        about: d,
        type: 'Warning',
        reason: 'ReplicaSetCreateError',
        message: `Failed to create new replica set "${next.metadata.name}": {error}`,
        onFailure: after,
      });
  }
  for (const rs of forgotten) {
    actions.push({
      do: 'delete',
      type: replicasets,
      name: { namespace: rs.metadata.namespace ?? '', name: rs.metadata.name ?? '' },
      uid: rs.metadata.uid ?? '',
    });
  }
  const current = steps.find((step) => step.before === written.stored)?.next;
  const revision = current === undefined ? undefined : String(revisionOf(current));
  const plan: Plan = { actions, events, status: statusUpdate(d, status, revision) };
  return created === undefined ? plan : { ...plan, statusOnFailure: (error) => createFailed(written, created.metadata.name ?? '', error) };
}

function createFailed({ d, owned, now }: Written, name: string, error: Error): UpdateAction | undefined {
  if (isNamespaceTerminating(error) || !hasProgressDeadline(d)) return undefined;
  const failed = condition(
    'Progressing',
    'False',
    'ReplicaSetCreateError',
    `Failed to create new replica set "${name}": ${error.message}`,
    now,
  );
  return statusUpdate(d, countedStatus(d, owned, undefined, withCondition(d.status?.conditions ?? [], failed), now));
}

/** The status, and with it the revision annotation; undefined when both are there already. */
export function statusUpdate(d: Deployment, status: DeploymentStatus, revision?: string): UpdateAction | undefined {
  const sameRevision = revision === undefined || d.metadata.annotations?.[REVISION] === revision;
  if (sameRevision && deepEqual(d.status ?? {}, status)) return undefined;
  const metadata = sameRevision ? d.metadata : { ...d.metadata, annotations: { ...d.metadata.annotations, [REVISION]: revision } };
  return { do: 'update', type: deployments, object: { ...d, metadata, status } as Deployment, subresource: 'status' };
}
