/** Leadership by Lease on a fake clock (E1, E2, E4). */
import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { test } from 'node:test';
import type { Lease } from '../api/types/coordination.k8s.io.v1.ts';
import { silentLogger } from '../process/logger.ts';
import { seededRandom } from '../process/random.ts';
import { FakeClock, settle } from '../process/testing/fake-clock.ts';
import { ConnectionError } from './errors.ts';
import { fence } from './fence.ts';
import { type Leadership, LeaseLostError, lead } from './leader-election.ts';
import { leases } from './resource-type.ts';
import { MemoryClient } from './testing/memory-client.ts';

interface Candidate {
  leadership: Leadership | undefined;
  outcome: Promise<unknown>;
  stop: AbortController;
}

function candidate(client: MemoryClient, clock: FakeClock, identity: string, isAlive?: (pid: number) => boolean): Candidate {
  const stop = new AbortController();
  const result: Candidate = { leadership: undefined, stop, outcome: Promise.resolve() };
  result.outcome = lead(
    {
      client,
      namespace: 'kube-system',
      name: 'kcm',
      identity,
      clock,
      random: seededRandom(1),
      logger: silentLogger,
      signal: stop.signal,
      ...(isAlive && { isAlive }),
    },
    async (leadership) => {
      result.leadership = leadership;
      await new Promise((resolve) => leadership.signal.addEventListener('abort', resolve, { once: true }));
      result.leadership = undefined;
    },
  ).catch((error: unknown) => error);
  return result;
}

const leads = (one: Candidate): boolean => one.leadership?.held() ?? false;
const leaseOf = async (client: MemoryClient): Promise<Lease> => client.get(leases, { namespace: 'kube-system', name: 'kcm' });

test('the first candidate makes the Lease with upstream fields and leads at once', async () => {
  const [client, clock] = [new MemoryClient(), new FakeClock()];
  const a = candidate(client, clock, 'a');
  await settle();
  assert.ok(leads(a));
  const { spec } = await leaseOf(client);
  assert.deepEqual(spec, {
    holderIdentity: 'a',
    leaseDurationSeconds: 15,
    acquireTime: '2026-01-01T00:00:00.000000Z',
    renewTime: '2026-01-01T00:00:00.000000Z',
    leaseTransitions: 0,
  });
  await clock.advance(60_000);
  assert.ok(leads(a));
  assert.equal((await leaseOf(client)).spec?.renewTime, '2026-01-01T00:01:00.000000Z');
  a.stop.abort(new Error('end'));
  await a.outcome;
});

test('E4: after a tidy end another leads within the retry period, and the transition is counted', async () => {
  const [client, clock] = [new MemoryClient(), new FakeClock()];
  const a = candidate(client, clock, 'a');
  await settle();
  const b = candidate(client, clock, 'b');
  await clock.advance(30_000);
  assert.ok(!leads(b));
  a.stop.abort(new Error('end'));
  await a.outcome;
  assert.equal((await leaseOf(client)).spec?.holderIdentity, '');
  await clock.advance(2_500);
  assert.ok(leads(b));
  assert.equal((await leaseOf(client)).spec?.leaseTransitions, 1);
  b.stop.abort(new Error('end'));
  await b.outcome;
});

test('E1: cut off from the server, a leader stops before another may start, and then stands for election again', async () => {
  const [client, clock] = [new MemoryClient(), new FakeClock()];
  const a = candidate(client, clock, 'a');
  await settle();
  const b = candidate(client, clock, 'b');
  await clock.advance(4_000);
  let cut = true;
  client.intercept = (_verb, _resource, _key) => {
    if (cut) throw new ConnectionError('memory', new Error('cut off'));
  };
  await clock.advance(8_000);
  assert.ok(leads(a), 'it keeps trying for the renew deadline');
  await clock.advance(4_000);
  assert.ok(!leads(a));
  await clock.advance(600_000);
  assert.ok(!leads(a) && !leads(b));
  cut = false;
  await clock.advance(2_500);
  assert.ok(leads(a) !== leads(b), 'one of them leads');
  for (const one of [a, b]) one.stop.abort(new Error('end'));
  assert.deepEqual(await Promise.all([a.outcome, b.outcome]), [undefined, undefined]);
});

