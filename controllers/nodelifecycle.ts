/**
 * Marks nodes that fell silent, taints nodes by their conditions, and tells pods of a lost node that they are not ready. Mirrors upstream
 * `pkg/controller/nodelifecycle`. The evictions that follow from the taints are tainteviction.ts.
 *
 * Invariant: a node that is heard of within its grace period is never touched, an outage of the API server counts for nobody
 * (nodelifecycle/signs-of-life.ts), and evictions stop when it looks as if everybody had gone (nodelifecycle/zones.ts).
 */

import { formatTime } from '../machinery/api/time.ts';
import type { Lease } from '../machinery/api/types/coordination.k8s.io.v1.ts';
import type { Node, NodeCondition, Pod } from '../machinery/api/types/core.v1.ts';
import { ARCH, OLD_ARCH, OLD_OS, OS } from '../machinery/api/well-known-labels.ts';
import { BY_NODE } from '../machinery/client/informer.ts';
import { leases, nodes, pods } from '../machinery/client/resource-type.ts';
import type { PlannedController } from '../machinery/loop/controller.ts';
import type { Action, Plan, PlannedEvent } from '../machinery/loop/plan.ts';
import { watchMapped } from '../machinery/loop/watches.ts';
import type { Clock } from '../machinery/process/clock.ts';
import { TokenBucket } from '../machinery/process/token-bucket.ts';
import { SignsOfLife } from './nodelifecycle/signs-of-life.ts';
import { isEvictionDue, readyStatus, wantedTaints } from './nodelifecycle/taints.ts';
import { type EvictionRates, evictionRate, ZoneCounts, zoneOf } from './nodelifecycle/zones.ts';
import { isReady, patchCondition } from './pods.ts';

const LEASE_NAMESPACE = 'kube-node-lease';
const REPORTED = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'];
const OLD_LABELS = [
  [OS, OLD_OS],
  [ARCH, OLD_ARCH],
] as const;

export interface NodeMonitorOptions extends EvictionRates {
  readonly nodeMonitorPeriodMs: number;
  readonly nodeMonitorGracePeriodMs: number;
  readonly nodeStartupGracePeriodMs: number;
}

export interface ObservedNode {
  /** Undefined: gone, and `last` is what it was. */
  readonly node: Node | undefined;
  readonly last: Node | undefined;
  readonly isNew: boolean;
  /** Nobody heard of it for longer than it may be silent. */
  readonly silent: boolean;
  /** Pods on a lost node that say they are ready. */
  readonly readyPods: readonly Pod[];
  /** 'hold': wait with the NoExecute taint; 'never': it must not have it. */
  readonly evict: 'now' | 'hold' | 'never';
  readonly periodMs: number;
}

export function nodelifecycleController(options: NodeMonitorOptions, clock: Clock): PlannedController<ObservedNode> {
  const signs = new SignsOfLife(clock, options.nodeMonitorGracePeriodMs / 2);
  const limits = new Map<string, TokenBucket>();
  const zones = new ZoneCounts();
  return {
    name: 'nodelifecycle',
    component: 'node-controller',
    workers: 1,
    watches: [
      watchMapped<Node>(nodes, ({ object, old }) => {
        zones.change(object, old);
        return [(object ?? old)?.metadata.name ?? ''];
      }),
      watchMapped<Lease>(leases, ({ object }) => (object?.metadata.namespace === LEASE_NAMESPACE ? [object.metadata.name ?? ''] : [])),
    ],
    reads: [pods],
    observe(name, view) {
      signs.heardServer(Math.max(view.of(nodes).revision, view.of(leases).revision));
      const node = view.of(nodes).get(name);
      const isNew = !signs.isKnown(name);
      if (node === undefined) {
        const last = signs.forget(name);
        return last && { node, last, isNew: false, silent: false, readyPods: [], evict: 'hold', periodMs: 0 };
      }
      const silenceMs = signs.silenceMs(node, view.of(leases).get(`${LEASE_NAMESPACE}/${name}`));
      const graceMs = readyStatus(node) === undefined ? options.nodeStartupGracePeriodMs : options.nodeMonitorGracePeriodMs;
      return {
        node,
        last: undefined,
        isNew,
        silent: silenceMs > graceMs,
        readyPods: readyStatus(node) === 'Unknown' ? view.of(pods).byIndex(BY_NODE, name).filter(isReady) : [],
        evict: eviction(node, limits),
        periodMs: options.nodeMonitorPeriodMs,
      };
    },
    compare: compareNode,
  };

  /** Takes a token of the zone only when there is something to spend it on. */
  function eviction(node: Node, buckets: Map<string, TokenBucket>): ObservedNode['evict'] {
    const states = zones.states(options.unhealthyZoneThreshold);
    const state = states.get(zoneOf(node)) ?? 'normal';
    const perSecond = evictionRate(state, states.values(), zones.clusterSize, options);
    if ([...states.values()].every((other) => other === 'full-disruption')) return 'never';
    if (!isEvictionDue(node)) return 'now';
    if (perSecond === 0) return 'hold';
    const id = `${zoneOf(node)} ${perSecond}`;
    const bucket = buckets.get(id) ?? new TokenBucket({ clock, perSecond, burst: 1 });
    buckets.set(id, bucket);
    return bucket.take() ? 'now' : 'hold';
  }
}

