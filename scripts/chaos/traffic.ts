/**
 * What users do meanwhile: writers that create and update ConfigMaps and keep a history of each answer, and one operator that rolls out, scales and
 * deletes. Which things the operator does is drawn from the seed; when they succeed depends on what is being killed.
 * Invariant: when it has ended, every deployment of the list below exists and nobody changes it any more.
 */
import { isReason } from '../../machinery/api/status.ts';
import type { Deployment } from '../../machinery/api/types/apps.v1.ts';
import type { ConfigMap } from '../../machinery/api/types/core.v1.ts';
import type { Client, DeleteParams } from '../../machinery/client/client.ts';
import { configmaps, deployments, namespaces, pods } from '../../machinery/client/resource-type.ts';
import type { Random } from '../../machinery/process/random.ts';
import { sleep, type Write } from './history.ts';

const NAMESPACE = 'default';
const SLOTS = 20;
const PAUSE_MS = 20;

const configmap = (name: string, value: number, resourceVersion?: string): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: NAMESPACE, ...(resourceVersion !== undefined && { resourceVersion }) },
  data: { value: String(value) },
});

/**
 * Writes its names in turn. Every update names the version it replaces, so that one that was left unanswered cannot happen late, after its successor;
 * after such a one the version is read anew.
 */
export async function writeConfigMaps(client: Client, writer: number, signal: AbortSignal, writes: Write[]): Promise<void> {
  const versions = new Map<string, string>();
  for (let value = 0; !signal.aborted; value++) {
    const name = `chaos-${writer}-${value % SLOTS}`;
    try {
      const version = versions.get(name) ?? (value < SLOTS ? undefined : await versionOf(client, name));
      const object = configmap(name, value, version);
      try {
        const { metadata } = await (version === undefined ? client.create(configmaps, object) : client.update(configmaps, object));
        writes.push({ name, value, revision: Number(metadata.resourceVersion) });
        versions.set(name, metadata.resourceVersion!);
      } catch (error) {
        versions.delete(name);
        // a refusal is an answer: it did not happen
        if (!isReason(error, 'Conflict', 'AlreadyExists')) writes.push({ name, value });
        throw error;
      }
    } catch {
      await sleep(PAUSE_MS * 5, signal);
    }
    await sleep(PAUSE_MS, signal);
  }
}

async function versionOf(client: Client, name: string): Promise<string | undefined> {
  try {
    return (await client.get(configmaps, { namespace: NAMESPACE, name })).metadata.resourceVersion;
  } catch (error) {
    if (isReason(error, 'NotFound')) return undefined;
    throw error;
  }
}

interface Shape {
  readonly name: string;
  readonly replicas: number;
  readonly maxSurge: number | string;
  readonly maxUnavailable: number | string;
}

const SHAPES: readonly Shape[] = [
  { name: 'surge', replicas: 6, maxSurge: 1, maxUnavailable: 0 },
  { name: 'percent', replicas: 8, maxSurge: '25%', maxUnavailable: '25%' },
  { name: 'double', replicas: 4, maxSurge: '100%', maxUnavailable: 0 },
  { name: 'shrink', replicas: 6, maxSurge: 0, maxUnavailable: '50%' },
];

function deployment({ name, replicas, maxSurge, maxUnavailable }: Shape, image: number, namespace = NAMESPACE): Deployment {
  const labels = { app: name };
  const containers = [{ name: 'web', image: `registry.example/web:${image}` }];
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace },
    spec: {
      replicas,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } },
      selector: { matchLabels: labels },
      // ending takes time, so that pods are seen terminating
      template: {
        metadata: { labels, annotations: { 'flyball.dev/stop-time': '300ms' } },
        spec: { terminationGracePeriodSeconds: 2, containers },
      },
    },
  };
}

export interface OperatorDeps {
  readonly client: Client;
  readonly random: Random;
  readonly signal: AbortSignal;
  readonly count: (what: string) => void;
}

