/** What Services hold is never given twice, comes back when they go, and is found again in the store at the start. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Change, Store, Stored } from '../../storage/interface.ts';
import { createIpRange, createPortRange } from './ranges.ts';
import { createServiceClaims, ipClaim, portClaim } from './service-claims.ts';

const stored = (key: string, spec: object): Stored => ({ key, revision: 2, bytes: Buffer.from(JSON.stringify({ spec })) });

function fakeStore(items: Stored[]): { store: Store; commit(change: Change): void } {
  let listener: (changes: readonly Change[], revision: number) => void = () => undefined;
  const store = {
    list: () => ({ items, revision: 2 }),
    watch: (_prefix: string, _after: number, onChanges: typeof listener) => {
      listener = onChanges;
      return { close: () => undefined };
    },
  } as unknown as Store;
  return { store, commit: (change) => listener([change], 3) };
}

test('claims are rebuilt from the services in the store', () => {
  const { store } = fakeStore([stored('/core/services/a/x', { clusterIPs: ['10.96.0.9'], ports: [{ nodePort: 30001 }] })]);
  const claims = createServiceClaims(store);
  assert.equal(claims.reserve(ipClaim('10.96.0.9'), '/core/services/b/y'), false);
  assert.equal(claims.reserve(portClaim(30001), '/core/services/b/y'), false);
  assert.equal(claims.reserve(ipClaim('10.96.0.9'), '/core/services/a/x'), true, 'its own holder may keep it');
});

test('a reservation holds until it is given back or its service is written; a deletion frees it', () => {
  const { store, commit } = fakeStore([]);
  const claims = createServiceClaims(store);
  const ip = ipClaim('10.96.1.1');
  assert.equal(claims.reserve(ip, '/core/services/a/x'), true);
  assert.equal(claims.reserve(ip, '/core/services/b/y'), false);
  claims.giveBack([ip], '/core/services/a/x');
  assert.equal(claims.reserve(ip, '/core/services/b/y'), true);
  const current = stored('/core/services/b/y', { clusterIPs: ['10.96.1.1'] });
  commit({ type: 'put', current, previous: undefined });
  claims.giveBack([ip], '/core/services/b/y');
  assert.equal(claims.isFree(ip), false, 'what is written cannot be given back');
  commit({ type: 'delete', current, previous: current });
  assert.equal(claims.isFree(ip), true);
});

test('addresses and ports that nobody asked for come from above the part for those who choose, and not twice in a row', () => {
  const claims = createServiceClaims(fakeStore([]).store);
  const ips = createIpRange('10.96.0.0/16');
  assert.deepEqual([ips.next(claims), ips.next(claims)], ['10.96.1.1', '10.96.1.2']);
  assert.equal(ips.refusal('10.97.0.1'), 'the provided network does not match the current range');
  assert.equal(ips.refusal('10.96.0.0'), 'the provided network does not match the current range');
  const ports = createPortRange([30000, 32767]);
  assert.equal(ports.next(claims), 30086);
  assert.match(ports.refusal(80) ?? '', /The range of valid ports is 30000-32767/);
});

test('a full range says so', () => {
  const claims = createServiceClaims(fakeStore([]).store);
  const ips = createIpRange('10.96.0.0/30');
  for (const ip of ['10.96.0.1', '10.96.0.2']) claims.reserve(ipClaim(ip), 'k');
  assert.equal(ips.next(claims), undefined);
});
