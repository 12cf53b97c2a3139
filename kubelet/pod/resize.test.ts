/** Pods that ask for other resources while they run, and containers added to pods that run. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../machinery/api/types/core.v1.ts';
import { makeContainer, makePod, makeRig, type Rig } from '../testing/pod-workers.ts';

const asking = (cpu: string, memory = '1Gi') => ({ requests: { cpu, memory }, limits: { memory } });
const sized = (name: string, cpu: string, more: object = {}): Pod =>
  makePod({ name, spec: { containers: [makeContainer({ resources: asking(cpu), ...more })] } });

/** What a write of `pods/resize` leaves behind. */
function resize(rig: Rig, name: string, cpu: string, memory?: string): void {
  const pod = structuredClone(rig.pod(name));
  pod.spec.containers[0]!.resources = asking(cpu, memory);
  pod.metadata.generation = (pod.metadata.generation ?? 0) + 1;
  rig.tell(pod);
}

const statusOf = (rig: Rig, name: string) => rig.pod(name).status?.containerStatuses?.[0];
const conditionOf = (rig: Rig, name: string, type: string) => rig.pod(name).status?.conditions?.find((other) => other.type === type);
const reasons = (rig: Rig): string[] => rig.events.map((event) => event.reason).filter((reason) => /Resize|Killing/.test(reason));

test('a resize that fits is done without a restart and shows as in progress meanwhile', async (t) => {
  const rig = makeRig(t);
  rig.tell(sized('p', '1'));
  await rig.clock.advance(1000);
  assert.deepEqual(statusOf(rig, 'p')?.allocatedResources, { cpu: '1', memory: '1Gi' });
  assert.deepEqual(statusOf(rig, 'p')?.resources, asking('1'));
  const id = statusOf(rig, 'p')?.containerID;

  resize(rig, 'p', '2');
  await rig.clock.advance(20);
  assert.deepEqual(statusOf(rig, 'p')?.allocatedResources, { cpu: '2', memory: '1Gi' });
  assert.deepEqual(statusOf(rig, 'p')?.resources, asking('1'), 'not yet in force');
  assert.equal(rig.pod('p').status?.conditions?.[0]?.type, 'PodResizeInProgress', 'listed first');
  assert.equal(conditionOf(rig, 'p', 'PodResizeInProgress')?.observedGeneration, 2);

  await rig.clock.advance(1000);
  assert.deepEqual(statusOf(rig, 'p')?.resources, asking('2'));
  assert.equal(conditionOf(rig, 'p', 'PodResizeInProgress'), undefined);
  assert.equal(statusOf(rig, 'p')?.containerID, id);
  assert.equal(statusOf(rig, 'p')?.restartCount, 0);
  assert.deepEqual(reasons(rig), ['ResizeStarted', 'ResizeCompleted']);
  assert.equal(
    rig.events.at(-1)?.message,
    'Pod resize completed: {"containers":[{"name":"c","resources":{"limits":{"memory":"1Gi"},"requests":{"cpu":"2","memory":"1Gi"}}}],"generation":2}',
  );
});

test('a resize whose policy says so restarts the container', async (t) => {
  const rig = makeRig(t);
  rig.tell(sized('p', '1', { resizePolicy: [{ resourceName: 'memory', restartPolicy: 'RestartContainer' }] }));
  await rig.clock.advance(1000);
  resize(rig, 'p', '1', '2Gi');
  await rig.clock.advance(1000);
  assert.equal(statusOf(rig, 'p')?.restartCount, 1);
  assert.deepEqual(statusOf(rig, 'p')?.resources, asking('1', '2Gi'));
  assert.deepEqual(reasons(rig), ['ResizeStarted', 'Killing', 'ResizeCompleted']);
  assert.ok(rig.events.some((event) => event.message === 'Container c resize requires restart'));
});

