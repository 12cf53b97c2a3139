/** Looking into pods that run: debug in its three manners, resize, logs of many, what needs a stream into a container. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestCluster } from '../../fixtures/cluster.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { kubectls, type Shell, shell, unlessAny } from './kubectl.ts';

const binaries = kubectls();

test('kubectl is at hand', { skip: unlessAny(binaries, 'kubectl') }, () => {});

for (const { label, path } of binaries) {
  test(`${label} looks into pods`, async (t) => {
    const { cluster } = await startTestCluster(t);
    const k = shell(t, path, cluster.kubeconfig);
    const spec = {
      containers: [{ name: 'web', image: 'registry.example/web:1', resources: { requests: { cpu: '100m', memory: '64Mi' } } }],
    };
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', labels: { app: 'web' } }, spec };
    await k.ok('create -f -', { input: JSON.stringify(pod) });
    await k.ok('wait --for=condition=Ready pod/web');
    await t.test('debug adds a container, copies a pod, visits a node', () => debugged(k));
    await t.test('a resize comes about, waits or is refused', () => resized(k));
    await t.test('edit of a subresource', () => edited(k));
    await t.test('logs of many, since when, how much', () => logged(k));
    await t.test('proxy passes requests on', () => proxied(k));
    await t.test('what is not simulated says so', () => refused(k));
  });
}

async function debugged(k: Shell): Promise<void> {
  const { code, stdout, stderr } = await k.run('debug web --image=busybox --target=web -c looker -- sleep 1d');
  assert.match(`${code}: ${stdout}${stderr}`, /^0: Targeting container "web"/);
  await k.until(`get pod web -o jsonpath='{.status.ephemeralContainerStatuses[0].state}'`, /running/);
  const described = await k.until('describe pod web', /(Container started[\s\S]*){2}/);
  assert.match(described, /Ephemeral Containers:\n {2}looker:\n {4}Container ID: +flyball:\/\/\w+\n[\s\S]*State: +Running\n/);
  assert.match(await k.ok('get pod web'), /web +1\/1 +Running +0 /);

  await k.ok('debug web --copy-to=copy --set-image=web=registry.example/web:2 --image=busybox -c side -- sleep 1d');
  assert.equal(await k.ok('wait --for=condition=Ready pod/copy'), 'pod/copy condition met\n');
  assert.equal(await k.ok(`get pod copy -o jsonpath='{.spec.containers[*].image}'`), 'registry.example/web:2 busybox');

  const visit = await k.ok('debug node/node-1 --image=busybox -- sleep 1d');
  const name = /Creating debugging pod (\S+) with container debugger on node node-1/.exec(visit)?.[1];
  assert.ok(name, visit);
  assert.equal(await k.ok(`wait --for=condition=Ready pod/${name}`), `pod/${name} condition met\n`);
  assert.match(await k.ok(`get pod ${name} -o wide`), / 127\.0\.0\.1 +node-1 /);
}

async function resized(k: Shell): Promise<void> {
  const ask = (cpu: string): string =>
    `patch pod web --subresource=resize -p '${JSON.stringify({ spec: { containers: [{ name: 'web', resources: { requests: { cpu } } }] } })}'`;
  assert.equal(await k.ok(ask('250m')), 'pod/web patched\n');
  await k.until(`get pod web -o jsonpath='{.status.containerStatuses[0].resources.requests.cpu}'`, /^250m$/);
  assert.match(await k.until('events --for pod/web', /ResizeCompleted/), /ResizeStarted +Pod\/web +Pod resize started: \{"containers":\[/);
  assert.match(await k.ok('get pod web'), /web +1\/1 +Running +0 /, 'without a restart');

  assert.match(
    await k.fails(ask('9000')),
    /pods "web" is forbidden: node didn't have enough allocatable resources: cpu, requested: 9000000/,
  );
  const all = JSON.parse(await k.ok('get nodes -o json')).items[0].status.allocatable.cpu as string;
  const node = await k.ok(`get pod web -o jsonpath='{.spec.nodeName}'`);
  const other = { name: 'other', image: 'registry.example/web:1', resources: { requests: { cpu: '1' } } };
  const neighbour = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'neighbour' }, spec: { nodeName: node, containers: [other] } };
  await k.ok('create -f -', { input: JSON.stringify(neighbour) });
  await k.ok('wait --for=condition=Ready pod/neighbour');
  assert.equal(await k.ok(ask(all)), 'pod/web patched\n');
  const pending = `get pod web -o jsonpath='{.status.conditions[?(@.type=="PodResizePending")].reason}'`;
  await k.until(pending, /^Deferred$/);
  await k.ok('delete pod neighbour --now');
  await k.until(pending, /^$/);
  assert.match(
    await k.fails(`patch pod web -p '{"spec":{"containers":[{"name":"web","resources":{"requests":{"cpu":"1"}}}]}}'`),
    /pod updates may not change fields other than/,
  );
}

async function edited(k: Shell): Promise<void> {
  const env = { EDITOR: `sed -i 's/cpu: "[0-9]*"/cpu: 300m/'` };
  assert.equal(await k.ok('edit pod web --subresource=resize', { env }), 'pod/web edited\n');
  await k.until(`get pod web -o jsonpath='{.status.containerStatuses[0].allocatedResources.cpu}'`, /^300m$/);
}

async function logged(k: Shell): Promise<void> {
  const talk = `run talk --image=busybox -l app=talk -- sh -c 'while true; do echo tick; sleep 1; done'`;
  await k.ok(talk);
  await k.ok('wait --for=condition=Ready pod/talk');
  assert.match(await k.ok('logs talk --limit-bytes=3'), /^tic/);
  assert.equal(await k.ok('logs web --since-time=2099-01-01T00:00:00Z'), '');
  assert.match(await k.ok('logs web --since=1h'), /web of pod web started\n/);
  assert.match(await k.ok('logs copy --all-containers --prefix'), /^\[pod\/copy\/web\] web of pod copy started\n/);
  assert.equal(await k.ok('logs web -c looker'), '');
  const followed = k.follow('logs -f -l app=talk --max-log-requests=2 --tail=1');
  await followed.until(/tick\n(.*\n)*tick\n/);
  await k.ok('delete pod talk --now');
  await followed.until(/tick\n/);
  await followed.stop();
}

async function proxied(k: Shell): Promise<void> {
  const proxy = k.follow('proxy --port=0');
  const served = await proxy.until(/Starting to serve on (\S+)/);
  const address = /Starting to serve on (\S+)/.exec(served)![1];
  const ask = async (path: string): Promise<{ kind: string }> =>
    (await fetch(`http://${address}${path}`)).json() as Promise<{ kind: string }>;
  assert.equal((await ask('/api/v1/namespaces/default/pods/web')).kind, 'Pod');
  assert.equal((await ask('/api/v1/namespaces/default/pods/nope')).kind, 'Status');
  await proxy.stop();
}

async function refused(k: Shell): Promise<void> {
  for (const command of ['exec web -- ls', 'attach web', 'cp web:/etc/hosts hosts', 'port-forward web 0:80'])
    await eventually(command, async () => /is not supported by this cluster's nodes/.test(await k.fails(command)));
  assert.match(await k.fails('top pod'), /Metrics API not available/);
}
