/** The official JavaScript client, as an operator written with it uses it: typed calls, every patch, lists in pages, watch, informer, apply, scale. */
import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import {
  AppsV1Api,
  CoreV1Api,
  KubeConfig,
  KubernetesObjectApi,
  Log,
  makeInformer,
  PatchStrategy,
  setHeaderOptions,
  type V1ConfigMap,
  VersionApi,
  Watch,
} from '@kubernetes/client-node';
import { deployments } from '../../../machinery/client/resource-type.ts';
import { startTestCluster } from '../../fixtures/cluster.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { complete, deployment } from '../../fixtures/workloads.ts';

const namespace = 'default';
const map = (name: string, data: Record<string, string> = { k: 'v' }): V1ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, labels: { part: 'js' } },
  data,
});

test('@kubernetes/client-node', async (t) => {
  const { cluster, client } = await startTestCluster(t);
  const config = new KubeConfig();
  config.loadFromFile(cluster.kubeconfig);
  const core = config.makeApiClient(CoreV1Api);
  const apps = config.makeApiClient(AppsV1Api);

  await t.test('knows the version', async () => {
    assert.match((await config.makeApiClient(VersionApi).getCode()).gitVersion, /^v1\.36\./);
  });

  await t.test('creates, reads, replaces and deletes; errors carry code and Status', async () => {
    const made = await core.createNamespacedConfigMap({ namespace, body: map('a') });
    assert.ok(made.metadata?.creationTimestamp instanceof Date);
    const replaced = await core.replaceNamespacedConfigMap({ namespace, name: 'a', body: { ...made, data: { k: 'w' } } });
    assert.deepEqual(replaced.data, { k: 'w' });
    await assert.rejects(
      core.replaceNamespacedConfigMap({ namespace, name: 'a', body: made }),
      (error: { code?: number; body?: string }) => {
        assert.equal(error.code, 409);
        assert.equal(JSON.parse(error.body ?? '').reason, 'Conflict');
        return true;
      },
    );
    await core.deleteNamespacedConfigMap({ namespace, name: 'a' });
    await assert.rejects(core.readNamespacedConfigMap({ namespace, name: 'a' }), (error: { code?: number }) => error.code === 404);
  });

  await t.test('patches in every manner', async () => {
    await core.createNamespacedConfigMap({ namespace, body: map('p') });
    const patch = async (strategy: PatchStrategy, body: unknown, more: object = {}) =>
      (await core.patchNamespacedConfigMap({ namespace, name: 'p', body, ...more }, setHeaderOptions('Content-Type', strategy))).data;
    assert.deepEqual(await patch(PatchStrategy.JsonPatch, [{ op: 'add', path: '/data/j', value: '1' }]), { k: 'v', j: '1' });
    assert.deepEqual(await patch(PatchStrategy.MergePatch, { data: { j: null, m: '2' } }), { k: 'v', m: '2' });
    assert.deepEqual(await patch(PatchStrategy.StrategicMergePatch, { data: { s: '3' } }), { k: 'v', m: '2', s: '3' });
    const applied = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'p' }, data: { z: '4' } };
    assert.deepEqual(await patch(PatchStrategy.ServerSideApply, applied, { fieldManager: 'js', force: true }), {
      k: 'v',
      m: '2',
      s: '3',
      z: '4',
    });
    delete (applied.data as { z?: string }).z;
    assert.deepEqual(await patch(PatchStrategy.ServerSideApply, applied, { fieldManager: 'js' }), { k: 'v', m: '2', s: '3' });
  });

  await t.test('lists in pages, with selectors', async () => {
    for (const name of ['l1', 'l2', 'l3']) await core.createNamespacedConfigMap({ namespace, body: map(name) });
    const names: (string | undefined)[] = [];
    let _continue: string | undefined;
    do {
      const page = await core.listNamespacedConfigMap({ namespace, labelSelector: 'part=js', limit: 2, ...(_continue && { _continue }) });
      names.push(...page.items.map((item) => item.metadata?.name));
      _continue = page.metadata?._continue;
    } while (_continue);
    assert.deepEqual(names, ['l1', 'l2', 'l3', 'p']);
    const one = await core.listNamespacedConfigMap({ namespace, fieldSelector: 'metadata.name=l2' });
    assert.equal(one.items.length, 1);
  });

  await t.test('watches, and an informer keeps up', async () => {
    const seen: string[] = [];
    const { metadata } = await core.listNamespacedConfigMap({ namespace });
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    const abort = await new Watch(config).watch(
      path,
      { resourceVersion: metadata?.resourceVersion, allowWatchBookmarks: true },
      (type: string, object: V1ConfigMap) => seen.push(`${type} ${object.metadata?.name}`),
      () => {},
    );
    t.after(() => abort.abort());

    const informer = makeInformer(config, path, () => core.listNamespacedConfigMap({ namespace }), 'part=js');
    const told: string[] = [];
    for (const event of ['add', 'update', 'delete'] as const)
      informer.on(event, (object) => told.push(`${event} ${object.metadata?.name}`));
    await informer.start();
    t.after(() => informer.stop());
    await core.createNamespacedConfigMap({ namespace, body: map('w') });
    await eventually('the informer has it', () => informer.get('w', namespace) !== undefined);
    await core.replaceNamespacedConfigMap({ namespace, name: 'w', body: map('w', { k: 'x' }) });
    await core.deleteNamespacedConfigMap({ namespace, name: 'w' });
    await eventually('the watch has told all', () => seen.includes('DELETED w'));
    assert.deepEqual(seen, ['ADDED w', 'MODIFIED w', 'DELETED w']);
    await eventually('the informer has told all', () => told.includes('delete w'));
    assert.deepEqual(
      told.filter((line) => line.endsWith(' w')),
      ['add w', 'update w', 'delete w'],
    );
    assert.equal(informer.get('w', namespace), undefined);
  });

  await t.test('creates and patches whatever kind an object says it is', async () => {
    const objects = KubernetesObjectApi.makeApiClient(config);
    await objects.create(map('any'));
    const header = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'any', namespace } };
    assert.equal((await objects.read(header)).metadata?.name, 'any');
    await objects.delete(header);
  });

  await t.test('scales a Deployment and reads a log', async () => {
    await client.create(deployments, deployment('web', { replicas: 1 }));
    const scale = await apps.readNamespacedDeploymentScale({ namespace, name: 'web' });
    assert.equal(scale.status?.selector, 'app=web');
    // without a resourceVersion: the controller writes status meanwhile
    await apps.replaceNamespacedDeploymentScale({
      namespace,
      name: 'web',
      body: { metadata: { name: 'web', namespace }, spec: { replicas: 2 } },
    });
    const [pod] = await complete(client, 'web');
    const name = pod!.metadata.name!;
    assert.match(await core.readNamespacedPodLog({ namespace, name }), /web of pod web-\S+ started/);
    const sink = new PassThrough();
    let text = '';
    sink.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    const following = await new Log(config).log(namespace, name, 'web', sink, { follow: true });
    await eventually('the log flows', () => text.includes('started'));
    following.abort();
    const evicted = { metadata: { name, namespace } };
    await core.createNamespacedPodEviction({ namespace, name, body: evicted });
    await eventually('the evicted pod is replaced', async () => (await complete(client, 'web')).every((p) => p.metadata.name !== name));
  });
});
