/** Seeded bugs of those who use the API: informers, leader election, loops, the garbage collector, kubelets (E1, K1, K2, K6, X4, N4). */
import { setMaxListeners } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Collector } from '../../../controllers/garbagecollector/collector.ts';
import { Graph } from '../../../controllers/garbagecollector/graph.ts';
import { replicasetController } from '../../../controllers/replicaset.ts';
import { play } from '../../../controllers/testing/rollout.ts';
import { UPSTREAM_LIMITS } from '../../../kubelet/pod/back-off.ts';
import { PodWorkers } from '../../../kubelet/pod/pod-worker.ts';
import { createSimulatedRuntime } from '../../../kubelet/runtime/simulated.ts';
import { makePod } from '../../../kubelet/testing/pod-workers.ts';
import type { KubeObject } from '../../../machinery/api/object.ts';
import type { ReplicaSet } from '../../../machinery/api/types/apps.v1.ts';
import type { ConfigMap } from '../../../machinery/api/types/core.v1.ts';
import type { Client, WatchEvent, WatchParams } from '../../../machinery/client/client.ts';
import type { EventRecorder } from '../../../machinery/client/event-recorder.ts';
import { createInformerFactory } from '../../../machinery/client/informers.ts';
import { type Leadership, lead } from '../../../machinery/client/leader-election.ts';
import { configmaps, pods, type ResourceType, replicasets } from '../../../machinery/client/resource-type.ts';
import { MemoryClient } from '../../../machinery/client/testing/memory-client.ts';
import { runController } from '../../../machinery/loop/run.ts';
import { silentLogger } from '../../../machinery/process/logger.ts';
import { seededRandom } from '../../../machinery/process/random.ts';
import { FakeClock, settle } from '../../../machinery/process/testing/fake-clock.ts';
import { closeLater, type Scenario } from './scenario.ts';

const nobody: EventRecorder = { event: () => undefined, flush: async () => undefined };
const aborted = (): { stop: AbortController } => {
  const stop = new AbortController();
  closeLater(async () => stop.abort(new Error('the story has ended')));
  return { stop };
};

