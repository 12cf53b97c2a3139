/** Lists: selectors, pages, versions. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestApiServer } from '../fixtures/apiserver.ts';
import { CONFIGMAPS, configMap, sender } from '../fixtures/http.ts';

test('a list', async (t) => {
  const { client } = await startTestApiServer(t);
  const send = sender(client);
  for (const name of ['a', 'b', 'c', 'd'])
    await send('POST', CONFIGMAPS, configMap(name, {}, { labels: { half: name < 'c' ? '1' : '2' } }));
  const names = (body: { items: { metadata: { name: string } }[] }): string[] => body.items.map((i) => i.metadata.name);

  await t.test('has items without kind, in key order, at a version', async () => {
    const { body } = await send('GET', CONFIGMAPS);
    assert.equal(body.kind, 'ConfigMapList');
    assert.deepEqual(names(body), ['a', 'b', 'c', 'd']);
    assert.equal(body.items[0].kind, undefined);
    assert.match(body.metadata.resourceVersion, /^\d+$/);
  });

  await t.test('is selected by label and field', async () => {
    assert.deepEqual(names((await send('GET', `${CONFIGMAPS}?labelSelector=half%20in%20(2)`)).body), ['c', 'd']);
    assert.deepEqual(names((await send('GET', `${CONFIGMAPS}?fieldSelector=metadata.name%3Db`)).body), ['b']);
  });

  await t.test('in pages is one snapshot', async () => {
    const first = (await send('GET', `${CONFIGMAPS}?limit=2`)).body;
    assert.equal(first.metadata.remainingItemCount, 2);
    await send('POST', CONFIGMAPS, configMap('cc'));
    const second = (await send('GET', `${CONFIGMAPS}?limit=5&continue=${first.metadata.continue}`)).body;
    assert.deepEqual([...names(first), ...names(second)], ['a', 'b', 'c', 'd']);
    assert.equal(second.metadata.resourceVersion, first.metadata.resourceVersion);
    await send('DELETE', `${CONFIGMAPS}/cc`);
  });

  await t.test('has no further page where a selector leaves nothing to look at', async () => {
    await send('POST', CONFIGMAPS.replace('/default/', '/kube-system/'), configMap('z'));
    const metadata = async (query: string, path = CONFIGMAPS): Promise<{ continue?: string }> =>
      (await send('GET', `${path}?limit=${query}`)).body.metadata;
    assert.equal((await metadata('1&fieldSelector=metadata.name%3Da')).continue, undefined);
    const everywhere = '/api/v1/configmaps';
    assert.equal((await metadata('4&fieldSelector=metadata.namespace%3Ddefault', everywhere)).continue, undefined);
    assert.equal((await metadata('1&fieldSelector=metadata.namespace%3Ddefault,metadata.name%3Da', everywhere)).continue, undefined);
    assert.notEqual((await metadata('1&fieldSelector=metadata.name%3Da', everywhere)).continue, undefined);
    assert.notEqual((await metadata('1&fieldSelector=metadata.name!%3Db')).continue, undefined);
    const first = (await send('GET', `${everywhere}?limit=3&fieldSelector=metadata.namespace%3Ddefault`)).body;
    const rest = await send('GET', `${everywhere}?limit=3&fieldSelector=metadata.namespace%3Ddefault&continue=${first.metadata.continue}`);
    assert.deepEqual([...names(first), ...names(rest.body)], ['a', 'b', 'c', 'd']);
  });

  await t.test('shows the past exactly', async () => {
    const before = (await send('GET', CONFIGMAPS)).body.metadata.resourceVersion;
    await send('POST', CONFIGMAPS, configMap('later'));
    const past = await send('GET', `${CONFIGMAPS}?resourceVersion=${before}&resourceVersionMatch=Exact`);
    assert.deepEqual(names(past.body), ['a', 'b', 'c', 'd']);
  });

  const refusals: [string, number, RegExp][] = [
    ['limit=abc', 400, /strconv.ParseInt: parsing "abc": invalid syntax/],
    ['resourceVersion=abc', 400, /invalid resource version/],
    ['continue=garbage', 400, /continue key is not valid/],
    ['resourceVersionMatch=Exact', 422, /forbidden unless resourceVersion is provided/],
    ['labelSelector=a%20in%20(', 400, /unable to parse requirement/],
    ['fieldSelector=spec.x%3D1', 400, /is not a known field selector/],
    ['sendInitialEvents=true', 422, /sendInitialEvents is forbidden for list/],
    ['timeout=abc', 400, /invalid duration "abc"/],
  ];
  for (const [query, code, message] of refusals) {
    await t.test(`refuses ${query} with ${code}`, async () => {
      const answer = await send('GET', `${CONFIGMAPS}?${query}`);
      assert.equal(answer.code, code);
      assert.match(answer.body.message, message);
    });
  }
});
