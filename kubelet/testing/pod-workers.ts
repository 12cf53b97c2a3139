/** Fixtures of the kubelet's tests: pods with defaults, a runtime in a temporary directory, a client that remembers what it is told. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { strategicMerge } from '../../machinery/api/patch/strategic.ts';
import { typeSchema } from '../../machinery/api/schema/schema.ts';
import { notFound } from '../../machinery/api/status.ts';
import type { Container, Node, Pod, PodStatus } from '../../machinery/api/types/core.v1.ts';
import type { Client } from '../../machinery/client/client.ts';
import { silentLogger } from '../../machinery/process/logger.ts';
import { seededRandom } from '../../machinery/process/random.ts';
import { FakeClock } from '../../machinery/process/testing/fake-clock.ts';
import { admitResize } from '../node/admission.ts';
import { UPSTREAM_LIMITS } from '../pod/back-off.ts';
import type { PodEvent } from '../pod/pod-events.ts';
import { PodWorkers } from '../pod/pod-worker.ts';
import type { Runtime } from '../runtime/interface.ts';
import { createSimulatedRuntime } from '../runtime/simulated.ts';

const podSchema = typeSchema('core.v1.Pod');

export interface PodOptions {
  readonly name?: string;
  readonly annotations?: Record<string, string>;
  readonly spec?: Partial<Pod['spec']>;
  readonly owner?: string;
}

export function makeContainer(overrides: Partial<Container> = {}): Container {
  return { name: 'c', image: 'registry.example/web:1', imagePullPolicy: 'IfNotPresent', ...overrides };
}

export function makePod({ name = 'p', annotations, spec, owner }: PodOptions = {}): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'default',
      uid: `uid-${name}`,
      resourceVersion: '1',
      generation: 1,
      ...(annotations && { annotations }),
      ...(owner && { ownerReferences: [{ apiVersion: 'batch/v1', kind: owner, name: 'o', uid: 'o', controller: true }] }),
    },
    spec: { containers: [makeContainer()], restartPolicy: 'Always', nodeName: 'n-1', terminationGracePeriodSeconds: 30, ...spec },
    status: { phase: 'Pending', qosClass: 'BestEffort', conditions: [{ type: 'PodScheduled', status: 'True' }] },
  };
}

export interface Rig {
  readonly clock: FakeClock;
  readonly workers: PodWorkers;
  runtime: Runtime;
  readonly events: PodEvent[];
  /** Every status written, in order. */
  readonly writes: PodStatus[];
  readonly deletes: string[];
  /** ConfigMaps and Secrets, by name. */
  readonly objects: Map<string, object>;
  /** What the API has of the pod after the last write. */
  pod(name?: string): Pod;
  /** Tells the workers of a pod, as the watch does. */
  tell(pod: Pod): void;
  /** A new process beside the same state file. */
  restart(): Rig;
}

/** Pod workers over a simulated runtime; the watch sees every write at once. */
export function makeRig(t: TestContext, options: { directory?: string; clock?: FakeClock; seen?: Map<string, Pod> } = {}): Rig {
  const directory = options.directory ?? mkdtempSync(join(tmpdir(), 'kubelet-'));
  if (!options.directory) t.after(() => rmSync(directory, { recursive: true, force: true }));
  const clock = options.clock ?? new FakeClock();
  const pods = options.seen ?? new Map<string, Pod>();
  const [events, writes, deletes]: [PodEvent[], PodStatus[], string[]] = [[], [], []];
  const objects = new Map<string, object>();
  let revision = 1;
  const node = { status: { allocatable: { cpu: '4', memory: '4Gi', pods: '110' } } } as unknown as Node;
  const client = {
    get: async (type: { group: string; resource: string }, { name }: { name: string }) => {
      const found = objects.get(name);
      if (!found) throw notFound(type, name);
      return found;
    },
    patch: async (_type: unknown, { name }: { name: string }, _kind: unknown, patch: { status: Record<string, unknown> }) => {
      const old = pods.get(name) as Pod;
      const merged = strategicMerge(podSchema, structuredClone(old) as never, { status: patch.status }) as unknown as Pod;
      const pod: Pod = { ...merged, metadata: { ...old.metadata, resourceVersion: String(++revision) } };
      const status = pod.status as PodStatus;
      writes.push(status);
      pods.set(name, pod);
      workers.podChanged(pod);
      return pod;
    },
    delete: async (_type: unknown, { name }: { name: string }) => {
      deletes.push(name);
      const pod = pods.get(name);
      pods.delete(name);
      if (pod) workers.podGone(pod.metadata.uid as string);
    },
  } as unknown as Client;
  const runtime = createSimulatedRuntime({
    clock,
    random: seededRandom(7),
    stateFile: join(directory, 'n-1', 'state'),
    cidr: () => '10.1.0.0/24',
    hostIp: '127.0.0.1',
  });
  const workers = new PodWorkers({
    client,
    runtime,
    clock,
    logger: silentLogger,
    hostIp: '127.0.0.1',
    limits: UPSTREAM_LIMITS,
    tell: (_pod, event) => events.push(event),
    admit: () => undefined,
    admitResize: (pod, accepted) => admitResize(pod, accepted, node),
  });
  const tell = (pod: Pod): void => {
    pods.set(pod.metadata.name as string, pod);
    workers.podChanged(pod);
  };
  return {
    clock,
    workers,
    runtime,
    events,
    writes,
    deletes,
    objects,
    pod: (name = 'p') => pods.get(name) as Pod,
    tell,
    restart: () => {
      runtime.close();
      return makeRig(t, { directory, clock, seen: pods });
    },
  };
}
