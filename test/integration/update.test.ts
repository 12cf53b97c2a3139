/** Replacing objects by PUT. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestApiServer } from '../fixtures/apiserver.ts';
import { CONFIGMAPS, configMap, sender } from '../fixtures/http.ts';

test('an update', async (t) => {
  const { client } = await startTestApiServer(t);
  const send = sender(client);
  const created = (await send('POST', CONFIGMAPS, configMap('a'))).body;

  await t.test('that changes nothing writes nothing', async () => {
    const { body } = await send('PUT', `${CONFIGMAPS}/a`, configMap('a'));
    assert.equal(body.metadata.resourceVersion, created.metadata.resourceVersion);
  });

  await t.test('with a stale version is a conflict, without one is unconditional', async () => {
    const changed = await send('PUT', `${CONFIGMAPS}/a`, configMap('a', { k: '2' }));
    assert.equal(changed.code, 200);
    const stale = await send('PUT', `${CONFIGMAPS}/a`, configMap('a', { k: '3' }, { resourceVersion: created.metadata.resourceVersion }));
    assert.equal(stale.code, 409);
    assert.match(stale.body.message, /the object has been modified/);
  });

  const refusals: [string, unknown, number, RegExp][] = [
    ['another name', configMap('b'), 400, /the name of the object \(b\) does not match the name on the URL \(a\)/],
    ['no name', { metadata: {} }, 400, /was undeterminable: name must be provided/],
    ['another uid', configMap('a', {}, { uid: 'u' }), 409, /Precondition failed: UID in precondition: u/],
    ['a word as version', configMap('a', {}, { resourceVersion: 'abc' }), 500, /strconv.ParseUint/],
  ];
  for (const [what, body, code, message] of refusals) {
    await t.test(`refuses ${what} with ${code}`, async () => {
      const answer = await send('PUT', `${CONFIGMAPS}/a`, body);
      assert.equal(answer.code, code);
      assert.match(answer.body.message, message);
    });
  }

  await t.test('sees what is printed as null as what a creation sees', async () => {
    const base = '/api/v1/namespaces/default/persistentvolumeclaims';
    const source = { kind: 'PersistentVolumeClaim', name: 'other' };
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, dataSource: source };
    const claim = await send('POST', base, { metadata: { name: 'copy' }, spec });
    assert.deepEqual(claim.body.spec.dataSourceRef, { apiGroup: null, ...source });
    const same = await send('PUT', `${base}/copy`, claim.body);
    assert.equal(same.code, 200, same.body.message);
    assert.equal(same.body.metadata.resourceVersion, claim.body.metadata.resourceVersion);
  });

  await t.test('of many clients at once loses none when each repeats its conflicts', async () => {
    const add = async (key: string): Promise<void> => {
      for (;;) {
        const { body } = await send('GET', `${CONFIGMAPS}/a`);
        body.data[key] = 'x';
        const { code } = await send('PUT', `${CONFIGMAPS}/a`, body);
        if (code === 200) return;
        assert.equal(code, 409);
      }
    };
    await Promise.all(Array.from({ length: 8 }, (_, i) => add(`w${i}`)));
    const { body } = await send('GET', `${CONFIGMAPS}/a`);
    for (let i = 0; i < 8; i++) assert.equal(body.data[`w${i}`], 'x');
  });
});
