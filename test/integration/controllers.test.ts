/** The control loops against a real API server in this process; no scheduler and no kubelet, so pods stay as they are made. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ControllersOptions, controllersOptions } from '../../controllers/options.ts';
import { startControllers } from '../../controllers/start.ts';
import type { KubeObject } from '../../machinery/api/object.ts';
import { isReason } from '../../machinery/api/status.ts';
import type { Deployment } from '../../machinery/api/types/apps.v1.ts';
import type { ConfigMap, Namespace } from '../../machinery/api/types/core.v1.ts';
import type { Client } from '../../machinery/client/client.ts';
import {
  configmaps,
  deployments,
  namespaces,
  pods,
  type ResourceType,
  replicasets,
  serviceaccounts,
} from '../../machinery/client/resource-type.ts';
import { systemClock } from '../../machinery/process/clock.ts';
import { silentLogger } from '../../machinery/process/logger.ts';
import { optionsWith } from '../../machinery/process/options.ts';
import { systemRandom } from '../../machinery/process/random.ts';
import { startTestApiServer } from '../fixtures/apiserver.ts';
import { eventually } from '../fixtures/eventually.ts';

async function start(t: import('node:test').TestContext, more: Partial<ControllersOptions> = {}): Promise<Client> {
  const { client, kubeconfigPath } = await startTestApiServer(t);
  const abort = new AbortController();
  const options = optionsWith(controllersOptions, { kubeconfig: kubeconfigPath, securePort: 0, leaderElect: false, ...more });
  const running = await startControllers(options, { clock: systemClock, random: systemRandom, logger: silentLogger, signal: abort.signal });
  t.after(() => running.stop());
  await running.ready;
  return client;
}

const exists = (client: Client, type: ResourceType, namespace: string, name: string): Promise<boolean> =>
  client.get(type, { namespace, name }).then(
    () => true,
    (error: unknown) => {
      if (isReason(error, 'NotFound')) return false;
      throw error;
    },
  );

const map = (name: string, owner?: KubeObject, block = false): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    name,
    namespace: 'default',
    ...(owner && {
      ownerReferences: [
        { apiVersion: 'v1', kind: 'ConfigMap', name: owner.metadata.name!, uid: owner.metadata.uid!, blockOwnerDeletion: block },
      ],
    }),
  },
});

const deployment = (replicas: number): Deployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'default' },
  spec: {
    replicas,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'registry.example/web:1' }] } },
  },
});

test('a Deployment becomes a ReplicaSet and pods, a deleted pod is replaced, and all goes with the Deployment', async (t) => {
  const client = await start(t);
  await client.create(deployments, deployment(3));
  const names = async (): Promise<string[]> =>
    (await client.list(pods, { namespace: 'default' })).items.map((pod) => pod.metadata.name ?? '');
  await eventually('three pods', async () => (await names()).length === 3);
  const [first = ''] = await names();
  await client.delete(pods, { namespace: 'default', name: first });
  await eventually('a replacement', async () => (await names()).length === 3 && !(await names()).includes(first));
  await eventually(
    'counts in the status',
    async () => (await client.get(deployments, { namespace: 'default', name: 'web' })).status?.replicas === 3,
  );
  await client.delete(deployments, { namespace: 'default', name: 'web' }, { propagationPolicy: 'Background' });
  await eventually('nothing left', async () => (await names()).length === 0 && (await client.list(replicasets)).items.length === 0);
});

test('dependents go after their owner, before it, or not at all, as the deletion asks', async (t) => {
  const client = await start(t, { controllers: ['garbagecollector'] });
  const remove = (name: string, propagationPolicy: 'Background' | 'Foreground' | 'Orphan') =>
    client.delete(configmaps, { namespace: 'default', name }, { propagationPolicy });
  for (const policy of ['Background', 'Foreground', 'Orphan'] as const) {
    const name = policy.toLowerCase();
    const owner = await client.create(configmaps, map(name));
    const held = map(`${name}-dependent`, owner, true);
    if (policy === 'Foreground') held.metadata.finalizers = ['example.test/hold'];
    const dependent = await client.create(configmaps, held);
    await remove(name, policy);
    if (policy === 'Foreground') {
      await eventually(
        'the dependent is on its way',
        async () =>
          (await client.get(configmaps, { namespace: 'default', name: `${name}-dependent` })).metadata.deletionTimestamp !== undefined,
      );
      assert(await exists(client, configmaps, 'default', name), 'the owner waits');
      const patch = { metadata: { uid: dependent.metadata.uid, finalizers: null } };
      await client.patch(configmaps, { namespace: 'default', name: `${name}-dependent` }, 'application/merge-patch+json', patch);
    }
    await eventually(`${policy}: the owner is gone`, async () => !(await exists(client, configmaps, 'default', name)));
    if (policy === 'Orphan') {
      const kept = await client.get(configmaps, { namespace: 'default', name: `${name}-dependent` });
      assert.equal(kept.metadata.ownerReferences, undefined);
    } else
      await eventually(`${policy}: the dependent is gone`, async () => !(await exists(client, configmaps, 'default', `${name}-dependent`)));
  }
});

test('a namespace gets its account and certificate, and goes with all it holds', async (t) => {
  const client = await start(t, { controllers: ['namespace', 'serviceaccount', 'root-ca-cert-publisher'] });
  const namespace: Namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' }, spec: {} };
  await client.create(namespaces, namespace);
  await eventually(
    'an account and a certificate',
    async () => (await exists(client, serviceaccounts, 'n', 'default')) && (await exists(client, configmaps, 'n', 'kube-root-ca.crt')),
  );
  const held = { ...map('held'), metadata: { name: 'held', namespace: 'n', finalizers: ['example.test/hold'] } };
  await client.create(configmaps, held);
  await client.delete(namespaces, { name: 'n' });
  await eventually('it tells what is left', async () => {
    const conditions = (await client.get(namespaces, { name: 'n' })).status?.conditions ?? [];
    return conditions.some(
      (c) =>
        c.type === 'NamespaceFinalizersRemaining' &&
        c.message === 'Some content in the namespace has finalizers remaining: example.test/hold in 1 resource instances',
    );
  });
  await client.patch(configmaps, { namespace: 'n', name: 'held' }, 'application/merge-patch+json', { metadata: { finalizers: null } });
  await eventually('it is gone', async () => !(await exists(client, namespaces, '', 'n')));
});

test('a loop that does not exist is refused by name', async (t) => {
  await assert.rejects(start(t, { controllers: ['*', '-nonsense'] }), /"-nonsense" is no controller; there are namespace, /);
});
