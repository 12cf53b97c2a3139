/** Evictions: budgets are charged once, preconditions hold, a trial changes nothing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestApiServer } from '../fixtures/apiserver.ts';
import { type Member, sender } from '../fixtures/http.ts';

const PODS = '/api/v1/namespaces/default/pods';
const BUDGETS = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
const MERGE = { type: 'application/merge-patch+json' };

test('an eviction', async (t) => {
  const { client } = await startTestApiServer(t);
  const send = sender(client);
  await send('POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } });
  const run = async (name: string, ready = 'True'): Promise<Member> => {
    const spec = { automountServiceAccountToken: false, containers: [{ name: 'm', image: 'registry.example/clock:1' }] };
    assert.equal(
      (await send('POST', PODS, { metadata: { name, labels: { app: name }, finalizers: ['example.com/keep'] }, spec })).code,
      201,
    );
    const status = { phase: 'Running', conditions: [{ type: 'Ready', status: ready }] };
    return (await send('PATCH', `${PODS}/${name}/status`, { status }, MERGE)).body.metadata;
  };
  const evict = (name: string, deleteOptions?: object, query = ''): Promise<Member> =>
    send('POST', `${PODS}/${name}/eviction${query}`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name }, deleteOptions });
  const guard = async (app: string, status: object, spec: object = { minAvailable: 1 }): Promise<void> => {
    await send('POST', BUDGETS, { metadata: { name: app }, spec: { ...spec, selector: { matchLabels: { app } } } });
    await send('PATCH', `${BUDGETS}/${app}/status`, { status: { observedGeneration: 1, ...status } }, MERGE);
  };
  const wasMarked = async (name: string): Promise<boolean> =>
    (await send('GET', `${PODS}/${name}`)).body.status.conditions.some((c: { type: string }) => c.type === 'DisruptionTarget');

  await t.test('in another namespace is refused before anything else', async () => {
    const metadata = { name: 'other', namespace: 'kube-system' };
    const { code, body } = await send('POST', `${PODS}/a/eviction`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata });
    assert.equal(code, 400);
    assert.equal(body.message, 'the namespace of the provided object does not match the namespace sent on the request');
  });

  await t.test('of another pod of the same name, or of an older version, does not touch the pod', async () => {
    await run('a');
    const other = await evict('a', { preconditions: { uid: 'other' } });
    assert.equal(other.code, 409);
    assert.match(other.body.message, /^Operation cannot be fulfilled on Pod "a": the UID in the precondition \(other\) does not match /);
    const older = await evict('a', { preconditions: { resourceVersion: '1' } });
    assert.equal(older.code, 409);
    assert.match(
      older.body.message,
      /the ResourceVersion in the precondition \(1\) does not match .* The object might have been modified$/,
    );
    assert.equal(await wasMarked('a'), false);
  });

  await t.test('of the version that was read goes through, though the server writes the pod first', async () => {
    const { uid, resourceVersion } = await run('b');
    assert.equal((await evict('b', { preconditions: { uid, resourceVersion } })).code, 201);
    const { body } = await send('GET', `${PODS}/b`);
    assert.ok(body.metadata.deletionTimestamp);
    assert.equal(await wasMarked('b'), true);
  });

  await t.test('is charged to the budget by the server, and to nobody in a trial', async () => {
    await run('c');
    await guard('c', { disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1, expectedPods: 2 });
    assert.equal((await evict('c', undefined, '?dryRun=All')).code, 201);
    assert.equal((await evict('c', { dryRun: ['All'] })).code, 201);
    assert.equal((await send('GET', `${BUDGETS}/c`)).body.status.disruptionsAllowed, 1);
    assert.equal(await wasMarked('c'), false);
    assert.equal((await evict('c')).code, 201);
    const { body } = await send('GET', `${BUDGETS}/c`);
    assert.equal(body.status.disruptionsAllowed, 0);
    assert.equal(body.status.conditions[0].reason, 'InsufficientPods');
    const [entry] = body.metadata.managedFields;
    assert.deepEqual([entry.manager, entry.operation, entry.subresource], ['kube-apiserver', 'Update', 'status']);
    assert.deepEqual(Object.keys(entry.fieldsV1['f:status']).sort(), ['f:conditions', 'f:disruptedPods', 'f:disruptionsAllowed']);
  });

  await t.test('of a pod that goes already asks no budget', async () => {
    await run('d');
    await guard('d', { currentHealthy: 1, desiredHealthy: 1 });
    assert.equal((await evict('d')).code, 429);
    await send('DELETE', `${PODS}/d`);
    assert.equal((await evict('d')).code, 201);
  });

  await t.test('under two budgets is refused for both, even of a sick pod', async () => {
    await run('e', 'False');
    await guard('e', {}, { minAvailable: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow' });
    await send('POST', BUDGETS, { metadata: { name: 'e2' }, spec: { maxUnavailable: '50%', selector: { matchLabels: { app: 'e' } } } });
    const { code, body } = await evict('e');
    assert.equal(code, 500);
    assert.equal(body.message, 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.');
    await send('DELETE', `${BUDGETS}/e2`);
    assert.equal((await evict('e')).code, 201);
  });
});
