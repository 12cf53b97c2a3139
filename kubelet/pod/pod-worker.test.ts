/** The life of pods on a simulated node, with a clock of its own: what is written, told and kept, and when. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeContainer, makePod, makeRig } from '../testing/pod-workers.ts';
import { fieldPathOf } from './pod-events.ts';

const waiting = (pod: ReturnType<typeof makePod>, index = 0) => pod.status?.containerStatuses?.[index]?.state?.waiting?.reason;

test('a pod becomes Running and Ready with one status write', async (t) => {
  const rig = makeRig(t);
  rig.tell(makePod());
  await rig.clock.advance(1000);
  assert.equal(rig.writes.length, 1);
  const { status } = rig.pod();
  assert.equal(status?.phase, 'Running');
  assert.equal(status?.podIP, '10.1.0.2');
  assert.equal(status?.observedGeneration, 1);
  assert.deepEqual(status?.conditions?.map(({ type, status }) => `${type}=${status}`).sort(), [
    'ContainersReady=True',
    'Initialized=True',
    'PodReadyToStartContainers=True',
    'PodScheduled=True',
    'Ready=True',
  ]);
  assert.match(status?.containerStatuses?.[0]?.containerID ?? '', /^flyball:\/\/[0-9a-f]{64}$/);
  assert.deepEqual(
    rig.events.map((event) => event.reason),
    ['Pulling', 'Pulled', 'Created', 'Started'],
  );
  await rig.clock.advance(600_000);
  assert.equal(rig.writes.length, 1, 'a quiet pod writes nothing');
});

test('a slow start shows ContainerCreating first', async (t) => {
  const rig = makeRig(t);
  rig.tell(makePod({ annotations: { 'flyball.dev/start-time': '3s' } }));
  await rig.clock.advance(1000);
  assert.equal(waiting(rig.pod()), 'ContainerCreating');
  assert.equal(rig.pod().status?.phase, 'Pending');
  await rig.clock.advance(3000);
  assert.equal(rig.pod().status?.phase, 'Running');
  assert.equal(rig.writes.length, 2);
});

test('a crashing container backs off 10 s, 20 s, 40 s … and its restarts grow', async (t) => {
  const rig = makeRig(t);
  rig.tell(makePod({ spec: { containers: [makeContainer({ image: 'crash:1' })] } }));
  await rig.clock.advance(1000);
  assert.equal(waiting(rig.pod()), 'CrashLoopBackOff');
  const status = () => rig.pod().status?.containerStatuses?.[0];
  assert.equal(status()?.restartCount, 1);
  assert.match(status()?.state?.waiting?.message ?? '', /^back-off 10s restarting failed container=c pod=p_default\(uid-p\)$/);
  assert.equal(status()?.lastState?.terminated?.exitCode, 1);
  assert.equal(rig.pod().status?.phase, 'Running');
  const restarts: number[] = [];
  for (const seconds of [10, 20, 40, 80, 160, 300, 300]) {
    await rig.clock.advance(seconds * 1000);
    restarts.push(status()?.restartCount ?? 0);
  }
  assert.deepEqual(restarts, [2, 3, 4, 5, 6, 7, 8]);
  assert.match(status()?.state?.waiting?.message ?? '', /^back-off 5m0s /);
  assert.ok(
    rig.events.some(
      (event) => event.reason === 'BackOff' && event.message === 'Back-off restarting failed container c in pod p_default(uid-p)',
    ),
  );
});

const STARTS: readonly [string, Record<string, string>][] = [
  ['that starts as usual', {}],
  ['that starts in no time', { 'flyball.dev/start-time': '0s', 'flyball.dev/pull-time': '0s' }],
];
for (const [what, annotations] of STARTS) {
  test(`each run of a crashing container ${what} is told`, async (t) => {
    const rig = makeRig(t);
    rig.tell(makePod({ annotations, spec: { containers: [makeContainer({ image: 'crash:1' })] } }));
    await rig.clock.advance(1000);
    const run = ['Pulled', 'Created', 'Started'];
    const reasons = (): string[] => rig.events.map((event) => event.reason);
    assert.deepEqual(reasons(), ['Pulling', ...run, ...run, 'BackOff']);
    await rig.clock.advance(11_000);
    assert.deepEqual(reasons(), ['Pulling', ...run, ...run, 'BackOff', ...run, 'BackOff']);
  });
}

test('an event names the place of its container in the pod', () => {
  const pod = makePod({ spec: { initContainers: [makeContainer({ name: 'prep' })], containers: [makeContainer({ name: 'web' })] } });
  assert.equal(fieldPathOf(pod, 'web'), 'spec.containers{web}');
  assert.equal(fieldPathOf(pod, 'prep'), 'spec.initContainers{prep}');
  assert.equal(fieldPathOf(pod, 'gone'), undefined);
});

test('an image that cannot be pulled shows ErrImagePull, then ImagePullBackOff, and is tried again', async (t) => {
  const rig = makeRig(t);
  rig.tell(makePod({ spec: { containers: [makeContainer({ image: 'web:missing' })] } }));
  await rig.clock.advance(500);
  assert.equal(waiting(rig.pod()), 'ErrImagePull');
  await rig.clock.advance(4000);
  assert.equal(waiting(rig.pod()), 'ImagePullBackOff');
  assert.match(
    rig.pod().status?.containerStatuses?.[0]?.state?.waiting?.message ?? '',
    /^Back-off pulling image "web:missing": ErrImagePull: /,
  );
  await rig.clock.advance(6500);
  assert.equal(waiting(rig.pod()), 'ErrImagePull', 'tried again after 10 s');
  assert.equal(rig.pod().status?.phase, 'Pending');
  assert.equal(rig.events.filter((event) => event.reason === 'Pulling').length, 2);
});

for (const [command, policy, phase] of [
  [['true'], 'Never', 'Succeeded'],
  [['false'], 'Never', 'Failed'],
  [['sh', '-c', 'exit 3'], 'Never', 'Failed'],
  [['sh', '-c', 'echo x; sleep 3'], 'Never', 'Succeeded'],
  [['sleep', '5'], 'OnFailure', 'Succeeded'],
] as const) {
  test(`${command.join(' ')} under ${policy} ends ${phase}`, async (t) => {
    const rig = makeRig(t);
    rig.tell(makePod({ spec: { restartPolicy: policy, containers: [makeContainer({ command: [...command] })] } }));
    await rig.clock.advance(10_000);
    assert.equal(rig.pod().status?.phase, phase);
    assert.equal(rig.pod().status?.conditions?.find((condition) => condition.type === 'Ready')?.status, 'False');
  });
}

test('the pod of a Job ends at once by itself', async (t) => {
  const rig = makeRig(t);
  rig.tell(makePod({ owner: 'Job', spec: { restartPolicy: 'Never' } }));
  await rig.clock.advance(200);
  assert.equal(rig.pod().status?.phase, 'Succeeded');
  assert.equal(rig.writes.length, 1);
});

test('init containers run one after the other to their end before the others start', async (t) => {
  const rig = makeRig(t);
  const init = (name: string) => makeContainer({ name, command: ['sleep', '2'] });
  rig.tell(makePod({ spec: { initContainers: [init('a'), init('b')] } }));
  await rig.clock.advance(1000);
  assert.equal(waiting(rig.pod()), 'PodInitializing');
  assert.ok(rig.pod().status?.initContainerStatuses?.[0]?.state?.running);
  assert.equal(
    rig.pod().status?.conditions?.find((condition) => condition.type === 'Initialized')?.message,
    'containers with incomplete status: [a b]',
  );
  await rig.clock.advance(2000);
  assert.equal(rig.pod().status?.initContainerStatuses?.[0]?.state?.terminated?.exitCode, 0);
  assert.ok(rig.pod().status?.initContainerStatuses?.[1]?.state?.running);
  await rig.clock.advance(2000);
  assert.equal(rig.pod().status?.phase, 'Running');
  assert.equal(rig.pod().status?.initContainerStatuses?.[1]?.ready, true);
});

test('a sidecar starts before the containers, keeps running and ends after them', async (t) => {
  const rig = makeRig(t);
  rig.tell(
    makePod({
      spec: {
        restartPolicy: 'Never',
        initContainers: [makeContainer({ name: 'side', restartPolicy: 'Always' })],
        containers: [makeContainer({ command: ['sleep', '5'] })],
      },
    }),
  );
  await rig.clock.advance(1000);
  assert.equal(rig.pod().status?.phase, 'Running');
  assert.equal(rig.pod().status?.initContainerStatuses?.[0]?.started, true);
  await rig.clock.advance(10_000);
  assert.equal(rig.pod().status?.phase, 'Succeeded');
  assert.ok(rig.pod().status?.initContainerStatuses?.[0]?.state?.terminated);
});

test('a deleted pod is stopped within its grace, reported, then deleted with its uid', async (t) => {
  const rig = makeRig(t);
  rig.tell(makePod({ annotations: { 'flyball.dev/stop-time': '5s' } }));
  await rig.clock.advance(1000);
  const deletionTimestamp = new Date(rig.clock.now().getTime() + 30_000).toISOString();
  rig.tell({ ...rig.pod(), metadata: { ...rig.pod().metadata, deletionTimestamp, deletionGracePeriodSeconds: 30, resourceVersion: '9' } });
  await rig.clock.advance(4000);
  assert.deepEqual(rig.deletes, []);
  await rig.clock.advance(2000);
  assert.deepEqual(rig.deletes, ['p']);
  assert.equal(rig.writes.at(-1)?.containerStatuses?.[0]?.state?.terminated?.exitCode, 0);
  assert.equal([...rig.runtime.pods()].length, 0);
  assert.ok(rig.events.some((event) => event.reason === 'Killing' && event.message === 'Stopping container c' && event.container === 'c'));
});

test('what ignores SIGTERM is killed when the grace ends', async (t) => {
  const rig = makeRig(t);
  rig.tell(makePod({ spec: { containers: [makeContainer({ command: ['sleep', '3600'] })] } }));
  await rig.clock.advance(1000);
  const deletionTimestamp = new Date(rig.clock.now().getTime() + 10_000).toISOString();
  rig.tell({ ...rig.pod(), metadata: { ...rig.pod().metadata, deletionTimestamp, deletionGracePeriodSeconds: 10, resourceVersion: '9' } });
  await rig.clock.advance(9500);
  assert.deepEqual(rig.deletes, []);
  await rig.clock.advance(1000);
  assert.deepEqual(rig.deletes, ['p']);
  assert.equal(rig.writes.at(-1)?.containerStatuses?.[0]?.state?.terminated?.exitCode, 137);
});

test('a restarted kubelet finds its containers as they were: same ids, same start, no restarts, no write', async (t) => {
  const rig = makeRig(t);
  rig.tell(makePod());
  await rig.clock.advance(1000);
  const before = rig.pod().status?.containerStatuses?.[0];
  const next = rig.restart();
  next.tell(rig.pod());
  next.workers.reconcileOrphans();
  await next.clock.advance(20_000);
  assert.equal(next.writes.length, 0);
  assert.deepEqual(next.pod().status?.containerStatuses?.[0], before);
  assert.deepEqual(next.events, []);
});

test('a container that ended while the kubelet was dead is found ended', async (t) => {
  const rig = makeRig(t);
  rig.tell(makePod({ spec: { restartPolicy: 'Never', containers: [makeContainer({ command: ['sleep', '5'] })] } }));
  await rig.clock.advance(1000);
  rig.runtime.close();
  await rig.clock.advance(60_000);
  const next = rig.restart();
  next.tell(rig.pod());
  await next.clock.advance(100);
  assert.equal(next.pod().status?.phase, 'Succeeded');
  const { startedAt, finishedAt } = next.pod().status?.containerStatuses?.[0]?.state?.terminated ?? {};
  assert.equal(Date.parse(finishedAt ?? '') - Date.parse(startedAt ?? ''), 5000);
});

test('a pod deleted while the kubelet was dead is cleaned up', async (t) => {
  const rig = makeRig(t);
  rig.tell(makePod());
  await rig.clock.advance(1000);
  const next = rig.restart();
  next.workers.reconcileOrphans();
  await next.clock.advance(1000);
  assert.equal([...next.runtime.pods()].length, 0);
});

test('a status changed by somebody else is put right after ten seconds, not before', async (t) => {
  const rig = makeRig(t);
  rig.tell(makePod());
  await rig.clock.advance(1000);
  const conditions = rig
    .pod()
    .status?.conditions?.map((condition) => (condition.type === 'Ready' ? { ...condition, status: 'False' } : condition));
  rig.tell({ ...rig.pod(), metadata: { ...rig.pod().metadata, resourceVersion: '50' }, status: { ...rig.pod().status, conditions } });
  await rig.clock.advance(9000);
  assert.equal(rig.writes.length, 1);
  await rig.clock.advance(2000);
  assert.equal(rig.pod().status?.conditions?.find((condition) => condition.type === 'Ready')?.status, 'True');
});

test('a phase Succeeded set by somebody else stays', async (t) => {
  const rig = makeRig(t);
  rig.tell(makePod());
  await rig.clock.advance(1000);
  rig.tell({
    ...rig.pod(),
    metadata: { ...rig.pod().metadata, resourceVersion: '50' },
    status: { ...rig.pod().status, phase: 'Succeeded' },
  });
  await rig.clock.advance(60_000);
  assert.equal(rig.pod().status?.phase, 'Succeeded');
});

test('a failed liveness probe restarts the container', async (t) => {
  const rig = makeRig(t);
  const livenessProbe = { httpGet: { port: 80 }, periodSeconds: 5, failureThreshold: 2 };
  rig.tell(makePod({ annotations: { 'flyball.dev/live': '20s' }, spec: { containers: [makeContainer({ livenessProbe })] } }));
  await rig.clock.advance(20_000);
  assert.equal(rig.pod().status?.containerStatuses?.[0]?.restartCount, 0);
  await rig.clock.advance(10_000);
  assert.equal(rig.pod().status?.containerStatuses?.[0]?.restartCount, 1);
  assert.ok(rig.events.some((event) => event.message === 'Container c failed liveness probe, will be restarted'));
});

test('activeDeadlineSeconds fails the pod', async (t) => {
  const rig = makeRig(t);
  rig.tell(makePod({ spec: { activeDeadlineSeconds: 5, restartPolicy: 'Never' } }));
  await rig.clock.advance(4000);
  assert.equal(rig.pod().status?.phase, 'Running');
  await rig.clock.advance(2000);
  assert.equal(rig.pod().status?.phase, 'Failed');
  assert.equal(rig.pod().status?.reason, 'DeadlineExceeded');
});

test('a container whose environment names a missing ConfigMap waits as CreateContainerConfigError until it is there', async (t) => {
  const rig = makeRig(t);
  rig.tell(makePod({ spec: { containers: [makeContainer({ envFrom: [{ configMapRef: { name: 'settings' } }] })] } }));
  await rig.clock.advance(1000);
  const state = rig.pod().status?.containerStatuses?.[0]?.state;
  assert.deepEqual(state?.waiting, { reason: 'CreateContainerConfigError', message: 'configmap "settings" not found' });
  await rig.clock.advance(10_000);
  assert.equal(rig.writes.length, 1);
  assert.deepEqual(
    rig.events.map(({ reason, message }) => `${reason} ${message}`.slice(0, 24)),
    ['Pulling Pulling image "r', 'Pulled Successfully pull', 'Failed Error: configmap '],
  );
  rig.objects.set('settings', { data: {} });
  await rig.clock.advance(3000);
  assert.equal(rig.pod().status?.phase, 'Running');
});

test('a volume of a missing Secret keeps the pod from starting and is told once', async (t) => {
  const rig = makeRig(t);
  rig.tell(makePod({ spec: { volumes: [{ name: 'v', secret: { secretName: 'key' } }] } }));
  await rig.clock.advance(10_000);
  assert.equal(rig.pod().status?.phase, 'Pending');
  assert.deepEqual(
    rig.events.map((event) => event.message),
    ['MountVolume.SetUp failed for volume "v" : secret "key" not found'],
  );
  rig.objects.set('key', { data: {} });
  await rig.clock.advance(3000);
  assert.equal(rig.pod().status?.phase, 'Running');
});
