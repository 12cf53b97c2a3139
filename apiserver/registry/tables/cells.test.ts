/** Cells that several kinds share. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadBalancerAddresses } from './cells.ts';

test('addresses of a load balancer are shown once each, in order, names among them', () => {
  const ingress = [{ ip: '5.5.5.5' }, { hostname: 'b.example.com' }, { ip: '4.4.4.4', hostname: 'a.example.com' }, { ip: '5.5.5.5' }, {}];
  assert.deepEqual(loadBalancerAddresses(ingress), ['4.4.4.4', '5.5.5.5', 'b.example.com']);
  assert.deepEqual(loadBalancerAddresses(undefined), []);
});
