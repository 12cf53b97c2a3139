/** Endpoint slices: addresses of each type, what is said of bad ones, and how ports and addresses are shown. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cellsOf, refusals, warningsOf } from '../testing/kind-under-test.ts';
import { endpointslice } from './endpointslice.ts';

const slice = (addressType: string, ...addresses: string[]): object => ({ addressType, endpoints: [{ addresses }], ports: [{ port: 80 }] });
const AT = 'endpoints[0].addresses[0]';

const CASES: readonly (readonly [object, readonly string[]])[] = [
  [slice('FQDN', 'a.example.com.'), []],
  [slice('FQDN', 'a'), [`${AT}: Invalid value: "a": should be a domain with at least two segments separated by dots`]],
  [slice('FQDN', `${'a'.repeat(64)}.com`), [`${AT}: Invalid value: "${'a'.repeat(64)}": must be no more than 63 characters`]],
  [slice('FQDN', ''), [`${AT}: Required value`]],
  [slice('IPv4', 'nowhere'), [`${AT}: Invalid value: "nowhere": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`]],
  [slice('IPv4', '010.0.0.1'), [`${AT}: Invalid value: "010.0.0.1": must not have leading 0s`]],
  [slice('IPv6', '10.0.0.1'), ['endpoints[0].addresses: Invalid value: "10.0.0.1": must be an IPv6 address']],
  [
    slice('IPv6', '127.0.0.1'),
    [
      'endpoints[0].addresses: Invalid value: "127.0.0.1": must be an IPv6 address',
      `${AT}: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)`,
    ],
  ],
];

for (const [object, expected] of CASES) {
  test(`a slice ${JSON.stringify(object)} is ${expected.length === 0 ? 'accepted' : 'refused'}`, () => {
    assert.deepEqual(refusals(endpointslice, object), expected);
  });
}

test('the deprecation of domain names is told at creation only, unusual addresses at every write', () => {
  const names = slice('FQDN', 'a.example.com');
  assert.equal(warningsOf(endpointslice, names).length, 1);
  assert.deepEqual(warningsOf(endpointslice, names, names), []);
  const long = slice('IPv6', '2001:db8:0::1');
  const text = `${AT}: IPv6 address "2001:db8:0::1" should be in RFC 5952 canonical format ("2001:db8::1")`;
  assert.deepEqual(warningsOf(endpointslice, long), [text]);
  assert.deepEqual(warningsOf(endpointslice, long, long), [text]);
});

test('a port without number shows its name, which may be nothing', () => {
  const ports = (...list: object[]): unknown => cellsOf(endpointslice, { addressType: 'IPv4', endpoints: [], ports: list })[2];
  assert.equal(ports({}), '<unset>');
  assert.equal(ports({ name: 'web' }, { port: 9 }), 'web,9');
  assert.equal(ports({ port: 1 }, { port: 2 }, { port: 3 }, { port: 4 }, { port: 5 }), '1,2,3 + 2 more...');
});
