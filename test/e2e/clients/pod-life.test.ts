/** What `kubectl get pods`, `describe` and `logs` show of pods that are not simply running. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pods } from '../../../machinery/client/resource-type.ts';
import { startTestCluster } from '../../fixtures/cluster.ts';
import { kubectls, shell, unlessAny } from './kubectl.ts';

const pod = (name: string, spec: object, annotations: Record<string, string> = {}): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, annotations },
  spec,
});
const container = (image: string, more: object = {}): object => ({ name: 'main', image, ...more });
const one = (image: string, more: object = {}): object => ({ containers: [container(image, more)] });

const MANIFEST = {
  apiVersion: 'v1',
  kind: 'List',
  items: [
    pod('unpullable', one('registry.example/x:missing')),
    pod('crashing', one('crash:1')),
    pod('slow', one('slow-start:1')),
    pod('big', one('registry.example/x:1', { resources: { requests: { cpu: '1000' } } })),
    pod('choosy', { ...one('registry.example/x:1'), nodeSelector: { disk: 'ssd' } }),
    pod('preparing', { ...one('registry.example/x:1'), initContainers: [{ name: 'prep', image: 'busybox', command: ['sleep', '4'] }] }),
    pod('init-crash', { ...one('registry.example/x:1'), initContainers: [{ name: 'prep', image: 'crash:1' }] }),
    pod('done', { ...one('busybox', { command: ['sh', '-c', 'echo bye'] }), restartPolicy: 'Never' }),
    pod('failed', { ...one('busybox', { command: ['sh', '-c', 'exit 3'] }), restartPolicy: 'Never' }),
    pod('oom', { ...one('oom:1'), restartPolicy: 'Never' }),
    pod('unconfigured', one('registry.example/x:1', { envFrom: [{ configMapRef: { name: 'later' } }] })),
    pod('unready', one('registry.example/x:1', { readinessProbe: { httpGet: { port: 80 } } }), { 'flyball.dev/ready': 'false' }),
    pod('stubborn', { ...one('stubborn:1'), terminationGracePeriodSeconds: 3 }),
  ],
};

const binary = kubectls()[0];

test('the lives of pods', { skip: unlessAny(binary ? [binary] : [], 'kubectl') }, async (t) => {
  const { cluster, client } = await startTestCluster(t);
  const k = shell(t, binary!.path, cluster.kubeconfig);
  const shows = (name: string, ready: string, status: string, restarts = '0') =>
    k.until(`get pod ${name}`, new RegExp(`^${name} +${ready} +${status} +${restarts} `, 'm'));
  // followed from the beginning: some states last for moments
  const watch = k.follow('get pods -w');
  assert.match(await k.ok('create -f -', { input: JSON.stringify(MANIFEST) }), /^(pod\/[\w-]+ created\n){13}$/);

  await t.test('an image that cannot be pulled: ErrImagePull, then ImagePullBackOff', async () => {
    await watch.until(/unpullable +0\/1 +ErrImagePull +0 /);
    await watch.until(/unpullable +0\/1 +ImagePullBackOff +0 /);
    const described = await k.until('describe pod unpullable', /Error: ImagePullBackOff/);
    assert.match(described, /Warning +Failed .*kubelet +Failed to pull image "registry\.example\/x:missing": .*not found\n/);
    assert.match(described, /Warning +Failed .*kubelet +Error: ErrImagePull\n[\s\S]*Normal +BackOff .*Back-off pulling image/);
    assert.match(
      await k.fails('logs unpullable'),
      /container "main" in pod "unpullable" is waiting to start: trying and failing to pull image/,
    );
  });

  await t.test('a slow start: ContainerCreating, then Running', async () => {
    await watch.until(/slow +0\/1 +ContainerCreating +0 [\s\S]*slow +1\/1 +Running +0 /);
  });

  await t.test('nowhere to run: Pending, with FailedScheduling', async () => {
    await shows('big', '0/1', 'Pending');
    assert.match(
      await k.until('describe pod big', /FailedScheduling/),
      /PodScheduled +False *\n[\s\S]*Warning +FailedScheduling +.* +default-scheduler +0\/3 nodes are available: 3 Insufficient cpu\./,
    );
    assert.match(await k.until('describe pod choosy', /FailedScheduling/), /3 node\(s\) didn't match Pod's node affinity\/selector\./);
    assert.equal(await k.ok('logs big'), '');
  });

  await t.test('an init container runs to its end first: Init:0/1, PodInitializing or Running', async () => {
    await watch.until(/preparing +0\/1 +Init:0\/1 +0 [\s\S]*preparing +1\/1 +Running +0 /);
    await shows('init-crash', '0/1', 'Init:(CrashLoopBackOff|Error)', '\\d( \\(\\w+ ago\\))?');
    assert.match(await k.fails('logs init-crash -c main'), /container "main" in pod "init-crash" is waiting to start: PodInitializing/);
  });

  await t.test('ends: Completed, Error, OOMKilled', async () => {
    await shows('done', '0/1', 'Completed');
    await shows('failed', '0/1', 'Error');
    await shows('oom', '0/1', 'OOMKilled');
    assert.match(await k.ok('describe pod failed'), /Status: +Failed\n[\s\S]*State: +Terminated\n +Reason: +Error\n +Exit Code: +3\n/);
    assert.match(await k.ok('describe pod oom'), /Reason: +OOMKilled\n +Exit Code: +137\n/);
    assert.equal(await k.ok('logs done'), 'bye\n');
  });

  await t.test('a ConfigMap that comes later: CreateContainerConfigError, then Running', async () => {
    await shows('unconfigured', '0/1', 'CreateContainerConfigError');
    assert.match(await k.until('describe pod unconfigured', /Failed/), /Error: configmap "later" not found\n/);
    await k.ok('create configmap later --from-literal=A=b');
    await shows('unconfigured', '1/1', 'Running');
  });

  await t.test('a failing readiness probe: Running, 0/1', async () => {
    await shows('unready', '0/1', 'Running');
  });

  await t.test('deleted: Terminating until the grace period ends', async () => {
    await shows('stubborn', '1/1', 'Running');
    const uid = (await client.get(pods, { namespace: 'default', name: 'stubborn' })).metadata.uid;
    const began = performance.now();
    assert.match(await k.ok('delete pod stubborn --wait=false'), /^pod "stubborn" deleted/);
    await watch.until(/stubborn +1\/1 +Terminating +0 /);
    await k.ok('wait --for=delete pod/stubborn --timeout=30s');
    assert.ok(performance.now() - began >= 2_500, `pod ${uid} had its three seconds`);
    assert.match(
      await k.ok('get events --field-selector involvedObject.name=stubborn'),
      /Normal +Killing +pod\/stubborn +Stopping container main\n/,
    );
  });

  await t.test('a crashing container: CrashLoopBackOff with growing restarts, logs of the run before', async () => {
    await watch.until(/crashing +0\/1 +CrashLoopBackOff +1 [\s\S]*crashing +0\/1 +CrashLoopBackOff +2 /);
    assert.match(await k.ok('describe pod crashing'), /Last State: +Terminated\n +Reason: +Error\n +Exit Code: +1\n/);
    assert.match(
      await k.ok('events --for pod/crashing'),
      /Warning +BackOff +Pod\/crashing +Back-off restarting failed container main in pod crashing_default/,
    );
    assert.equal(await k.ok('logs crashing --previous'), 'fatal: simulated crash\n');
  });
  await watch.stop();
});
