/** Deleting objects: preconditions, finalizers, propagation, collections. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestApiServer } from '../fixtures/apiserver.ts';
import { CONFIGMAPS, configMap, sender } from '../fixtures/http.ts';

test('a delete', async (t) => {
  const { client } = await startTestApiServer(t);
  const send = sender(client);

  await t.test('answers a Status with the uid', async () => {
    const { body: made } = await send('POST', CONFIGMAPS, configMap('a'));
    const { code, body } = await send('DELETE', `${CONFIGMAPS}/a`);
    assert.equal(code, 200);
    assert.deepEqual(body.details, { name: 'a', kind: 'configmaps', uid: made.metadata.uid });
    assert.equal((await send('GET', `${CONFIGMAPS}/a`)).code, 404);
  });

  await t.test('only marks an object with finalizers; removing the last one removes it', async () => {
    await send('POST', CONFIGMAPS, configMap('f', {}, { finalizers: ['example.com/x'] }));
    const marked = await send('DELETE', `${CONFIGMAPS}/f`);
    assert.ok(marked.body.metadata.deletionTimestamp);
    assert.equal((await send('GET', `${CONFIGMAPS}/f`)).code, 200);
    await send('PATCH', `${CONFIGMAPS}/f`, { metadata: { finalizers: null } }, { type: 'application/merge-patch+json' });
    assert.equal((await send('GET', `${CONFIGMAPS}/f`)).code, 404);
  });

  await t.test('holds its preconditions', async () => {
    await send('POST', CONFIGMAPS, configMap('p'));
    const { code, body } = await send('DELETE', `${CONFIGMAPS}/p`, { preconditions: { uid: 'other' } });
    assert.equal(code, 409);
    assert.match(body.message, /^Operation cannot be fulfilled on ConfigMap "p": the UID in the precondition \(other\)/);
  });

  await t.test('with Orphan or Foreground leaves the work to the garbage collector', async () => {
    for (const [policy, finalizer] of [
      ['Orphan', 'orphan'],
      ['Foreground', 'foregroundDeletion'],
    ]) {
      await send('POST', CONFIGMAPS, configMap(finalizer!.toLowerCase()));
      const { body } = await send('DELETE', `${CONFIGMAPS}/${finalizer!.toLowerCase()}?propagationPolicy=${policy}`);
      assert.deepEqual(body.metadata.finalizers, [finalizer]);
    }
  });

  await t.test('that has to wait is 202 where the client says in the old way that dependents go too', async () => {
    await send('POST', CONFIGMAPS, configMap('old', {}, { finalizers: ['orphan', 'example.com/x'] }));
    const { code, body } = await send('DELETE', `${CONFIGMAPS}/old`, { orphanDependents: false });
    assert.equal(code, 202);
    assert.deepEqual(body.metadata.finalizers, ['example.com/x']);
    const again = await send('DELETE', `${CONFIGMAPS}/old?propagationPolicy=Orphan`);
    assert.equal(again.code, 200);
    assert.deepEqual(again.body.metadata.finalizers, ['example.com/x', 'orphan']);
    assert.equal(again.body.metadata.deletionTimestamp, body.metadata.deletionTimestamp);
  });

  await t.test('shortens a grace period that runs, but not into the past', async () => {
    const PODS = '/api/v1/namespaces/default/pods';
    await send('POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } });
    const spec = { nodeName: 'n', terminationGracePeriodSeconds: 100, containers: [{ name: 'c', image: 'i' }] };
    await send('POST', PODS, { metadata: { name: 'slow' }, spec: { ...spec, automountServiceAccountToken: false } });
    const first = await send('DELETE', `${PODS}/slow`);
    const longer = await send('DELETE', `${PODS}/slow?gracePeriodSeconds=200`);
    assert.equal(longer.body.metadata.resourceVersion, first.body.metadata.resourceVersion);
    const shorter = await send('DELETE', `${PODS}/slow?gracePeriodSeconds=40`);
    const end = (of: typeof first): number => Date.parse(of.body.metadata.deletionTimestamp);
    assert.equal(end(first) - end(shorter), 60_000);
    assert.equal(shorter.body.metadata.deletionGracePeriodSeconds, 40);
    const negative = await send('DELETE', `${PODS}/slow?gracePeriodSeconds=-5`);
    assert.equal(negative.body.metadata.deletionGracePeriodSeconds, 1);
    assert.equal((await send('DELETE', `${PODS}/slow?gracePeriodSeconds=0`)).code, 200);
    assert.equal((await send('GET', `${PODS}/slow`)).code, 404);
  });

  await t.test('with a period beyond 64 bits is 400', async () => {
    const { code, body } = await send('DELETE', `${CONFIGMAPS}/none?gracePeriodSeconds=9223372036854775808`);
    assert.equal(code, 400);
    assert.equal(body.message, 'strconv.ParseInt: parsing "9223372036854775808": value out of range');
  });

  await t.test('of an event never waits for the garbage collector', async () => {
    const EVENTS = '/api/v1/namespaces/default/events';
    await send('POST', EVENTS, { metadata: { name: 'e' }, involvedObject: { namespace: 'default' } });
    assert.equal((await send('DELETE', `${EVENTS}/e?propagationPolicy=Foreground`)).code, 200);
    assert.equal((await send('GET', `${EVENTS}/e`)).code, 404);
  });

  await t.test('of a collection takes what the selector matches', async () => {
    for (const name of ['c1', 'c2']) await send('POST', CONFIGMAPS, configMap(name, {}, { labels: { c: 'y' } }));
    const { body } = await send('DELETE', `${CONFIGMAPS}?labelSelector=c%3Dy`);
    assert.deepEqual(
      body.items.map((i: { metadata: { name: string } }) => i.metadata.name),
      ['c1', 'c2'],
    );
    assert.equal((await send('GET', `${CONFIGMAPS}/c1`)).code, 404);
  });

  await t.test('of a namespace marks it, and nothing is created in it any more', async () => {
    await send('POST', '/api/v1/namespaces', { metadata: { name: 'doomed' } });
    const { body } = await send('DELETE', '/api/v1/namespaces/doomed');
    assert.equal(body.status.phase, 'Terminating');
    const refused = await send('POST', '/api/v1/namespaces/doomed/configmaps', configMap('x'));
    assert.equal(refused.code, 403);
    assert.equal(refused.body.details.causes[0].reason, 'NamespaceTerminating');
    assert.equal((await send('DELETE', '/api/v1/namespaces/default')).code, 403);
  });
});
