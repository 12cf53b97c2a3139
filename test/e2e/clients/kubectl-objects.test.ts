/** Everything that kubectl makes by itself (protobuf bodies from 1.32 on), pods from run to delete, logs, waits and events. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { startTestCluster } from '../../fixtures/cluster.ts';
import { kubectls, type Shell, shell, unlessAny } from './kubectl.ts';

const binaries = kubectls();

test('kubectl is at hand', { skip: unlessAny(binaries, 'kubectl') }, () => {});

for (const { label, path } of binaries) {
  test(`${label} makes, runs and deletes`, async (t) => {
    const { cluster } = await startTestCluster(t);
    const k = shell(t, path, cluster.kubeconfig, 'team');
    assert.equal(await k.ok('create namespace team', { namespace: '' }), 'namespace/team created\n');
    await t.test('every generator of create', () => generated(k, join(cluster.kubeconfig, '..', 'pki')));
    await t.test('create from a file or stdin, generateName, what exists already', () => fromFiles(k));
    await t.test('run, wait, logs', () => ranAndLogged(k));
    await t.test('delete in every manner', () => deleted(k));
    await t.test('a namespace goes with all that is in it', async () => {
      assert.match(await k.ok('delete namespace team', { namespace: '' }), /^namespace "team" deleted/);
      assert.match(await k.fails('get namespace team', { namespace: '' }), /namespaces "team" not found/);
    });
  });
}

/** What is typed after `create`, and what is said to be created. */
const GENERATORS: readonly (readonly [string, string])[] = [
  ['configmap cm --from-literal=a=1', 'configmap/cm'],
  ['secret generic s --from-literal=p=w', 'secret/s'],
  ['secret docker-registry d --docker-server=x --docker-username=u --docker-password=p', 'secret/d'],
  ['deployment gen --image=registry.example/a:1 --replicas=2 --port=80', 'deployment.apps/gen'],
  ['serviceaccount robot', 'serviceaccount/robot'],
  ['role r --verb=get,list --resource=pods,deployments.apps', 'role.rbac.authorization.k8s.io/r'],
  ['rolebinding rb --role=r --serviceaccount=team:robot', 'rolebinding.rbac.authorization.k8s.io/rb'],
  [`clusterrole cr --verb='*' --resource=nodes`, 'clusterrole.rbac.authorization.k8s.io/cr'],
  ['clusterrolebinding crb --clusterrole=cr --user=u', 'clusterrolebinding.rbac.authorization.k8s.io/crb'],
  ['job j --image=busybox -- true', 'job.batch/j'],
  [`cronjob cj --image=busybox --schedule='*/5 * * * *' -- echo hi`, 'cronjob.batch/cj'],
  [`ingress ing --rule='a.example/*=svc:80,tls=t'`, 'ingress.networking.k8s.io/ing'],
  ['poddisruptionbudget pdb --selector=app=none --min-available=1', 'poddisruptionbudget.policy/pdb'],
  ['quota q --hard=configmaps=50', 'resourcequota/q'],
  ['priorityclass pc --value=100', 'priorityclass.scheduling.k8s.io/pc'],
  ['service clusterip sc --tcp=80:8080', 'service/sc'],
  ['service nodeport sn --tcp=80', 'service/sn'],
  ['service loadbalancer sl --tcp=80', 'service/sl'],
  ['service externalname se --external-name=x.example', 'service/se'],
];

