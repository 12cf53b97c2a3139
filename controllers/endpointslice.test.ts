/** What is listed behind a service, in both forms, and how it is spread over slices. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Endpoints, Pod, Service } from '../machinery/api/types/core.v1.ts';
import type { Endpoint, EndpointSlice } from '../machinery/api/types/discovery.k8s.io.v1.ts';
import { compareEndpoints } from './endpoints.ts';
import { MAX_ENDPOINTS, pack } from './endpointslice/packing.ts';
import { repackSubsets } from './endpointslice/subsets.ts';
import { compareSlices } from './endpointslice.ts';
import { compareMirror } from './endpointslicemirroring.ts';

const service = (more: Partial<Service['spec']> = {}): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web', namespace: 'ns', uid: 's', labels: { team: 'a' } },
  spec: { selector: { app: 'web' }, clusterIP: '10.96.0.9', ipFamilies: ['IPv4'], ports: [{ port: 80, targetPort: 'http' }], ...more },
});

interface Facts {
  readonly ip?: string;
  readonly ready?: boolean;
  readonly deleted?: boolean;
  readonly phase?: 'Running' | 'Failed';
  readonly port?: number;
}

const pod = (name: string, { ip = '10.0.0.1', ready = true, deleted, phase = 'Running', port = 8080 }: Facts = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'ns', uid: name, ...(deleted && { deletionTimestamp: '2030-01-01T00:00:00Z' }) },
  spec: { containers: [{ name: 'c', image: 'i', ports: [{ name: 'http', containerPort: port }] }] },
  status: { phase, podIP: ip, podIPs: ip ? [{ ip }] : [], conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
});

const slicesFor = (s: Service, pods: readonly Pod[], slices: readonly EndpointSlice[] = []) =>
  compareSlices({ service: s, pods, nodes: new Map(), slices }).actions;
const written = (action: unknown): EndpointSlice => (action as { object: EndpointSlice }).object;

test('listed are pods with an address that are not finished; those being deleted serve but are not ready', () => {
  const [create, ...rest] = slicesFor(service(), [
    pod('a'),
    pod('b', { deleted: true }),
    pod('c', { phase: 'Failed' }),
    pod('d', { ip: '' }),
    pod('e', { ready: false }),
  ]);
  assert.equal(rest.length, 0);
  const conditions = written(create).endpoints?.map((endpoint) => [endpoint.targetRef?.name, endpoint.conditions]);
  assert.deepEqual(conditions, [
    ['a', { ready: true, serving: true, terminating: false }],
    ['b', { ready: false, serving: true, terminating: true }],
    ['e', { ready: false, serving: false, terminating: false }],
  ]);
});

test('pods with another port number get a slice of their own', () => {
  const ports = slicesFor(service(), [pod('a'), pod('b', { port: 9090 })]).map((action) => written(action).ports?.map((port) => port.port));
  assert.deepEqual(ports, [[8080], [9090]]);
});

test('without endpoints there is one empty slice', () => {
  const actions = slicesFor(service(), []);
  assert.deepEqual(
    actions.map((action) => [action.do, written(action).endpoints, written(action).ports]),
    [['create', [], []]],
  );
  const stored = { ...written(actions[0]), metadata: { ...written(actions[0]).metadata, name: 'web-x', uid: 'x' } };
  assert.deepEqual(
    slicesFor(service(), [], [stored]).filter((action) => action.do !== 'update'),
    [],
  );
});

test('labels follow the service and a headless one is marked', () => {
  const [create] = slicesFor(service({ clusterIP: 'None' }), [pod('a')]);
  assert.deepEqual(written(create).metadata.labels, {
    team: 'a',
    'service.kubernetes.io/headless': '',
    'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
    'kubernetes.io/service-name': 'web',
  });
});

const endpoint = (n: number): Endpoint => ({ addresses: [`10.0.${Math.floor(n / 250)}.${n % 250}`], conditions: { ready: true } });
const many = (count: number, from = 0): Endpoint[] => Array.from({ length: count }, (_, i) => endpoint(from + i));
const slice = (name: string, endpoints: readonly Endpoint[]): EndpointSlice => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name, uid: name },
  addressType: 'IPv4',
  endpoints: [...endpoints],
  ports: [],
});
const sizes = (packing: ReturnType<typeof pack>) => packing.write.map(({ was, endpoints }) => [was?.metadata.name, endpoints.length]);

test('a slice holds at most a hundred endpoints', () => {
  assert.deepEqual(sizes(pack([{ ports: [], endpoints: many(250) }], [])), [
    [undefined, 100],
    [undefined, 100],
    [undefined, 50],
  ]);
  assert.equal(MAX_ENDPOINTS, 100);
});

test('what is right is not written, and a new endpoint goes where there is room', () => {
  const existing = [slice('full', many(100)), slice('half', many(50, 100))];
  assert.deepEqual(sizes(pack([{ ports: [], endpoints: many(150) }], existing)), []);
  assert.deepEqual(sizes(pack([{ ports: [], endpoints: many(151) }], existing)), [['half', 51]]);
  assert.deepEqual(sizes(pack([{ ports: [], endpoints: many(210) }], existing)), [[undefined, 60]]);
});

test('an emptied slice goes, unless it can take the place of a new one', () => {
  const gone = pack([{ ports: [], endpoints: many(100) }], [slice('a', many(100)), slice('b', many(5, 500))]);
  assert.deepEqual([sizes(gone), gone.remove.map((s) => s.metadata.name)], [[], ['b']]);
  const reused = pack([{ ports: [{ name: '', port: 80 }], endpoints: many(3) }], [slice('a', many(3))]);
  assert.deepEqual([sizes(reused), reused.remove], [[['a', 3]], []]);
});

test('subsets group addresses that share their ports, whatever the order', () => {
  const fact = (ip: string, ready: boolean, ...ports: number[]) => ({ address: { ip }, ready, ports: ports.map((port) => ({ port })) });
  const facts = [fact('b', true, 80, 443), fact('a', true, 80), fact('c', false, 80)];
  const want = [
    { addresses: [{ ip: 'a' }, { ip: 'b' }], notReadyAddresses: [{ ip: 'c' }], ports: [{ port: 80 }] },
    { addresses: [{ ip: 'b' }], ports: [{ port: 443 }] },
  ];
  assert.deepEqual(repackSubsets(facts), want);
  assert.deepEqual(repackSubsets([...facts].reverse()), want);
});

test('Endpoints leave out pods being deleted and keep those not ready apart', () => {
  const plan = compareEndpoints({
    service: service(),
    pods: [pod('a'), pod('b', { ready: false, ip: '10.0.0.2' }), pod('c', { deleted: true })],
    endpoints: undefined,
  });
  const [subset] = (plan.actions[0] as { object: Endpoints }).object.subsets ?? [];
  assert.deepEqual([subset?.addresses?.map((a) => a.ip), subset?.notReadyAddresses?.map((a) => a.ip)], [['10.0.0.1'], ['10.0.0.2']]);
});

const byHand: Endpoints = {
  apiVersion: 'v1',
  kind: 'Endpoints',
  metadata: { name: 'web', namespace: 'ns', uid: 'e' },
  subsets: [{ addresses: [{ ip: '10.9.8.7' }], ports: [{ port: 80 }] }],
};

test('Endpoints made by hand are left alone without a service, and mirrored for one without a selector', () => {
  assert.deepEqual(compareEndpoints({ service: undefined, pods: [], endpoints: byHand }).actions, []);
  assert.deepEqual(compareMirror({ service: undefined, endpoints: byHand, slices: [] }).actions, []);
  const { selector: _, ...spec } = service().spec;
  const mirror = (endpoints: Endpoints, slices: readonly EndpointSlice[] = []) =>
    compareMirror({ service: { ...service(), spec }, endpoints, slices }).actions;
  assert.deepEqual(written(mirror(byHand)[0]).endpoints, [{ addresses: ['10.9.8.7'], conditions: { ready: true } }]);
  const skipped = { ...byHand, metadata: { ...byHand.metadata, labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } } };
  assert.deepEqual(
    mirror(skipped, [slice('m', [])]).map((action) => action.do),
    ['delete'],
  );
});