test('E1: a leader that was stopped for longer than its deadline may not write when it wakes', async () => {
  const [client, clock] = [new MemoryClient(), new FakeClock()];
  const a = candidate(client, clock, 'a');
  await settle();
  const { leadership } = a;
  const fenced = fence(client, leadership!);
  const lease = await leaseOf(client);
  client.intercept = () => new Promise(() => undefined);
  const waiting = assert.rejects(
    fenced.get(leases, { namespace: 'kube-system', name: 'kcm' }),
    LeaseLostError,
    'nobody waits for an answer any longer',
  );
  await clock.advance(9_000);
  assert.ok(leadership?.held());
  await clock.advance(1_500);
  assert.equal(leadership?.held(), false);
  await assert.rejects(fenced.update(leases, lease), LeaseLostError);
  await waiting;
  a.stop.abort(new Error('end'));
  await a.outcome;
});

test('work that does not end with the leadership ends the process', async () => {
  const [client, clock] = [new MemoryClient(), new FakeClock()];
  const stop = new AbortController();
  const outcome = lead(
    {
      client,
      namespace: 'kube-system',
      name: 'kcm',
      identity: 'a',
      clock,
      random: seededRandom(1),
      logger: silentLogger,
      signal: stop.signal,
    },
    () => new Promise(() => undefined),
  ).catch((error: unknown) => error);
  await settle();
  client.intercept = () => {
    throw new ConnectionError('memory', new Error('cut off'));
  };
  await clock.advance(20_000);
  assert.ok((await outcome) instanceof LeaseLostError);
});

test('E4: a holder on this machine whose process is gone is not waited for', async () => {
  for (const [holder, alive, takenAtOnce] of [
    [`${hostname()}_4242_abcdefgh`, false, true],
    [`${hostname()}_4242_abcdefgh`, true, false],
    ['elsewhere_4242_abcdefgh', false, false],
    ['some-uuid', false, false],
  ] as const) {
    const [client, clock] = [new MemoryClient(), new FakeClock()];
    const spec = {
      holderIdentity: holder,
      leaseDurationSeconds: 15,
      renewTime: '2026-01-01T00:00:00.000000Z',
      acquireTime: '2026-01-01T00:00:00.000000Z',
      leaseTransitions: 3,
    };
    await client.create<Lease>(leases, {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { namespace: 'kube-system', name: 'kcm' },
      spec,
    });
    const a = candidate(client, clock, 'a', () => alive);
    await settle();
    assert.equal(leads(a), takenAtOnce, holder);
    await clock.advance(18_000);
    assert.ok(leads(a), `${holder} after the lease has run out`);
    assert.equal((await leaseOf(client)).spec?.leaseTransitions, 4);
    a.stop.abort(new Error('end'));
    await a.outcome;
  }
});

test('a lease taken by force ends the leadership', async () => {
  const [client, clock] = [new MemoryClient(), new FakeClock()];
  const a = candidate(client, clock, 'a');
  await settle();
  const lease = await leaseOf(client);
  await client.update(leases, { ...lease, spec: { ...lease.spec, holderIdentity: 'b', renewTime: '2026-01-01T00:00:01.000000Z' } });
  await clock.advance(5_000);
  assert.ok(!leads(a));
  assert.equal((await leaseOf(client)).spec?.holderIdentity, 'b', 'and it is left to the other');
  await clock.advance(20_000);
  assert.ok(leads(a), 'until that one is silent');
  a.stop.abort(new Error('end'));
  await a.outcome;
});

test('waiting for leadership ends with the signal', async () => {
  const [client, clock] = [new MemoryClient(), new FakeClock()];
  const a = candidate(client, clock, 'a');
  await settle();
  const b = candidate(client, clock, 'b');
  await clock.advance(5_000);
  b.stop.abort(new Error('end'));
  assert.equal(await b.outcome, undefined);
  a.stop.abort(new Error('end'));
  await a.outcome;
});