test('a resize waits while others have the room, and comes about when they leave', async (t) => {
  const rig = makeRig(t);
  rig.tell(sized('p', '1'));
  rig.tell(sized('other', '2'));
  await rig.clock.advance(1000);
  resize(rig, 'p', '3');
  await rig.clock.advance(1000);
  const pending = conditionOf(rig, 'p', 'PodResizePending');
  assert.equal(pending?.reason, 'Deferred');
  assert.equal(pending?.message, `Node didn't have enough resource: cpu, requested: 3000, used: 2000, capacity: 4000`);
  assert.deepEqual(statusOf(rig, 'p')?.allocatedResources, { cpu: '1', memory: '1Gi' });
  await rig.clock.advance(30_000);
  assert.deepEqual(reasons(rig), ['ResizeDeferred'], 'told once');

  rig.workers.podGone('uid-other');
  await rig.clock.advance(5000);
  assert.equal(conditionOf(rig, 'p', 'PodResizePending'), undefined);
  assert.deepEqual(statusOf(rig, 'p')?.resources, asking('3'));
});

test('what the node can never give is infeasible; asking for less again ends it', async (t) => {
  const rig = makeRig(t);
  rig.tell(sized('p', '1'));
  await rig.clock.advance(1000);
  resize(rig, 'p', '5');
  await rig.clock.advance(1000);
  assert.equal(
    conditionOf(rig, 'p', 'PodResizePending')?.message,
    `Node didn't have enough capacity: cpu, requested: 5000, capacity: 4000`,
  );
  assert.match(
    rig.events.at(-1)?.message ?? '',
    /^Pod resize Infeasible: \{"containers":.*"generation":2,"error":"Node didn't have enough capacity/,
  );
  resize(rig, 'p', '1');
  await rig.clock.advance(3000);
  assert.equal(conditionOf(rig, 'p', 'PodResizePending'), undefined);
  assert.deepEqual(reasons(rig), ['ResizeInfeasible']);
});

test('a kubelet that returns remembers what it gave', async (t) => {
  const rig = makeRig(t);
  rig.tell(sized('p', '1'));
  await rig.clock.advance(1000);
  resize(rig, 'p', '5');
  await rig.clock.advance(1000);
  const again = rig.restart();
  again.tell(rig.pod('p'));
  await again.clock.advance(1000);
  assert.deepEqual(statusOf(again, 'p')?.allocatedResources, { cpu: '1', memory: '1Gi' });
  assert.equal(conditionOf(again, 'p', 'PodResizePending')?.reason, 'Infeasible');
});

test('an ephemeral container starts in a pod that runs, is never ready and never restarted', async (t) => {
  const rig = makeRig(t);
  rig.tell(makePod());
  await rig.clock.advance(1000);
  const pod = structuredClone(rig.pod());
  pod.spec.ephemeralContainers = [
    { ...makeContainer({ name: 'debugger', image: 'busybox', command: ['sleep', '5'] }), targetContainerName: 'c' },
    { ...makeContainer({ name: 'shell', image: 'busybox' }), stdin: true },
  ];
  rig.tell(pod);
  await rig.clock.advance(1000);
  const status = (index: number) => rig.pod().status?.ephemeralContainerStatuses?.[index];
  assert.ok(status(0)?.state?.running);
  assert.equal(status(0)?.ready, false);
  assert.equal(status(0)?.started, undefined);
  assert.ok(status(1)?.state?.running, 'waits for input');
  assert.equal(rig.pod().status?.containerStatuses?.length, 1);
  const own = rig.events.filter((event) => event.container === 'debugger').map((event) => event.reason);
  assert.deepEqual(own, ['Pulling', 'Pulled', 'Created', 'Started']);

  await rig.clock.advance(60_000);
  assert.equal(status(0)?.state?.terminated?.exitCode, 0);
  assert.equal(status(0)?.restartCount, 0);
  assert.equal(rig.pod().status?.phase, 'Running');
});
