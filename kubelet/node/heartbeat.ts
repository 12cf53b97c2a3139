/**
 * How a node says that it lives: a Lease in kube-node-lease renewed every 10 s, and its status when something changed or 5 minutes have passed.
 * Mirrors upstream `component-helpers/apimachinery/lease` and `kubelet_node_status.go`.
 *
 * Invariant: a node registers before it heartbeats, and registers again when its object has been deleted.
 */
import { isReason } from '../../machinery/api/status.ts';
import { formatMicroTime } from '../../machinery/api/time.ts';
import type { Lease } from '../../machinery/api/types/coordination.k8s.io.v1.ts';
import type { Node } from '../../machinery/api/types/core.v1.ts';
import { Backoff } from '../../machinery/client/backoff.ts';
import type { Client } from '../../machinery/client/client.ts';
import { ConnectionError } from '../../machinery/client/errors.ts';
import { leases, nodes } from '../../machinery/client/resource-type.ts';
import type { Clock } from '../../machinery/process/clock.ts';
import type { Logger } from '../../machinery/process/logger.ts';
import type { Random } from '../../machinery/process/random.ts';
import { type NodeFacts, newlyHealthy, newNode, nodeLabels, nodeStatus, nodeStatusDiffers } from './node-status.ts';

export interface HeartbeatDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  readonly facts: NodeFacts;
  /** False for a node that somebody else made: it is looked after, but not made again. */
  readonly register: boolean;
  readonly leaseDurationMs: number;
  readonly statusUpdateMs: number;
  readonly statusReportMs: number;
  readonly node: () => Node | undefined;
  /** An event about the node. */
  readonly tell: (reason: string, message: string) => void;
}

const LEASE_NAMESPACE = 'kube-node-lease';
const RETRY_MS = { first: 100, most: 7_000 };

/** Registers the node, retrying until it works; settles with the object. */
export async function registerNode(deps: HeartbeatDeps): Promise<Node> {
  const backoff = new Backoff(deps);
  for (;;) {
    try {
      return await registerOnce(deps);
    } catch (error) {
      if (deps.signal.aborted) throw error;
      // a whole cluster starts at once: that the API server does not listen yet is nothing to worry about
      const isEarly = error instanceof ConnectionError && error.refused;
      deps.logger[isEarly ? 'info' : 'warn']({ err: error, node: deps.facts.name }, 'registering the node failed, will be retried');
      await deps.clock.sleep(backoff.next(error), deps.signal);
    }
  }
}

async function registerOnce(deps: HeartbeatDeps): Promise<Node> {
  const { client, facts, clock, register } = deps;
  try {
    if (register) {
      const made = await client.create(nodes, newNode(facts, clock.now()));
      tellHealth(deps, undefined);
      return nodeStatusDiffers(made.status, nodeStatus(facts, made.status, clock.now())) ? await writeStatus(deps, made) : made;
    }
  } catch (error) {
    if (!isReason(error, 'AlreadyExists')) throw error;
  }
  const existing = await client.get(nodes, { name: facts.name });
  const missing = Object.entries(nodeLabels(facts)).filter(([key, value]) => existing.metadata.labels?.[key] !== value);
  if (register && missing.length > 0) {
    await client.patch(nodes, { name: facts.name }, 'application/strategic-merge-patch+json', {
      metadata: { labels: Object.fromEntries(missing) },
    });
  }
  return writeStatus(deps, existing);
}

async function writeStatus(deps: HeartbeatDeps, node: Node): Promise<Node> {
  const { client, facts, clock } = deps;
  const status = nodeStatus(facts, node.status, clock.now());
  const stale = (node.status?.addresses ?? []).filter((old) => !status.addresses?.some((address) => address.type === old.type));
  const patch = {
    status: {
      ...status,
      ...(stale.length > 0 && { addresses: [...(status.addresses ?? []), ...stale.map((old) => ({ type: old.type, $patch: 'delete' }))] }),
    },
  };
  const written = await client.patch(nodes, { name: facts.name }, 'application/strategic-merge-patch+json', patch, {
    subresource: 'status',
  });
  tellHealth(deps, node);
  return written;
}

