/** The Service `kubernetes` and where it leads. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startTestApiServer } from '../fixtures/apiserver.ts';
import { eventually } from '../fixtures/eventually.ts';
import { type Send, sender } from '../fixtures/http.ts';

const SERVICE = '/api/v1/namespaces/default/services/kubernetes';
const ENDPOINTS = '/api/v1/namespaces/default/endpoints/kubernetes';
const SLICE = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes';
const read = async (send: Send, path: string) => (await send('GET', path)).body;

test('the Service kubernetes leads to the address that is advertised', async (t) => {
  const { client, url } = await startTestApiServer(t, { advertiseAddress: '192.0.2.10' });
  const send = sender(client);
  const port = Number(new URL(url).port);

  await t.test('has the first address of the range and the port of this server', async () => {
    const { spec, metadata } = await read(send, SERVICE);
    assert.equal(spec.clusterIP, '10.96.0.1');
    assert.deepEqual(spec.ports, [{ name: 'https', protocol: 'TCP', port: 443, targetPort: port }]);
    assert.deepEqual(metadata.labels, { component: 'apiserver', provider: 'kubernetes' });
  });

  await t.test('has Endpoints that nobody mirrors', async () => {
    const { subsets, metadata } = await read(send, ENDPOINTS);
    assert.deepEqual(subsets, [{ addresses: [{ ip: '192.0.2.10' }], ports: [{ name: 'https', port, protocol: 'TCP' }] }]);
    assert.deepEqual(metadata.labels, { 'endpointslice.kubernetes.io/skip-mirror': 'true' });
    assert.equal(metadata.managedFields[0].manager, 'kube-apiserver');
  });

  await t.test('has an EndpointSlice', async () => {
    const { addressType, endpoints, ports, metadata } = await read(send, SLICE);
    assert.equal(addressType, 'IPv4');
    assert.deepEqual(endpoints, [{ addresses: ['192.0.2.10'], conditions: { ready: true } }]);
    assert.deepEqual(ports, [{ name: 'https', port, protocol: 'TCP' }]);
    assert.deepEqual(metadata.labels, { 'kubernetes.io/service-name': 'kubernetes' });
  });
});

test('cluster IPs have objects, and so has the range they come from', async (t) => {
  const { client } = await startTestApiServer(t);
  const send = sender(client);
  const addresses = async (): Promise<string[]> =>
    (await read(send, '/apis/networking.k8s.io/v1/ipaddresses')).items.map((item: { metadata: { name: string } }) => item.metadata.name);

  await t.test('from the start', async () => {
    const { spec, status } = await read(send, '/apis/networking.k8s.io/v1/servicecidrs/kubernetes');
    assert.deepEqual(spec, { cidrs: ['10.96.0.0/16'] });
    assert.deepEqual([status.conditions[0].type, status.conditions[0].status], ['Ready', 'True']);
    assert.deepEqual(await addresses(), ['10.96.0.1']);
  });

  await t.test('while there is the Service', async () => {
    const services = '/api/v1/namespaces/default/services';
    const spec = { clusterIP: '10.96.7.7', ports: [{ port: 80 }] };
    await send('POST', services, { apiVersion: 'v1', kind: 'Service', metadata: { name: 'web' }, spec });
    await eventually('the address is there', async () => (await addresses()).includes('10.96.7.7'));
    await send('DELETE', `${services}/web`);
    await eventually('the address is gone', async () => !(await addresses()).includes('10.96.7.7'));
  });
});

test('a server that stops takes its address out; the next one puts its own in', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'flyball-service-'));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const options = { dataDir, storage: 'level', advertiseAddress: '192.0.2.10' } as const;
  const first = await startTestApiServer(t, options);
  await first.stop();
  const quiet = await startTestApiServer(t, { ...options, endpointReconcilerType: 'none' });
  assert.equal((await read(sender(quiet.client), ENDPOINTS)).subsets, undefined);
  assert.equal((await read(sender(quiet.client), SLICE)).endpoints, null);
  await quiet.stop();
  const last = await startTestApiServer(t, { ...options, advertiseAddress: '192.0.2.11' });
  const send = sender(last.client);
  assert.equal((await read(send, ENDPOINTS)).subsets[0].addresses[0].ip, '192.0.2.11');
  assert.equal((await read(send, SLICE)).endpoints[0].addresses[0], '192.0.2.11');
  assert.equal((await read(send, SERVICE)).spec.ports[0].targetPort, Number(new URL(last.url).port));
  await last.stop();
});

test('without an endpoint reconciler there is only the Service; an address nobody may publish stops nothing', async (t) => {
  for (const options of [{ endpointReconcilerType: 'none' }, { advertiseAddress: '127.0.0.1' }] as const) {
    const { client, stop } = await startTestApiServer(t, options);
    const send = sender(client);
    assert.equal((await send('GET', SERVICE)).code, 200);
    assert.equal((await send('GET', ENDPOINTS)).code, 404);
    await stop();
  }
});
