/** Which addresses stand behind the Service `kubernetes`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { advertisedAddress, type EndpointReconcilerType, withOwn } from './kubernetes-service.ts';

const OWN = '192.0.2.5';
const CASES: readonly (readonly [EndpointReconcilerType, count: number, current: string[], wanted: string[]])[] = [
  ['lease', 1, [], [OWN]],
  ['lease', 1, ['192.0.2.9'], [OWN]],
  ['master-count', 1, [], [OWN]],
  ['master-count', 1, ['192.0.2.1'], [OWN]],
  ['master-count', 2, ['192.0.2.1'], ['192.0.2.1', OWN]],
  ['master-count', 2, [OWN, '192.0.2.1'], ['192.0.2.1', OWN]],
  ['master-count', 2, ['192.0.2.1', '192.0.2.7'], ['192.0.2.1', OWN]],
  ['master-count', 2, ['192.0.2.1', '192.0.2.3'], ['192.0.2.3', OWN]],
];
for (const [reconciler, count, current, wanted] of CASES) {
  test(`${reconciler} of ${count} makes [${current}] into [${wanted}]`, () => {
    assert.deepEqual(withOwn({ serviceIp: '10.96.0.1', securePort: 6443, address: OWN, reconciler, count }, current), wanted);
  });
}

test('a loopback address is never advertised by itself', () => {
  assert.equal(advertisedAddress('192.0.2.1', '127.0.0.1'), '192.0.2.1');
  assert.equal(advertisedAddress(undefined, '192.0.2.2'), '192.0.2.2');
  for (const bind of ['127.0.0.1', '0.0.0.0', '::1', '::', 'localhost']) {
    assert.doesNotMatch(advertisedAddress(undefined, bind) ?? '', /^(127\.|0\.|::)/, bind);
  }
});