/** Upstream's recordNodeStatusEvent. */
function tellHealth({ facts, tell }: HeartbeatDeps, before: Node | undefined): void {
  for (const reason of newlyHealthy(before?.status)) tell(reason, `Node ${facts.name} status is now: ${reason}`);
}

/** Writes the status when it differs from the truth or was last written long ago; makes the node again when it is gone. Runs until aborted. */
export async function reportStatus(deps: HeartbeatDeps): Promise<void> {
  const { clock, signal, facts } = deps;
  let reportedAtMs = clock.monotonicMs();
  while (!signal.aborted) {
    await clock.sleep(deps.statusUpdateMs, signal);
    try {
      const node = deps.node();
      if (!node) {
        if (deps.register) await registerOnce(deps);
        continue;
      }
      const due = clock.monotonicMs() - reportedAtMs >= deps.statusReportMs;
      if (!due && !nodeStatusDiffers(node.status, nodeStatus(facts, node.status, clock.now()))) continue;
      await writeStatus(deps, node);
      reportedAtMs = clock.monotonicMs();
    } catch (error) {
      if (signal.aborted) return;
      deps.logger.warn({ err: error, node: facts.name }, 'reporting the node status failed');
    }
  }
}

/** Renews the Lease every quarter of its duration. Runs until aborted. */
export async function renewLease(deps: HeartbeatDeps): Promise<void> {
  const { clock, signal, facts } = deps;
  let lease: Lease | undefined;
  let delay = RETRY_MS.first;
  while (!signal.aborted) {
    try {
      lease = await renewOnce(deps, lease);
      delay = RETRY_MS.first;
      await clock.sleep(deps.leaseDurationMs / 4, signal);
    } catch (error) {
      if (signal.aborted) return;
      // A conflict or a deleted Lease: read it again and renew what is there.
      lease = undefined;
      if (!isReason(error, 'Conflict', 'NotFound')) deps.logger.warn({ err: error, node: facts.name }, 'renewing the node lease failed');
      await clock.sleep(delay, signal).catch(() => undefined);
      delay = Math.min(delay * 2, RETRY_MS.most);
    }
  }
}

/** Whether this process may look after a node that nobody has: the first to make its Lease, or the one that Lease names. */
export async function claimNode(client: Client, node: string, adopter: string): Promise<boolean> {
  const name = { namespace: LEASE_NAMESPACE, name: node };
  try {
    await client.create(leases, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: name, spec: { holderIdentity: adopter } });
    return true;
  } catch (error) {
    if (!isReason(error, 'AlreadyExists')) throw error;
    return (await client.get(leases, name)).spec?.holderIdentity === adopter;
  }
}

async function renewOnce(deps: HeartbeatDeps, known: Lease | undefined): Promise<Lease> {
  const { client, facts, clock } = deps;
  const name = { namespace: LEASE_NAMESPACE, name: facts.name };
  const node = deps.node();
  const owner = node && [{ apiVersion: 'v1', kind: 'Node', name: facts.name, uid: node.metadata.uid as string }];
  const spec = {
    holderIdentity: facts.adoptedBy ?? facts.name,
    leaseDurationSeconds: Math.max(1, Math.round(deps.leaseDurationMs / 1000)),
    renewTime: formatMicroTime(clock.now()),
  };
  let lease = known;
  if (!lease) {
    try {
      lease = await client.get(leases, name);
    } catch (error) {
      if (!isReason(error, 'NotFound')) throw error;
      return client.create(leases, {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { ...name, ...(owner && { ownerReferences: owner }) },
        spec,
      });
    }
  }
  const metadata = owner ? { ...lease.metadata, ownerReferences: owner } : lease.metadata;
  return client.update(leases, { ...lease, metadata, spec: { ...lease.spec, ...spec } });
}
