/** How many requests are let in, by what they are and who asks. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createMetrics } from '../../machinery/process/metrics.ts';
import { createInFlight, TooManyInFlight } from './in-flight.ts';
import { parseRequestInfo } from './request-info.ts';

const ann = { name: 'ann', groups: ['devs'] };
const administrator = { name: 'root', groups: ['system:masters'] };
const pods = (query = '') => parseRequestInfo('GET', `/api/v1/pods${query}`);

it('a full server lets in administrators, leases and probes, and each watch only while there is room for watches', () => {
  const inFlight = createInFlight({ mutating: 1, readOnly: 1, longRunning: 2 }, createMetrics());
  const leave = inFlight.enter(pods(), ann)!;
  assert.throws(() => inFlight.enter(pods(), ann), TooManyInFlight);
  inFlight.enter(pods(), administrator);
  inFlight.enter(parseRequestInfo('GET', '/readyz'), ann);
  inFlight.enter(parseRequestInfo('GET', '/apis/coordination.k8s.io/v1/namespaces/a/leases/b'), ann);
  const watches = [1, 2].map(() => inFlight.enter(pods('?watch=1'), ann)!);
  assert.throws(() => inFlight.enter(pods('?watch=1'), administrator), TooManyInFlight);
  watches[0]!();
  inFlight.enter(pods('?watch=1'), ann);
  leave();
  inFlight.enter(pods(), ann);
});
