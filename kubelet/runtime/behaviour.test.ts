/** Images and annotations that decide how a simulated container behaves. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeContainer, makePod } from '../testing/pod-workers.ts';
import { behaviourOf, fullReference } from './behaviour.ts';

const of = (image: string, annotations: Record<string, string> = {}) => {
  const container = makeContainer({ image });
  return behaviourOf(makePod({ annotations, spec: { containers: [container] } }), container, 'app');
};

const images: readonly [image: string, check: (behaviour: ReturnType<typeof of>) => boolean][] = [
  ['nginx', ({ script, stopMs, pullError }) => script.after === 'run' && stopMs === 0 && pullError === undefined],
  ['registry.example/crash:1', ({ script }) => script.after === 'end' && script.code === 1],
  ['registry.example/crashloop', ({ script }) => script.code === 1],
  ['failover-service:2', ({ script }) => script.after === 'run'],
  ['web:missing', ({ pullError }) => pullError !== undefined],
  ['registry.example/no-such-image:1', ({ pullError }) => pullError !== undefined],
  ['registry.invalid/web:1', ({ pullError }) => pullError !== undefined],
  ['oom:1', ({ oom, script }) => oom && script.code === 137],
  ['busybox', ({ script }) => script.after === 'end' && script.code === 0],
  ['hello-world', ({ script }) => script.steps.length === 1],
  ['stubborn', ({ stopMs }) => stopMs === null],
  ['slow-start', ({ startMs }) => startMs === 5000],
];
for (const [image, check] of images) test(`image ${image}`, () => assert.ok(check(of(image)), JSON.stringify(of(image))));

test('annotations win, those of one container over those of the pod', () => {
  assert.equal(of('crash', { 'flyball.dev/exit-code': '4' }).script.code, 4);
  assert.equal(of('web', { 'flyball.dev/exit-code': '4', 'flyball.dev/exit-code.c': '5' }).script.code, 5);
  assert.equal(of('web', { 'flyball.dev/ready': 'false' }).readyAfterMs, null);
  assert.equal(of('web', { 'flyball.dev/ready': '10s' }).readyAfterMs, 10_000);
  assert.equal(of('web', { 'flyball.dev/stop-time': 'never' }).stopMs, null);
  assert.equal(of('web', { 'flyball.dev/start-time': 'nonsense' }).startMs, 2);
});

test('an image reference is spelled out as containerd does', () => {
  assert.equal(fullReference('nginx'), 'docker.io/library/nginx:latest');
  assert.equal(fullReference('org/app:2'), 'docker.io/org/app:2');
  assert.equal(fullReference('registry.example:5000/app'), 'registry.example:5000/app:latest');
});