export function compareNode(observed: ObservedNode, now: Date): Plan {
  const { node, last, isNew, silent, periodMs } = observed;
  const events: PlannedEvent[] = [];
  if (node === undefined) {
    if (last !== undefined)
      events.push(nodeEvent(last, 'RemovingNode', `Node ${last.metadata.name} event: Removing Node ${last.metadata.name} from Controller`));
    return { actions: [], events };
  }
  if (isNew) {
    // told before anything is written: a pass whose write fails tells nothing, and the next one does not find the node new
    const message = `Node ${node.metadata.name} event: Registered Node ${node.metadata.name} in Controller`;
    return { actions: [], events: [nodeEvent(node, 'RegisteredNode', message)], requeueAfterMs: 0 };
  }
  const conditions = silent ? silentConditions(node, now) : undefined;
  if (conditions !== undefined) {
    const object: Node = { ...node, status: { ...node.status, conditions } };
    const wasReady = readyStatus(node) === 'True';
    if (wasReady) events.push({ ...nodeEvent(node, 'NodeNotReady', `Node ${node.metadata.name} status is now: NodeNotReady`), after: 0 });
    return { actions: [{ do: 'update', type: nodes, object, subresource: 'status' }], events, requeueAfterMs: periodMs };
  }
  const actions: Action[] = [];
  const spec = wantedNode(node, observed.evict, now);
  if (spec !== node) actions.push({ do: 'update', type: nodes, object: spec });
  if (readyStatus(node) === 'Unknown') {
    for (const pod of observed.readyPods) {
      actions.push(notReady(pod, now));
      events.push({ about: pod, type: 'Warning', reason: 'NodeNotReady', message: 'Node is not ready', after: actions.length - 1 });
    }
  }
  return { actions, events, requeueAfterMs: periodMs };
}

const nodeEvent = (node: Node, reason: string, message: string): PlannedEvent => ({ about: node, type: 'Normal', reason, message });

/** What the kubelet should have told becomes Unknown; undefined when it is already. */
function silentConditions(node: Node, now: Date): NodeCondition[] | undefined {
  const conditions = [...(node.status?.conditions ?? [])];
  let changed = false;
  for (const type of REPORTED) {
    const at = conditions.findIndex((condition) => condition.type === type);
    const before = conditions[at];
    if (before?.status === 'Unknown') continue;
    changed = true;
    const [reason, message] = before
      ? ['NodeStatusUnknown', 'Kubelet stopped posting node status.']
      : ['NodeStatusNeverUpdated', 'Kubelet never posted node status.'];
    const heartbeat = before?.lastHeartbeatTime ?? node.metadata.creationTimestamp;
    const next: NodeCondition = {
      type,
      status: 'Unknown',
      ...(heartbeat && { lastHeartbeatTime: heartbeat }),
      lastTransitionTime: formatTime(now),
      reason,
      message,
    };
    conditions.splice(at < 0 ? conditions.length : at, at < 0 ? 0 : 1, next);
  }
  return changed ? conditions : undefined;
}

/** The node with the taints and labels it should have; the same object when it has them. */
function wantedNode(node: Node, evict: ObservedNode['evict'], now: Date): Node {
  const taints = wantedTaints(node, evict, now);
  const labels = { ...node.metadata.labels };
  for (const [current, old] of OLD_LABELS) if (labels[current] !== undefined) labels[old] = labels[current];
  const sameLabels = Object.entries(labels).every(([name, value]) => node.metadata.labels?.[name] === value);
  if (taints === (node.spec.taints ?? taints) && (node.spec.taints !== undefined || taints.length === 0) && sameLabels) return node;
  const { taints: _, ...spec } = node.spec;
  return { ...node, metadata: { ...node.metadata, labels }, spec: taints.length > 0 ? { ...spec, taints: [...taints] } : spec };
}

/** Nobody can tell whether the pod still serves: services must not send to it. */
const notReady = (pod: Pod, now: Date): Action => patchCondition(pod, { type: 'Ready', status: 'False' }, now);