/** Does one thing after the other until the signal aborts; what it has begun it ends. */
export async function operate({ client, random, signal, count }: OperatorDeps): Promise<void> {
  let image = 1;
  const pick = <T>(of: readonly T[]): T => of[random.integer(of.length)]!;
  const patch = (name: string, body: unknown): Promise<unknown> =>
    insist(() => client.patch(deployments, { namespace: NAMESPACE, name }, 'application/strategic-merge-patch+json', body));
  for (const shape of SHAPES) await insist(() => client.create(deployments, deployment(shape, image)), 'AlreadyExists');

  const acts: readonly (readonly [upTo: number, what: string, act: (shape: Shape) => Promise<unknown>])[] = [
    [
      50,
      'rollouts',
      ({ name }) =>
        patch(name, { spec: { template: { spec: { containers: [{ name: 'web', image: `registry.example/web:${++image}` }] } } } }),
    ],
    [70, 'scalings', ({ name }) => patch(name, { spec: { replicas: 1 + random.integer(10) } })],
    [
      85,
      'pods deleted',
      async ({ name }) => {
        // drawn first: what is drawn must not depend on what is there
        const which = random.next();
        const params = pick<DeleteParams>([{}, { gracePeriodSeconds: 0 }, { gracePeriodSeconds: 1 }]);
        const { items } = await insist(() => client.list(pods, { namespace: NAMESPACE, labelSelector: `app=${name}` }));
        const pod = items[Math.floor(which * items.length)];
        if (pod) await insist(() => client.delete(pods, nameOf(pod), params), 'NotFound');
      },
    ],
    [
      95,
      'deployments deleted and made again',
      async (shape) => {
        const params: DeleteParams = { propagationPolicy: pick(['Foreground', 'Background', 'Orphan'] as const) };
        await insist(() => client.delete(deployments, { namespace: NAMESPACE, name: shape.name }, params), 'NotFound');
        await sleep(random.integer(800));
        await makeAgain(client, deployment(shape, image));
      },
    ],
    [
      100,
      'namespaces made and deleted',
      async (shape) => {
        const name = `chaos-${image}-${random.integer(1e6)}`;
        await insist(
          () => client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name }, spec: {} }),
          'AlreadyExists',
        );
        await insist(() => client.create(deployments, deployment(shape, image, name)), 'AlreadyExists');
        await sleep(random.integer(1500));
        await insist(() => client.delete(namespaces, { name }), 'NotFound', 'Conflict');
      },
    ],
  ];
  while (!signal.aborted) {
    const shape = pick(SHAPES);
    const draw = random.next() * 100;
    const [, what, act] = acts.find(([upTo]) => draw < upTo)!;
    await act(shape);
    count(what);
    await sleep(50 + random.integer(500), signal);
  }
}

const nameOf = ({ metadata: { namespace, name } }: { metadata: { namespace?: string; name?: string } }) => ({
  namespace: namespace!,
  name: name!,
});

const INSIST_MS = 120_000;

/** Until the server has answered. An answer with one of `fine` counts as done; any other refusal is a defect and ends the run. */
async function insist<T>(request: () => Promise<T>, ...fine: string[]): Promise<T> {
  const end = performance.now() + INSIST_MS;
  for (;;) {
    try {
      return await request();
    } catch (error) {
      if (isReason(error, ...fine)) return undefined as T;
      const refused =
        'status' in (error as object) &&
        !isReason(error, 'InternalError', 'ServiceUnavailable', 'Timeout', 'ServerTimeout', 'TooManyRequests');
      if (refused || performance.now() > end) throw error;
      await sleep(PAUSE_MS * 5);
    }
  }
}

/** Waits for the end of the old one, which takes as long as its pods in the foreground. */
async function makeAgain(client: Client, object: Deployment): Promise<void> {
  const end = performance.now() + INSIST_MS;
  for (;;) {
    const made = await insist(() => client.create(deployments, object), 'AlreadyExists');
    if (made) return;
    const there = await insist(() => client.get(deployments, nameOf(object)), 'NotFound');
    // an unanswered create that has happened
    if (there && there.metadata.deletionTimestamp === undefined) return;
    if (performance.now() > end)
      throw new Error(`deployment ${object.metadata.name} is still there ${INSIST_MS / 1000} s after its deletion`);
    await sleep(100);
  }
}
