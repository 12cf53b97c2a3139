/** A Deployment through the eyes of kubectl: applied, looked at in every form, scaled, rolled out and back, changed in every way, exposed. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { namespaces } from '../../../machinery/client/resource-type.ts';
import { startTestCluster } from '../../fixtures/cluster.ts';
import { kubectls, type Shell, shell, unlessAny } from './kubectl.ts';

const MANIFEST = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: hello
  labels: {app: hello}
spec:
  replicas: 3
  selector: {matchLabels: {app: hello}}
  template:
    metadata: {labels: {app: hello}}
    spec:
      containers:
        - name: web
          image: registry.example/hello:1.0
          ports: [{name: http, containerPort: 8080}]
          resources: {requests: {cpu: 50m, memory: 32Mi}}
---
apiVersion: v1
kind: Service
metadata: {name: hello}
spec:
  selector: {app: hello}
  ports: [{port: 80, targetPort: http}]
`;

const manifest = (k: Shell, text = MANIFEST): string => {
  const path = join(k.home, 'hello.yaml');
  writeFileSync(path, text);
  return path;
};

const binaries = kubectls();

test('kubectl is at hand', { skip: unlessAny(binaries, 'kubectl') }, () => {});

for (const { label, path } of binaries) {
  test(`${label} and a Deployment`, async (t) => {
    const { cluster, client } = await startTestCluster(t);
    await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' }, spec: {} });
    const k = shell(t, path, cluster.kubeconfig, 'shop');
    await t.test('apply makes it run, again changes nothing', () => applied(k));
    await t.test('get prints it in every form', () => looked(k));
    await t.test('describe tells of it and of what is its own', () => described(k));
    await t.test('get -w follows a scale', () => scaled(k));
    await t.test('rollouts go on, back, wait and go on', () => rolled(k));
    await t.test('patch, label, annotate, edit and set change it', () => changed(k));
    await t.test('expose, autoscale and a budget', () => exposed(k));
    await t.test('server-side apply, diff and replace', () => owned(k));
  });
}

async function applied(k: Shell): Promise<void> {
  const file = manifest(k);
  assert.equal(await k.ok(`apply -f ${file}`), 'deployment.apps/hello created\nservice/hello created\n');
  assert.match(await k.ok('rollout status deploy/hello'), /deployment "hello" successfully rolled out\n$/);
  assert.equal(await k.ok(`apply -f ${file}`), 'deployment.apps/hello unchanged\nservice/hello unchanged\n');
  assert.equal((await k.run(`diff -f ${file}`)).code, 0, 'nothing differs');
  assert.match(await k.ok('apply view-last-applied deploy hello -o json'), /"replicas": 3/);
  assert.match(await k.ok('get pods'), /^NAME +READY +STATUS +RESTARTS +AGE\n(hello-\w+-\w+ +1\/1 +Running +0 +\d+s\n){3}$/);
}

async function looked(k: Shell): Promise<void> {
  assert.match(
    await k.ok('get deploy,rs -o wide'),
    /deployment\.apps\/hello +3\/3 +3 +3 +\w+ +web +registry\.example\/hello:1\.0 +app=hello\n\n.*\nreplicaset\.apps\/hello-\w+ +3 +3 +3 +\w+ +web +\S+ +app=hello,pod-template-hash=\w+\n$/,
  );
  assert.match(await k.ok('get pods -o wide'), /(hello-\S+ +1\/1 +Running +0 +\w+ +10\.244\.\d+\.\d+ +node-\d +<none> +<none>\n){3}$/);
  assert.match(await k.ok('get pods -o name'), /^(pod\/hello-\w+-\w+\n){3}$/);
  assert.match(await k.ok('get deploy hello -o yaml'), /^apiVersion: apps\/v1\nkind: Deployment\nmetadata:\n {2}annotations:\n/);
  assert.equal(JSON.parse(await k.ok('get deploy hello -o json')).status.readyReplicas, 3);
  assert.equal(await k.ok(`get deploy hello -o jsonpath='{.spec.replicas}/{.status.availableReplicas}'`), '3/3');
  assert.equal(await k.ok(`get deploy -o go-template='{{range .items}}{{.metadata.name}} {{end}}'`), 'hello ');
  assert.match(await k.ok('get pods -o custom-columns=N:.metadata.name,ON:.spec.nodeName'), /^N +ON\n(hello-\S+ +node-\d\n){3}$/);
  assert.match(await k.ok('get pods --show-labels -l app=hello'), /LABELS\n(.* app=hello,pod-template-hash=\S+\n){3}$/);
  assert.equal((await k.ok('get pods --field-selector spec.nodeName=node-1 -o name')).trim().split('\n').length, 1);
  assert.match(await k.ok('get pods --sort-by=.metadata.name --no-headers'), /^(hello-.*\n){3}$/);
  assert.match(await k.ok('get all -A', { namespace: '' }), /shop +deployment\.apps\/hello +3\/3/);
  assert.match(await k.ok('get endpointslices'), /hello-\w+ +IPv4 +8080 +10\.\S+,10\.\S+,10\.\S+ /);
  assert.match(await k.ok('get deploy hello --show-managed-fields -o yaml'), /manager: kubectl-client-side-apply\n/);
  assert.match(await k.ok('get deploy hello --subresource=scale -o yaml'), /^apiVersion: autoscaling\/v1\nkind: Scale\n/);
  assert.equal(await k.fails('get deploy nope'), 'Error from server (NotFound): deployments.apps "nope" not found\n');
  assert.equal(await k.fails('get nope'), `error: the server doesn't have a resource type "nope"\n`);
  assert.match(await k.ok('get pods -L app,nope --chunk-size=1'), /APP +NOPE\n(hello-.* hello +\n){3}$/);
  assert.match(await k.ok('get pods --server-print=false'), /^NAME +AGE\n(hello-\S+ +\w+\n){3}$/);
  assert.match(await k.ok(`get pods -o jsonpath-as-json='{.items[*].metadata.name}'`), /^\[\n( {4}"hello-\S+",?\n){3}\]\n$/);
  assert.equal(await k.ok('get deploy hello --show-kind --no-headers -o name'), 'deployment.apps/hello\n');
  assert.equal(await k.ok(`get deploy hello --subresource=status -o jsonpath='{.status.replicas}'`), '3');
  assert.equal(await k.ok('get deploy hello --watch-only --request-timeout=1s'), '', 'nothing happens to it');
  assert.match(
    await k.ok(`get pods -l 'app in (hello),pod-template-hash' --field-selector=status.phase=Running,metadata.name!=x -o name`),
    /^(pod.*\n){3}$/,
  );
  const both = await k.run('get deploy hello nope');
  assert.match(both.stdout, /^NAME .*\nhello +3\/3 /);
  assert.equal(both.stderr, 'Error from server (NotFound): deployments.apps "nope" not found\n');
  assert.equal((await k.run('get pods -l app=none')).stderr, 'No resources found in shop namespace.\n');
}

async function described(k: Shell): Promise<void> {
  const deployment = await k.ok('describe deploy hello');
  assert.match(deployment, /Replicas: +3 desired \| 3 updated \| 3 total \| 3 available \| 0 unavailable\n/);
  assert.match(deployment, /NewReplicaSet: +hello-\w+ \(3\/3 replicas created\)\n/);
  assert.match(deployment, /Normal +ScalingReplicaSet +\S+ +deployment-controller +Scaled up replica set hello-\w+ from 0 to 3\n/);
  assert.match(
    await k.ok('describe rs'),
    /Pods Status: +3 Running \/ 0 Waiting \/ 0 Succeeded \/ 0 Failed\n[\s\S]*SuccessfulCreate .*Created pod: hello-/,
  );
  // events are written behind
  const pod = await k.until('describe pod -l app=hello --show-events=true', /Scheduled [\s\S]*Started /);
  assert.match(pod, /Node: +node-\d\/\S+\n[\s\S]*Controlled By: +ReplicaSet\/hello-[\s\S]*State: +Running\n[\s\S]*QoS Class: +Burstable\n/);
  for (const reason of ['Scheduled', 'Pulled', 'Created', 'Started']) assert.match(pod, new RegExp(`Normal +${reason} `));
  assert.match(await k.ok('describe svc hello'), /TargetPort: +http\/TCP\nEndpoints: +10\.\S+:8080,10\.\S+:8080,10\.\S+:8080\n/);
  assert.match(await k.ok('events --for deployment/hello'), /Scaled up replica set hello-\w+ from 0 to 3\n/);
  assert.match(await k.ok('get events -o wide'), /pod\/hello-\S+ +spec\.containers\{web\} +kubelet, node-\d +Container started /);
}

async function scaled(k: Shell): Promise<void> {
  const watch = k.follow('get deploy hello -w');
  await watch.until(/hello +3\/3/);
  assert.equal(await k.ok('scale deploy hello --replicas=5'), 'deployment.apps/hello scaled\n');
  await watch.until(/hello +3\/5 [\s\S]*hello +5\/5 +5 +5 /);
  await watch.stop();
  assert.match(await k.fails('scale deploy hello --replicas=1 --current-replicas=2'), /Expected replicas to be 2, was 5/);
  const events = k.follow('get pods --output-watch-events -w');
  await events.until(/(ADDED +hello.*\n){5}/);
  await k.ok('scale deploy hello --replicas=3');
  await events.until(/DELETED +hello[\s\S]*DELETED +hello/);
  await events.stop();
}

async function rolled(k: Shell): Promise<void> {
  assert.equal(await k.ok('set image deploy/hello web=registry.example/hello:2.0'), 'deployment.apps/hello image updated\n');
  await k.ok('annotate deploy/hello kubernetes.io/change-cause=two');
  assert.match(await k.ok('rollout status deploy/hello'), /successfully rolled out\n$/);
  assert.match(await k.ok('rollout history deploy/hello'), /^deployment\.apps\/hello \nREVISION +CHANGE-CAUSE\n1 +<none>\n2 +two\n/);
  assert.match(
    await k.ok('rollout history deploy/hello --revision=2'),
    /with revision #2\n[\s\S]*Image:\s+registry\.example\/hello:2\.0\n/,
  );
  assert.equal(await k.ok('rollout undo deploy/hello --to-revision=1'), 'deployment.apps/hello rolled back\n');
  assert.match(await k.ok('rollout status deploy/hello'), /successfully rolled out\n$/);
  assert.equal(await k.ok(`get deploy hello -o jsonpath='{..image}'`), 'registry.example/hello:1.0');
  assert.equal(await k.ok('rollout pause deploy/hello'), 'deployment.apps/hello paused\n');
  await k.ok('set image deploy/hello web=registry.example/hello:3.0');
  assert.match(await k.fails('rollout undo deploy/hello'), /cannot rollback a paused deployment/);
  assert.match(await k.fails('rollout status deploy/hello --timeout=1s'), /timed out waiting for the condition/);
  assert.equal(await k.ok('rollout resume deploy/hello'), 'deployment.apps/hello resumed\n');
  assert.match(await k.ok('rollout status deploy/hello'), /successfully rolled out\n$/);
  assert.equal(await k.ok('rollout restart deploy/hello'), 'deployment.apps/hello restarted\n');
  assert.match(await k.ok('rollout status deploy/hello'), /successfully rolled out\n$/);
  assert.match(await k.ok('rollout history deploy/hello'), /\n5 +\S+\n/);
}

async function changed(k: Shell): Promise<void> {
  const patched = 'deployment.apps/hello patched\n';
  const env = { spec: { template: { spec: { containers: [{ name: 'web', env: [{ name: 'A', value: 'b' }] }] } } } };
  assert.equal(await k.ok(`patch deploy hello -p '${JSON.stringify(env)}'`), patched);
  // of an object that no controller writes to meanwhile
  assert.equal(await k.ok(`patch svc hello -p '{"spec":{"sessionAffinity":"None"}}'`), 'service/hello patched (no change)\n');
  assert.equal(await k.ok(`patch deploy hello --type merge -p '{"spec":{"replicas":2}}'`), patched);
  assert.equal(await k.ok(`patch deploy hello --type json -p '[{"op":"replace","path":"/spec/replicas","value":3}]'`), patched);
  assert.equal(
    await k.ok(`patch deploy hello --subresource=scale --type=merge -p '{"spec":{"replicas":2}}'`),
    'scale.autoscaling/hello patched\n',
  );
  assert.equal(
    await k.ok(`get deploy hello -o jsonpath='{.spec.replicas} {..containers[0].image} {..env[0].value}'`),
    '2 registry.example/hello:3.0 b',
  );
  assert.match(
    await k.fails(`patch deploy hello -p '{"spec":{"replicas":-1}}'`),
    /spec\.replicas: Invalid value: -1: must be greater than or equal to 0/,
  );
  assert.equal(await k.ok('label deploy hello tier=web'), 'deployment.apps/hello labeled\n');
  assert.match(await k.fails('label deploy hello tier=data'), /'tier' already has a value \(web\), and --overwrite is false/);
  assert.equal(await k.ok('label deploy hello tier=data --overwrite'), 'deployment.apps/hello labeled\n');
  assert.equal(await k.ok('label deploy hello tier-'), 'deployment.apps/hello unlabeled\n');
  assert.equal(await k.ok('annotate deploy hello note=x'), 'deployment.apps/hello annotated\n');
  assert.equal(await k.ok('annotate deploy hello note-'), 'deployment.apps/hello annotated\n');
  const editor = `sed -i 's/replicas: 2/replicas: 4/'`;
  assert.equal(await k.ok('edit deploy hello', { env: { EDITOR: editor } }), 'deployment.apps/hello edited\n');
  assert.equal(await k.ok(`get deploy hello -o jsonpath='{.spec.replicas}'`), '4');
  assert.match((await k.run('edit deploy hello', { env: { EDITOR: 'true' } })).stderr, /Edit cancelled, no changes made\./);
  assert.equal(await k.ok('set env deploy/hello X=y'), 'deployment.apps/hello env updated\n');
  assert.match(await k.ok('set env deploy/hello --list'), /A=b\nX=y\n/);
  assert.equal(await k.ok('set resources deploy hello --requests=cpu=10m'), 'deployment.apps/hello resource requirements updated\n');
  await k.ok('create configmap settings --from-literal=key=1');
  assert.equal(await k.ok('set env deploy/hello --from=configmap/settings --prefix=P_'), 'deployment.apps/hello env updated\n');
  assert.match(await k.ok('set env deploy/hello --list --resolve'), /P_KEY=1\n/);
  assert.equal(await k.ok('set env deploy/hello P_KEY-'), 'deployment.apps/hello env updated\n');
  assert.equal(await k.ok('set serviceaccount deploy hello default'), 'deployment.apps/hello serviceaccount updated\n');
}

async function exposed(k: Shell): Promise<void> {
  assert.equal(
    await k.ok('expose deploy hello --name=outside --port=8080 --target-port=http --type=NodePort'),
    'service/outside exposed\n',
  );
  assert.match(await k.ok('get svc outside'), /outside +NodePort +10\.96\.\d+\.\d+ +<none> +8080:3\d{4}\/TCP /);
  await k.until('get endpointslices -l kubernetes.io/service-name=outside', /10\.244\./);
  assert.equal(await k.ok('set selector svc outside app=other'), 'service/outside selector updated\n');
  assert.match(
    await k.ok('autoscale deploy hello --min=2 --max=5 --cpu-percent=50'),
    /horizontalpodautoscaler\.autoscaling\/hello autoscaled\n/,
  );
  assert.match(await k.ok('get hpa'), /hello +Deployment\/hello +cpu: \S+\/50% +2 +5 /);
  assert.equal(await k.ok('create pdb most --selector=app=hello --min-available=50%'), 'poddisruptionbudget.policy/most created\n');
  assert.match(await k.ok('get pdb'), /most +50% +N\/A /);
  await k.ok('delete svc/outside hpa/hello pdb/most');
}

async function owned(k: Shell): Promise<void> {
  const file = manifest(k);
  const refused = await k.fails(`apply --server-side -f ${file}`);
  assert.match(refused, /Apply failed with 3 conflicts: conflicts with "kubectl-edit" using apps\/v1:\n- \.spec\.replicas\n/);
  assert.match(refused, /conflicts with "kubectl-set" using apps\/v1:\n- \.spec\.template\.spec\.containers\[name="web"\]\.image\n/);
  const done = 'deployment.apps/hello serverside-applied\nservice/hello serverside-applied\n';
  assert.equal(await k.ok(`apply --server-side --force-conflicts -f ${file}`), done);
  assert.equal(await k.ok(`apply --server-side -f ${file}`), done);
  assert.equal(await k.ok(`get deploy hello -o jsonpath='{.spec.replicas} {..containers[0].image}'`), '3 registry.example/hello:1.0');

  const two = manifest(k, MANIFEST.replace('replicas: 3', 'replicas: 2'));
  for (const mode of ['', '--server-side']) {
    const { code, stdout } = await k.run(`diff ${mode} -f ${two}`);
    assert.equal(code, 1);
    assert.match(stdout, /^- {2}replicas: 3\n\+ {2}replicas: 2$/m);
  }
  assert.match(await k.ok(`apply --dry-run=server -f ${two}`), /deployment\.apps\/hello configured \(server dry run\)\n/);
  assert.match(await k.ok(`apply -f ${two}`), /^deployment\.apps\/hello configured\n/);
  assert.equal(await k.ok(`get deploy hello -o jsonpath='{.spec.replicas}'`), '2');
  assert.equal(await k.ok(`replace -f ${two}`), 'deployment.apps/hello replaced\nservice/hello replaced\n');
  assert.match(await k.ok(`replace --force -f ${two}`), /deployment\.apps\/hello replaced\nservice\/hello replaced\n$/);
  assert.match(await k.ok('rollout status deploy/hello'), /successfully rolled out\n$/);
  const wrong = manifest(k, MANIFEST.replace('replicas: 3', 'replica: 3'));
  assert.match(await k.fails(`apply -f ${wrong}`), /unknown field "spec\.replica"/);
  assert.match(await k.ok(`delete -f ${two}`), /^deployment\.apps "hello" deleted.*\nservice "hello" deleted/);
  await k.until('get rs,pods', /No resources found in shop namespace/);
}
