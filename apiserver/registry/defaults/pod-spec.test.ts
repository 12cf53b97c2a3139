/** What pods get that do not say it: requests of the whole pod from its containers, and of containers from their limits. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { containerWith, type Loose, podWith } from '../testing/pods.ts';

const container = (name: string, requests: Loose, limits: Loose = {}): Loose =>
  containerWith({ name, resources: { requests, limits } }) as unknown as Loose;

test('a container asks for its limits where it asks for nothing', () => {
  const { spec } = podWith({ containers: [container('a', { memory: '1Gi' }, { cpu: '2', memory: '2Gi' })] });
  assert.deepEqual(spec.containers[0]!.resources!.requests, { memory: '1Gi', cpu: '2' });
});

test('a pod with limits as a whole asks for what its containers ask for, or else for its limits', () => {
  const { spec } = podWith({
    resources: { limits: { cpu: '4', memory: '4Gi' } },
    containers: [container('a', { cpu: '1' }), container('b', { cpu: '500m' })],
  });
  assert.deepEqual(spec.resources!.requests, { cpu: '1500m', memory: '4Gi' });
});

test('a pod that asks for something as a whole keeps that', () => {
  const { spec } = podWith({ resources: { requests: { cpu: '3' }, limits: { cpu: '4' } }, containers: [container('a', { cpu: '1' })] });
  assert.equal(spec.resources!.requests!['cpu'], '3');
});

test('a pod without resources as a whole gets none', () => {
  assert.equal(podWith({ containers: [container('a', { cpu: '1' })] }).spec.resources, undefined);
});

test('probes, ports, volumes and policies have usual values', () => {
  const { spec } = podWith({
    containers: [containerWith({ image: 'app:latest', ports: [{ containerPort: 1 }], livenessProbe: { httpGet: { port: 1 } } })],
    volumes: [{ name: 's', secret: { secretName: 's' } }, { name: 'e' }],
  });
  const [first] = spec.containers;
  assert.equal(first!.imagePullPolicy, 'Always');
  assert.equal(first!.ports![0]!.protocol, 'TCP');
  assert.deepEqual(first!.livenessProbe, {
    httpGet: { port: 1, path: '/', scheme: 'HTTP' },
    timeoutSeconds: 1,
    periodSeconds: 10,
    successThreshold: 1,
    failureThreshold: 3,
  });
  assert.equal(spec.volumes![0]!.secret!.defaultMode, 420);
  assert.deepEqual(spec.volumes![1]!.emptyDir, {});
  assert.equal(spec.enableServiceLinks, true);
});

test('ports of a pod in the network of its host are those of the host', () => {
  const { spec } = podWith({ hostNetwork: true, containers: [containerWith({ ports: [{ containerPort: 8080 }] })] });
  assert.equal(spec.containers[0]!.ports![0]!.hostPort, 8080);
});
