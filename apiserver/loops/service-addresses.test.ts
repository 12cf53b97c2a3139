/** Which IPAddress objects follow from the Services that there are. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Service } from '../../machinery/api/types/core.v1.ts';
import type { IPAddress } from '../../machinery/api/types/networking.k8s.io.v1.ts';
import { planAddresses } from './service-addresses.ts';

const service = (name: string, ...clusterIPs: string[]): Service =>
  ({ apiVersion: 'v1', kind: 'Service', metadata: { name, namespace: 'n' }, spec: { clusterIPs } }) as Service;
const names = (addresses: readonly IPAddress[]): (string | undefined)[] => addresses.map(({ metadata }) => metadata.name);
const madeFor = (...services: Service[]): readonly IPAddress[] => planAddresses(services, []).made;

test('each cluster IP has an object that names its Service and family', () => {
  const [v4, v6, ...more] = madeFor(service('a', '10.0.0.1', 'fd00::1'), service('headless', 'None'), service('external'));
  assert.deepEqual(more, []);
  assert.deepEqual(v4?.spec, { parentRef: { group: '', resource: 'services', namespace: 'n', name: 'a' } });
  assert.equal(v4?.metadata.labels?.['ipaddress.kubernetes.io/ip-family'], 'IPv4');
  assert.equal(v6?.metadata.labels?.['ipaddress.kubernetes.io/ip-family'], 'IPv6');
});

test('what is there is left alone', () => {
  const services = [service('a', '10.0.0.1')];
  assert.deepEqual(planAddresses(services, madeFor(...services)), { made: [], removed: [] });
});

test('an address goes when its Service does, or another one has it', () => {
  const live = madeFor(service('a', '10.0.0.1'), service('b', '10.0.0.2'));
  assert.deepEqual(names(planAddresses([], live).removed), ['10.0.0.1', '10.0.0.2']);
  const swapped = planAddresses([service('a', '10.0.0.2')], live);
  assert.deepEqual([names(swapped.made), names(swapped.removed)], [[], ['10.0.0.1', '10.0.0.2']]);
});

test('an address of somebody else stays, whatever it names', () => {
  const [own] = madeFor(service('a', '10.0.0.1'));
  const foreign = { ...own!, metadata: { name: '10.0.0.1' } };
  assert.deepEqual(planAddresses([], [foreign]), { made: [], removed: [] });
  assert.deepEqual(planAddresses([service('c', '10.0.0.1')], [foreign]), { made: [], removed: [] });
});
