/** Watches through HTTP. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestApiServer } from '../fixtures/apiserver.ts';
import { CONFIGMAPS, configMap, sender } from '../fixtures/http.ts';

interface Event {
  readonly type: string;
  readonly object: {
    readonly kind: string;
    readonly metadata: { readonly name?: string; readonly resourceVersion: string; readonly annotations?: Record<string, string> };
  };
}

test('a watch', async (t) => {
  const { client } = await startTestApiServer(t);
  const send = sender(client);
  const first = (await send('POST', CONFIGMAPS, configMap('a'))).body;

  async function events(query: string, count: number, accept = 'application/json'): Promise<Event[]> {
    const { code, body } = await client.stream({ method: 'GET', path: `${CONFIGMAPS}?watch=1&${query}`, headers: { accept } });
    assert.equal(code, 200);
    const found: Event[] = [];
    let rest = '';
    for await (const chunk of body) {
      const lines = (rest + chunk.toString('utf8')).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) found.push(JSON.parse(line) as Event);
      if (found.length >= count) break;
    }
    return found;
  }
  const shape = (list: readonly Event[]): string[] => list.map((e) => `${e.type} ${e.object.metadata.name ?? ''}`.trim());

  await t.test('shows each change after its version once, in order', async () => {
    const watching = events(`resourceVersion=${first.metadata.resourceVersion}`, 3);
    await send('POST', CONFIGMAPS, configMap('b'));
    await send('PUT', `${CONFIGMAPS}/b`, configMap('b', { k: '2' }));
    await send('DELETE', `${CONFIGMAPS}/b`);
    assert.deepEqual(shape(await watching), ['ADDED b', 'MODIFIED b', 'DELETED b']);
  });

  await t.test('without a version begins with what there is', async () => {
    assert.deepEqual(shape(await events('timeoutSeconds=1', 1)), ['ADDED a']);
  });

  await t.test('with initial events ends them by a bookmark', async () => {
    const query = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=5';
    const [added, bookmark] = await events(query, 2);
    assert.equal(added?.type, 'ADDED');
    assert.equal(bookmark?.type, 'BOOKMARK');
    assert.equal(bookmark?.object.metadata.annotations?.['k8s.io/initial-events-end'], 'true');
  });

  await t.test('with a selector turns a lost match into DELETED', async () => {
    const made = (await send('POST', CONFIGMAPS, configMap('s', {}, { labels: { on: 'y' } }))).body;
    const watching = events(`labelSelector=on&resourceVersion=${made.metadata.resourceVersion}`, 1);
    await send('PUT', `${CONFIGMAPS}/s`, configMap('s', {}));
    assert.deepEqual(shape(await watching), ['DELETED s']);
  });

  await t.test('comes as Tables', async () => {
    const [event] = await events('timeoutSeconds=1', 1, 'application/json;as=Table;v=v1;g=meta.k8s.io');
    assert.equal(event?.object.kind, 'Table');
  });

  await t.test('ends cleanly at its timeout', async () => {
    const started = performance.now();
    assert.deepEqual(
      await events(`resourceVersion=${(await send('GET', CONFIGMAPS)).body.metadata.resourceVersion}&timeoutSeconds=1`, 99),
      [],
    );
    assert.ok(performance.now() - started < 5000);
  });

  await t.test('refuses a word as its version with 500', async () => {
    assert.equal((await send('GET', `${CONFIGMAPS}?watch=1&resourceVersion=abc`)).code, 500);
  });
});