async function generated(k: Shell, pki: string): Promise<void> {
  for (const [typed, made] of GENERATORS) assert.equal(await k.ok(`create ${typed}`), `${made} created\n`);
  assert.equal(await k.ok(`create secret tls t --cert=${pki}/ca.crt --key=${pki}/ca.key`), 'secret/t created\n');
  assert.equal(await k.fails('create configmap cm'), 'error: failed to create configmap: configmaps "cm" already exists\n');
  assert.match(await k.ok('create configmap dry --from-literal=a=b --dry-run=client -o yaml'), /^apiVersion: v1\ndata:\n {2}a: b\n/);
  assert.equal(await k.ok('create configmap dry --dry-run=server'), 'configmap/dry created (server dry run)\n');

  const all = await k.ok('get cm,secret,sa,svc,role,rolebinding,cronjob,ingress,pdb,quota');
  assert.match(all, /configmap\/cm +1 /);
  assert.match(all, /secret\/d +kubernetes\.io\/dockerconfigjson +1 /);
  assert.match(all, /secret\/t +kubernetes\.io\/tls +2 /);
  assert.match(all, /service\/sc +ClusterIP +10\.96\.\d+\.\d+ +<none> +80\/TCP /);
  assert.match(all, /service\/se +ExternalName +<none> +x\.example +<none> /);
  assert.match(all, /service\/sl +LoadBalancer +10\.96\.\d+\.\d+ +<pending> +80:3\d{4}\/TCP /);
  assert.match(all, /rolebinding\.rbac\.authorization\.k8s\.io\/rb +Role\/r /);
  assert.match(all, /cronjob\.batch\/cj +\*\/5 \* \* \* \* +<none> +False +0 +<none> /);
  assert.match(all, /ingress\.networking\.k8s\.io\/ing +<none> +a\.example +80, 443 /);
  assert.match(await k.ok('get priorityclass pc'), /pc +100 +false +\S+ +PreemptLowerPriority\n/);
  assert.match(await k.ok('rollout status deploy gen'), /successfully rolled out\n$/);

  assert.equal(await k.ok('create job once --from=cronjob/cj'), 'job.batch/once created\n');
  assert.match(await k.ok('get job once -o yaml'), /cronjob\.kubernetes\.io\/instantiate: manual\n[\s\S]*kind: CronJob\n {4}name: cj\n/);
  assert.equal(await k.ok('create service nodeport fixed --tcp=80 --node-port=32100'), 'service/fixed created\n');
  assert.match(
    await k.fails('create service nodeport fixed2 --tcp=80 --node-port=32100'),
    /spec\.ports\[0\]\.nodePort: Invalid value: 32100: provided port is already allocated/,
  );
  assert.equal(await k.ok('create service clusterip headless --clusterip=None'), 'service/headless created\n');
  assert.equal(await k.ok('create secret generic typed --type=my/type --from-literal=a=b'), 'secret/typed created\n');
  assert.match(
    await k.fails('create quota bad --hard=cpu=4 --scopes=Nope'),
    /spec\.scopes: Invalid value: \["?Nope"?\]: unsupported scope/,
  );
  assert.match(
    await k.fails('create priorityclass p2 --value=2000000000'),
    /value: Forbidden: maximum allowed value of a user defined priority is 1000000000/,
  );

  const token = await k.ok('create token robot --duration=20m');
  assert.match(token, /^[\w-]+\.[\w-]+\.[\w-]+\n?$/);
  assert.match(await k.ok(`describe secret s`), /Type: +Opaque\n\nData\n====\np: +1 bytes?\n/);
  assert.match(await k.ok('describe quota q'), /Resource +Used +Hard\n/);
}

async function fromFiles(k: Shell): Promise<void> {
  const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'g-' } };
  assert.match(await k.ok('create -f -', { input: JSON.stringify(map) }), /^configmap\/g-[a-z0-9]{5} created\n$/);
  const list = { apiVersion: 'v1', kind: 'List', items: [1, 2].map((i) => ({ ...map, metadata: { name: `l${i}` } })) };
  assert.equal(await k.ok('apply -f -', { input: JSON.stringify(list) }), 'configmap/l1 created\nconfigmap/l2 created\n');
  const missing = { ...map, kind: 'Nothing' };
  assert.match(await k.fails('create -f -', { input: JSON.stringify(missing) }), /no matches for kind "Nothing" in version "v1"/);
  assert.match(await k.fails('create -f -', { input: 'a: [' }), /error parsing STDIN|error converting YAML/);
  const bad = { ...map, metadata: { name: 'Bad_Name' } };
  assert.match(
    await k.fails('create -f -', { input: JSON.stringify(bad) }),
    /The ConfigMap "Bad_Name" is invalid: \n?\*? ?metadata\.name: Invalid value/,
  );
}

