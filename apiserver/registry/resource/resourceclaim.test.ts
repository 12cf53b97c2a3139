/** Resource claims: admin access, reservations, what drivers report, and how a claim is shown. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../../machinery/api/object.ts';
import { cellsOf, refusals } from '../testing/kind-under-test.ts';
import { resourceclaim } from './resourceclaim.ts';
import { resourceslice } from './resourceslice.ts';

const exactly = (name: string, adminAccess: boolean): object => ({ name, exactly: { deviceClassName: 'c', adminAccess } });
const claim = (more: object): object => ({ metadata: { name: 'a', namespace: 'n' }, ...more });
const LABEL = 'resource.kubernetes.io/admin-access';
const DENIED = `Forbidden: admin access to devices requires the \`${LABEL}: true\` label on the containing namespace`;
const namespaces = (labels: Record<string, string>): KubeObject[] => [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n', labels } },
];

test('admin access is refused once, of the first request that wants it', () => {
  const object = claim({ spec: { devices: { requests: [exactly('x', false), exactly('y', true), exactly('z', true)] } } });
  assert.deepEqual(refusals(resourceclaim, object), [`spec.devices.requests[1].adminAccess: ${DENIED}`]);
  assert.deepEqual(refusals(resourceclaim, object, { others: namespaces({ [LABEL]: 'true' }) }), []);
  assert.deepEqual(refusals(resourceclaim, object, { others: namespaces({ [LABEL]: 'yes' }) }).length, 1);
});

const SPEC = { devices: { requests: [exactly('x', false)] } };
const result = (more: object = {}): object => ({ request: 'x', driver: 'd.example.com', pool: 'p', device: 'dev', ...more });
const status = (more: object, metadata: object = {}): object => ({
  metadata: { name: 'a', namespace: 'n', ...metadata },
  spec: SPEC,
  status: { allocation: { devices: { results: [result()] } }, ...more },
});

test('an allocation with admin access needs the label too, unless it was there before', () => {
  const admin = status({ allocation: { devices: { results: [result(), result({ device: 'e', adminAccess: true })] } } });
  const asking = { old: claim({ spec: SPEC }), subresource: 'status' };
  assert.deepEqual(refusals(resourceclaim, admin, asking), [`status.allocation.devices.results[1].adminAccess: ${DENIED}`]);
  assert.deepEqual(refusals(resourceclaim, admin, { ...asking, others: namespaces({ [LABEL]: 'true' }) }), []);
  assert.deepEqual(refusals(resourceclaim, admin, { ...asking, old: admin }), []);
});

test('a claim that is going takes no new reservation, not even under a known uid', () => {
  const going = { deletionTimestamp: '2026-01-01T00:00:00Z' };
  const pod = (name: string): object => ({ resource: 'pods', name, uid: 'u' });
  const old = status({ reservedFor: [pod('p')] }, going);
  const asking = { old, subresource: 'status' };
  assert.deepEqual(refusals(resourceclaim, status({ reservedFor: [pod('p')] }, going), asking), []);
  assert.deepEqual(refusals(resourceclaim, status({ reservedFor: [pod('q')] }, going), asking), [
    'status.reservedFor: Forbidden: new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set',
  ]);
});

test('addresses of a device are interface addresses in their canonical form', () => {
  const ips = (...list: string[]): string[] => {
    const device = { driver: 'd.example.com', pool: 'p', device: 'dev', networkData: { ips: list } };
    return refusals(resourceclaim, status({ devices: [device] }), { old: status({}), subresource: 'status' });
  };
  const at = 'status.devices[0].networkData.ips';
  const form = 'must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)';
  assert.deepEqual(ips('10.1.2.3/24', '2001:db8::1/64'), []);
  assert.deepEqual(ips('10.1.2.3'), [`${at}[0]: Invalid value: "10.1.2.3": ${form}`]);
  assert.deepEqual(ips('010.1.2.3/24'), [`${at}[0]: Invalid value: "010.1.2.3/24": must be in canonical form ("10.1.2.3/24")`]);
  assert.deepEqual(ips('2001:DB8::1/64'), [`${at}[0]: Invalid value: "2001:DB8::1/64": must be in canonical form ("2001:db8::1/64")`]);
  assert.deepEqual(ips('::ffff:10.1.2.3/120'), [
    `${at}[0]: Invalid value: "::ffff:10.1.2.3/120": must be in canonical form ("10.1.2.3/24")`,
  ]);
});

test('a row says deleted, allocated and reserved, or pending', () => {
  const state = (object: object): unknown => cellsOf(resourceclaim, object)[1];
  const going = { metadata: { name: 'a', deletionTimestamp: '2026-01-01T00:00:00Z' } };
  assert.equal(state({}), 'pending');
  assert.equal(state(going), 'deleted');
  assert.equal(state({ ...going, status: { allocation: {}, reservedFor: [{}] } }), 'deleted,allocated,reserved');
  assert.equal(state({ status: { reservedFor: [{}] } }), 'pending');
});

test('a long name of a capacity is shown without its middle', () => {
  const name = `${'d'.repeat(60)}/${'c'.repeat(40)}`;
  const device = { name: 'dev', capacity: { [name]: { value: '1', requestPolicy: { default: '1' } } } };
  const spec = { driver: 'd.example.com', pool: { name: 'p', resourceSliceCount: 1, generation: 0 }, nodeName: 'n', devices: [device] };
  const errors = refusals(resourceslice, { spec });
  assert.equal(
    errors.at(-1),
    `spec.devices[0].capacity[${'d'.repeat(47)}...${'d'.repeat(5)}/${'c'.repeat(40)}].requestPolicy: Forbidden: allowMultipleAllocations must be true`,
  );
});
