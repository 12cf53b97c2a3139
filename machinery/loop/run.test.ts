/** The loop as a whole over a copy that lags and a server that refuses (K6, K8). */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { splitKey } from '../api/object.ts';
import { badRequest } from '../api/status.ts';
import type { ConfigMap, Secret } from '../api/types/core.v1.ts';
import type { EventRecorder } from '../client/event-recorder.ts';
import { createInformerFactory } from '../client/informers.ts';
import { configmaps, secrets } from '../client/resource-type.ts';
import { MemoryClient } from '../client/testing/memory-client.ts';
import { silentLogger } from '../process/logger.ts';
import { seededRandom } from '../process/random.ts';
import { FakeClock, settle } from '../process/testing/fake-clock.ts';
import type { ControllerContext, PlannedController } from './controller.ts';
import type { Action } from './plan.ts';
import { runController } from './run.ts';
import { watchFor, watchOwned } from './watches.ts';

/** A ReplicaSet in small: a ConfigMap wants data.copies Secrets. */
const copies: PlannedController<{ owner: ConfigMap; owned: readonly Secret[] }> = {
  name: 'copies',
  component: 'copies-controller',
  watches: [watchFor(configmaps), watchOwned(secrets, configmaps)],
  observe: (key, view) => {
    const owner = view.of(configmaps).get(key);
    return owner && { owner, owned: view.of(secrets).byIndex('owner', owner.metadata.uid ?? '') };
  },
  compare: ({ owner, owned }) => {
    const wanted = Number(owner.data?.['copies'] ?? 0);
    const { namespace = '', name = '', uid = '' } = owner.metadata;
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name, uid, controller: true }];
    const create = (): Action => {
      const object: Secret = { apiVersion: 'v1', kind: 'Secret', metadata: { generateName: `${name}-`, namespace, ownerReferences } };
      return { do: 'create', type: secrets, object };
    };
    const actions: Action[] = Array.from({ length: Math.max(0, wanted - owned.length) }, create);
    for (const secret of owned.slice(wanted)) {
      actions.push({ do: 'delete', type: secrets, name: { namespace, name: secret.metadata.name ?? '' }, uid: secret.metadata.uid ?? '' });
    }
    return { actions };
  },
};

const nobody: EventRecorder = { event: () => undefined, flush: async () => undefined };

function start(
  t: TestContext,
  controller: PlannedController<never> | PlannedController<{ owner: ConfigMap; owned: readonly Secret[] }> = copies,
) {
  const client = new MemoryClient();
  const clock = new FakeClock();
  const random = seededRandom(1);
  const stop = new AbortController();
  const informers = createInformerFactory(client, { clock, random, logger: silentLogger });
  const context: ControllerContext = {
    client,
    informers,
    recorder: () => nobody,
    clock,
    random,
    logger: silentLogger,
    signal: stop.signal,
  };
  const running = runController(controller, context);
  informers.start(stop.signal);
  t.after(async () => {
    stop.abort(new Error('test ended'));
    await running;
    await informers.done;
  });
  return { client, clock };
}

const owner = (count: number): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'web', namespace: 'ns' },
  data: { copies: String(count) },
});
const made = (client: MemoryClient): number =>
  client.writes.filter((write) => write.verb === 'create' && write.resource === 'secrets').length;

async function rest(clock: FakeClock): Promise<void> {
  for (let i = 0; i < 5; i++) {
    await settle();
    await clock.advance(20);
  }
}

test('what is missing is made, what is lost is replaced, what is too much is deleted', async (t) => {
  const { client, clock } = start(t);
  await settle();
  const web = await client.create(configmaps, owner(3));
  await rest(clock);
  assert.equal((await client.list(secrets)).items.length, 3);

  const [first] = (await client.list(secrets)).items;
  await client.delete(secrets, { namespace: 'ns', name: first?.metadata.name ?? '' });
  await rest(clock);
  assert.equal((await client.list(secrets)).items.length, 3);

  await client.update(configmaps, { ...web, data: { copies: '1' } });
  await rest(clock);
  assert.equal((await client.list(secrets)).items.length, 1);
});

test('K6: while its copy lags, a loop does not make anything twice', async (t) => {
  const { client, clock } = start(t);
  await settle();
  let web = await client.create(configmaps, owner(2));
  await rest(clock);
  assert.equal(made(client), 2);
  const release = client.hold(secrets);
  web = await client.update(configmaps, { ...web, data: { copies: '3' } });
  await rest(clock);
  assert.equal(made(client), 3);
  // its own write has not come back, and the key is woken again and again
  for (let i = 0; i < 5; i++) {
    web = await client.update(configmaps, web);
    await clock.advance(2_000);
  }
  assert.equal(made(client), 3);
  release();
  await rest(clock);
  assert.equal(made(client), 3);
  await client.update(configmaps, { ...web, data: { copies: '4' } });
  await rest(clock);
  assert.equal(made(client), 4, 'and it is not stuck');
});

test('K6: a deletion answered without a revision is not repeated while the copy lags', async (t) => {
  const { client, clock } = start(t);
  await settle();
  let web = await client.create(configmaps, owner(2));
  await rest(clock);
  const release = client.hold(secrets);
  web = await client.update(configmaps, { ...web, data: { copies: '1' } });
  await rest(clock);
  await client.update(configmaps, web);
  await rest(clock);
  const deletions = (): number => client.writes.filter((write) => write.verb === 'delete').length;
  assert.equal(deletions(), 1);
  release();
  await rest(clock);
  assert.equal(deletions(), 1);
  assert.equal((await client.list(secrets)).items.length, 1);
});

test('a key that fails is tried again with growing pauses, and does not stop others', async (t) => {
  const { client, clock } = start(t);
  let failing = true;
  client.intercept = (verb, resource, key) => {
    if (failing && verb === 'create' && resource === 'secrets' && splitKey(key).name.startsWith('bad')) throw badRequest('no');
  };
  await settle();
  await client.create(configmaps, { ...owner(1), metadata: { name: 'bad', namespace: 'ns' } });
  await client.create(configmaps, { ...owner(1), metadata: { name: 'good', namespace: 'ns' } });
  await clock.advance(100);
  assert.deepEqual(
    (await client.list(secrets)).items.map((item) => item.metadata.name?.slice(0, 4)),
    ['good'],
  );
  assert.equal(made(client), 1 + 5, 'at 0, 5, 15, 35 and 75 ms');
  failing = false;
  await clock.advance(100);
  assert.equal((await client.list(secrets)).items.length, 2);
});

test('reading what was not declared is refused, not answered from an empty copy', async (t) => {
  const seen: string[] = [];
  const { client, clock } = start(t, {
    name: 'sly',
    component: 'sly',
    watches: [watchFor(configmaps)],
    observe: (_key, view) => {
      try {
        view.of(secrets);
      } catch (error) {
        seen.push((error as Error).message);
      }
      return undefined;
    },
    compare: () => ({ actions: [] }),
  });
  await client.create(configmaps, owner(1));
  await rest(clock);
  assert.match(seen[0] ?? '', /sly reads secrets without saying so/);
});