/** An informer of configmaps over `watch`; what its copy holds once it rests. */
async function copyOver(watch: (params: WatchParams) => readonly WatchEvent<KubeObject>[]): Promise<string[]> {
  const { stop } = aborted();
  const clock = new FakeClock();
  const client = {
    async *watch(_type: ResourceType, params: WatchParams, signal: AbortSignal) {
      const events = watch(params);
      yield* events;
      // the first watch breaks off, later ones hold
      if (params.sendInitialEvents !== true) await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    },
  } as unknown as Client;
  const factory = createInformerFactory(client, { clock, random: seededRandom(1), logger: silentLogger });
  const informer = factory.for(configmaps);
  factory.start(stop.signal);
  for (let i = 0; i < 5; i++) await clock.advance(1_000);
  return informer.list().map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`);
}

const map = (name: string, revision: number): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'ns', uid: name, resourceVersion: String(revision) },
});
const complete = (revision: number): WatchEvent<KubeObject> => ({
  type: 'BOOKMARK',
  object: { metadata: { resourceVersion: String(revision), annotations: { 'k8s.io/initial-events-end': 'true' } } },
});
const differs = (what: string, found: readonly string[], wanted: readonly string[]): string[] =>
  found.join() === wanted.join() ? [] : [`${what}: the copy holds ${found.join(', ') || 'nothing'} instead of ${wanted.join(', ')}`];

async function heldThoughExpired(): Promise<string[]> {
  const [client, clock, { stop }] = [new MemoryClient(), new FakeClock(), aborted()];
  let leadership: Leadership | undefined;
  const config = {
    client,
    namespace: 'kube-system',
    name: 'kcm',
    clock,
    random: seededRandom(1),
    logger: silentLogger,
    signal: stop.signal,
  };
  const leading = lead(config, async (given) => {
    leadership = given;
    await new Promise((resolve) => given.signal.addEventListener('abort', resolve, { once: true }));
  }).catch(() => undefined);
  await settle();
  // the server is gone, the lease runs out for everyone else, and the wall clock is set back
  client.intercept = () => {
    throw new Error('no answer');
  };
  clock.jumpWallClock(-3_600_000);
  await clock.advance(16_000);
  const held = leadership?.held() ?? false;
  client.intercept = () => undefined;
  stop.abort(new Error('the story has ended'));
  await clock.advance(10_000);
  await leading;
  return held ? ['E1: a leader believes in a lease that ran out a second ago'] : [];
}

async function namesakeSurvives(): Promise<string[]> {
  const directory = mkdtempSync(join(tmpdir(), 'flyball-kubelet-'));
  const [client, clock] = [new MemoryClient(), new FakeClock()];
  const runtime = createSimulatedRuntime({
    clock,
    random: seededRandom(7),
    stateFile: join(directory, 'state'),
    cidr: () => '10.1.0.0/24',
    hostIp: '127.0.0.1',
  });
  const decisions = { tell: () => undefined, admit: () => undefined, admitResize: () => undefined };
  const workers = new PodWorkers({
    ...decisions,
    client,
    runtime,
    clock,
    logger: silentLogger,
    hostIp: '127.0.0.1',
    limits: UPSTREAM_LIMITS,
  });
  closeLater(async () => {
    await workers.stop();
    runtime.close();
    rmSync(directory, { recursive: true, force: true });
  });
  const first = await client.create(pods, makePod());
  workers.podChanged(first);
  await clock.advance(2_000);
  const deletionTimestamp = new Date(clock.now().getTime() + 1_000).toISOString();
  workers.podChanged({ ...first, metadata: { ...first.metadata, deletionTimestamp, deletionGracePeriodSeconds: 1 } });
  // somebody forces the deletion and makes a new pod of that name, of which this kubelet has not heard
  await client.delete(pods, { namespace: 'default', name: 'p' });
  await client.create(pods, makePod());
  await clock.advance(60_000);
  return client.objects.has('pods|default/p') ? [] : ['N4: a kubelet has deleted the new pod of an old name'];
}

async function ownerIsAsked(): Promise<string[]> {
  const client = new MemoryClient();
  const types = [configmaps, pods].map((type) => ({ ...type, verbs: ['get', 'list', 'delete', 'patch'] }));
  const owner = await client.create(configmaps, map('owner', 0));
  const { name = '', uid = '' } = owner.metadata;
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name, uid }];
  const pod = await client.create(pods, { ...makePod(), metadata: { name: 'p', namespace: 'ns', ownerReferences } });
  // the copy knows the pod already, its owner not yet
  const graph = new Graph();
  graph.set(pods, pod);
  const collector = new Collector({ client, recorder: nobody, graph, resources: () => types, enqueue: () => undefined });
  await collector.process(pod.metadata.uid ?? '');
  return client.objects.has('pods|ns/p') ? [] : ['X4: a pod was collected though its owner is there'];
}

/** A ReplicaSet whose pods its own loop hears of late: how many it makes. */
async function madeWhileLate(): Promise<string[]> {
  const REPLICAS = 3;
  const [client, clock, { stop }] = [new MemoryClient(), new FakeClock(), aborted()];
  const random = seededRandom(1);
  const informers = createInformerFactory(client, { clock, random, logger: silentLogger });
  setMaxListeners(0, stop.signal); // every key that waits listens to it
  const context = { client, informers, recorder: () => nobody, clock, random, logger: silentLogger, signal: stop.signal };
  const running = runController(replicasetController(), context);
  informers.start(stop.signal);
  await settle();
  const release = client.hold(pods);
  const spec: ReplicaSet['spec'] = {
    replicas: REPLICAS,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: makePod().spec },
  };
  let rs: ReplicaSet = await client.create(replicasets, {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name: 'web', namespace: 'ns' },
    spec,
  });
  for (let i = 0; i < 5; i++) {
    await clock.advance(2_000);
    rs = (await client.get(replicasets, { namespace: 'ns', name: 'web' })) as ReplicaSet;
    await client.update(replicasets, { ...rs, metadata: { ...rs.metadata, annotations: { touched: String(i) } } });
  }
  const made = client.writes.filter(({ verb, resource }) => verb === 'create' && resource === 'pods').length;
  release();
  await clock.advance(1_000);
  stop.abort(new Error('the story has ended'));
  await running;
  await informers.done;
  return made > REPLICAS ? [`K6: ${made} pods were made for ${REPLICAS} replicas`] : [];
}

/** Rollouts in random order with late copies and kills; the seeds are fixed, so it is always the same ones. */
function rollouts(): string[] {
  const violations: string[] = [];
  for (let seed = 1; seed <= 40; seed++) {
    const scenario = { seed, replicas: 6, surge: 0, unavailable: 2, recreate: false, together: seed % 2 === 0, scaled: false, steps: 300 };
    try {
      play(scenario);
    } catch (error) {
      violations.push(`K2: rollout ${seed}: ${(error as Error).message}`);
    }
  }
  return violations;
}

export const loopMutants: readonly Scenario[] = [
  {
    mutant: 'informer.first-state-old',
    guarantee: 'K6',
    run: async () => {
      // a server that has an old state at hand for those whom any will do
      const state = (params: WatchParams): readonly WatchEvent<KubeObject>[] =>
        params.resourceVersion === '0'
          ? [{ type: 'ADDED', object: map('a', 3) }, complete(3)]
          : [{ type: 'ADDED', object: map('b', 5) }, complete(6)];
      const found = await copyOver((params) => (params.sendInitialEvents ? state(params) : []));
      return differs('K6: after its first state', found, ['b@5']);
    },
  },
  {
    mutant: 'informer.restarts-at-newest',
    guarantee: 'W2',
    run: async () => {
      // a was deleted at 7 while nobody watched
      const missed: readonly WatchEvent<KubeObject>[] = [{ type: 'DELETED', object: map('a', 7) }];
      const first: readonly WatchEvent<KubeObject>[] = [
        { type: 'ADDED', object: map('a', 3) },
        { type: 'ADDED', object: map('b', 5) },
        complete(6),
      ];
      const found = await copyOver(({ sendInitialEvents, resourceVersion }) =>
        sendInitialEvents ? first : resourceVersion === '6' ? missed : [],
      );
      return differs('W2: after its watch broke off', found, ['b@5']);
    },
  },
  { mutant: 'lease.wall-clock', guarantee: 'E1', run: heldThoughExpired },
  { mutant: 'kubelet.uid-ignored', guarantee: 'N4', run: namesakeSurvives },
  { mutant: 'gc.no-live-check', guarantee: 'X4', run: ownerIsAsked },
  { mutant: 'loop.freshness-off', guarantee: 'K6', run: madeWhileLate },
  { mutant: 'deployment.trusts-sizes', guarantee: 'K2', run: async () => rollouts() },
];
