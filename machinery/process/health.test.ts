/** Health, metrics and debug pages. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type HealthChecks, healthAnswer, serveHealth } from './health.ts';
import { createMetrics } from './metrics.ts';

const checks: HealthChecks = {
  readyz: [
    { name: 'informers', check: () => undefined },
    { name: 'lease', check: async () => 'not leader' },
  ],
};
const ask = (path: string): ReturnType<typeof healthAnswer> => {
  const [route = '', query = ''] = path.split('?');
  return healthAnswer(checks, route, new URLSearchParams(query));
};

test('health pages answer as upstream', async () => {
  const cases: [path: string, code: number | undefined, body?: string][] = [
    ['/livez', 200, 'ok'],
    ['/livez?verbose', 200, '[+]ping ok\nlivez check passed\n'],
    ['/livez/ping', 200, 'ok'],
    ['/healthz?exclude=none', 200, 'ok'],
    ['/readyz', 500, '[+]ping ok\n[+]informers ok\n[-]lease failed: reason withheld\nreadyz check failed\n'],
    ['/readyz?exclude=lease', 200, 'ok'],
    [
      '/readyz?exclude=lease&exclude=x&verbose',
      200,
      '[+]ping ok\n[+]informers ok\n[+]lease excluded: ok\nwarn: some health checks cannot be excluded: no matches for "x"\nreadyz check passed\n',
    ],
    ['/readyz/lease', 500, 'internal server error: not leader\n'],
    ['/readyz/none', undefined],
    ['/livez/', undefined],
    ['/LIVEZ', undefined],
  ];
  for (const [path, code, body] of cases) {
    const answer = await ask(path);
    assert.equal(answer?.code, code, path);
    if (body !== undefined) assert.equal(answer?.body, body, path);
  }
});

async function serve(t: TestContext) {
  const metrics = createMetrics();
  metrics.counter('things_total', 'Things.', ['kind']).inc({ kind: 'a' });
  const server = await serveHealth({
    port: 0,
    checks,
    metrics,
    debug: { state: () => ({ leading: true }), text: (query) => `hello ${query.get('who')}` },
  });
  t.after(() => server.close());
  return async (path: string): Promise<[number, string]> => {
    const response = await fetch(server.address + path);
    return [response.status, await response.text()];
  };
}

test('a component serves health, metrics and debug pages', async (t) => {
  const get = await serve(t);
  assert.deepEqual(await get('/livez'), [200, 'ok']);
  assert.match(
    (await get('/metrics'))[1],
    /things_total\{kind="a"\} 1[\s\S]*process_resident_memory_bytes|process_resident_memory_bytes[\s\S]*things_total\{kind="a"\} 1/,
  );
  assert.deepEqual(await get('/debug/state'), [200, '{\n  "leading": true\n}\n']);
  assert.deepEqual(await get('/debug/text?who=you'), [200, 'hello you']);
  for (const path of ['/', '/debug/', '/debug/none', '/debug/constructor'])
    assert.deepEqual(await get(path), [404, '404 page not found\n'], path);
});

test('a port in use is refused', async (t) => {
  const first = await serveHealth({ port: 0 });
  t.after(() => first.close());
  await assert.rejects(serveHealth({ port: Number(new URL(first.address).port) }), /EADDRINUSE/);
});