async function ranAndLogged(k: Shell): Promise<void> {
  assert.equal(await k.ok('run one --image=registry.example/one:1 --port=80 --labels=run=one'), 'pod/one created\n');
  assert.equal(await k.ok('wait --for=create pod/one'), 'pod/one condition met\n');
  assert.equal(await k.ok('wait --for=condition=Ready pod/one'), 'pod/one condition met\n');
  assert.equal(await k.ok(`wait --for=jsonpath='{.spec.containers[0].name}' pod/one`), 'pod/one condition met\n');
  assert.equal(await k.ok('wait --for=delete pod/none'), '');
  assert.match(await k.fails('wait --for=create pod/none --timeout=1s'), /timed out waiting for the condition/);
  assert.equal(await k.ok('wait --for=condition=Ready pod -l run=one'), 'pod/one condition met\n');
  assert.match(await k.fails('wait --for=condition=Nonsense pod/one --timeout=1s'), /timed out waiting for the condition on pods\/one/);
  assert.equal(await k.ok('logs one'), 'one of pod one started\n');
  assert.equal(await k.ok('expose pod one --port=80 --name=one'), 'service/one exposed\n');

  assert.equal(await k.ok(`run once --image=busybox --restart=Never -- sh -c 'echo hi; echo ho; exit 0'`), 'pod/once created\n');
  assert.equal(await k.ok(`wait --for=jsonpath='{.status.phase}'=Succeeded pod/once`), 'pod/once condition met\n');
  assert.match(await k.ok('get pod once'), /once +0\/1 +Completed +0 /);
  assert.equal(await k.ok('logs once'), 'hi\nho\n');
  assert.equal(await k.ok('logs once --tail=1'), 'ho\n');
  assert.match(await k.ok('logs once --timestamps --tail=1'), /^20\d\d-\S+Z ho\n$/);
  assert.match(await k.ok('run rm --image=busybox --rm -i --restart=Never -- echo hello'), /^hello\n/);
  assert.match(await k.fails('get pod rm'), /pods "rm" not found/);

  const endless = `run talk --image=busybox -- sh -c 'while true; do echo tick; sleep 1; done'`;
  assert.equal(await k.ok(endless), 'pod/talk created\n');
  await k.ok('wait --for=condition=Ready pod/talk');
  const log = k.follow('logs -f talk --prefix');
  await log.until(/^(\[pod\/talk\/talk\] tick\n){2}/);
  await log.stop();
  assert.match(await k.ok('logs deploy/gen'), /Found 2 pods|a of pod gen-\S+ started\n/);
  assert.match(await k.ok('logs -l app=gen --prefix'), /^(\[pod\/gen-\S+\] a of pod gen-\S+ started\n){2}$/);
  assert.match(await k.fails('logs talk --previous'), /previous terminated container "talk" in pod "talk" not found/);
  assert.match(await k.fails('logs talk -c nope'), /container nope is not valid for pod talk/);
  assert.match(await k.fails('exec talk -- ls'), /exec is not supported/);

  assert.match(await k.ok('get events --field-selector involvedObject.name=one'), /Normal +Started +pod\/one +Container started\n/);
  assert.match(await k.ok('events --for pod/one --types=Normal'), /Successfully assigned team\/one to node-\d\n/);
}

async function deleted(k: Shell): Promise<void> {
  assert.match(await k.ok('delete pod --field-selector=metadata.name=one --dry-run=client'), /^pod "one" deleted.*\(dry run\)\n$/);
  assert.match(await k.ok('delete pod one'), /^pod "one" deleted/);
  assert.match(await k.ok('delete pod once --now'), /^pod "once" deleted/);
  await k.ok('run st --image=stubborn');
  await k.ok('wait --for=condition=Ready pod/st');
  assert.match(await k.ok('delete pod st --wait=false'), /^pod "st" deleted/);
  assert.match(await k.ok('get pod st'), /st +1\/1 +Terminating +0 /);
  assert.match((await k.run('describe pod st')).stdout, /Status: +Terminating \(lasts \S+\)\nTermination Grace Period: +30s\n/);
  assert.match(await k.ok('delete pod st --force --grace-period=0'), /^pod "st" force deleted/);
  assert.match(await k.fails('get pod st'), /pods "st" not found/);

  assert.match(await k.ok('delete deploy gen --cascade=orphan'), /^deployment\.apps "gen" deleted/);
  assert.match(await k.ok('get rs -l app=gen'), /gen-\w+ +2 +2 +2 /);
  assert.match(await k.ok('delete rs -l app=gen --cascade=foreground'), /^replicaset\.apps "gen-\w+" deleted/);
  await k.until('get rs,pods -l app=gen', /No resources found/);
  assert.match(await k.ok('delete cm l1 l2 --dry-run=server'), /configmap "l1" deleted.*\(server dry run\)/);
  assert.match(await k.ok('delete cm,secret --all'), /configmap "cm" deleted[\s\S]*secret "t" deleted/);
  await k.until('get cm', /kube-root-ca\.crt +1 /);
  assert.equal(await k.fails('delete cm nope'), 'Error from server (NotFound): configmaps "nope" not found\n');
  assert.equal(await k.ok('delete cm nope --ignore-not-found'), '');
}
