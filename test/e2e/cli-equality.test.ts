/**
 * The command line against the real kubectl: both run the same words against one API server, and what they print and how they end must be equal.
 * Only ages are masked, and the program's own name. Where kubectl is not installed there is nothing to compare with.
 */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { type Ran, runHere } from '../../cli/testing/run-here.ts';
import { startTestApiServer } from '../fixtures/apiserver.ts';

const MANIFEST = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: c
        image: nginx
        ports: [{containerPort: 80, name: http}]
        env: [{name: A, value: "1"}, {name: POD, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]
        resources: {requests: {cpu: 100m, memory: 64Mi}, limits: {memory: 128Mi}}
        livenessProbe: {httpGet: {path: /live, port: http}}
        volumeMounts: [{name: data, mountPath: /data}, {name: conf, mountPath: /conf, readOnly: true}]
      volumes: [{name: data, emptyDir: {}}, {name: conf, configMap: {name: cfg}}]
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80, targetPort: http}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: cfg, annotations: {note: "hello\\nworld"}}
data: {a: "1", b: "x\\nz\\n"}
---
apiVersion: v1
kind: Secret
metadata: {name: sec}
data: {p: cHc=}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: default}
---
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {node-role.kubernetes.io/worker: ""}}
status:
  capacity: {cpu: "4", memory: 8Gi, pods: "110"}
  conditions: [{type: Ready, status: "True", reason: KubeletReady, message: ok}]
  addresses: [{type: InternalIP, address: 192.0.2.4}]
---
apiVersion: v1
kind: Pod
metadata: {name: p1, labels: {tier: front, example.com/x: d}}
spec:
  nodeSelector: {disk: ssd}
  tolerations: [{operator: Exists}, {key: k, value: v, effect: NoSchedule}]
  containers: [{name: a, image: busybox, command: [sleep, "10"]}, {name: b, image: foo}]
`;

/** One call per line; MANIFEST stands for the file. Nothing here changes what the server keeps. */
const CALLS = String.raw`
get all
get all -o wide
get pods -A
get po,svc -A --show-labels
get pods p1 -o yaml
get pods p1 -o json
get pods -o json
get pods -o yaml
get deploy web -o yaml --show-managed-fields
get deploy,svc -o name
get deploy/web svc/web
get deploy/web svc/nope
get pods -o jsonpath={.items[*].metadata.name}
get pods -o jsonpath={range|.items[*]}{.metadata.name}{"\t"}{.status.phase}{"\n"}{end}
get pods p1 -o jsonpath={.spec.containers[?(@.name=="b")].image}
get pods p1 -o jsonpath={.metadata.labels}
get pods p1 -o jsonpath={.metadata.labels.example\.com/x}
get pods p1 -o jsonpath={.spec.containers[0:2].name}|{.spec.containers[-1:].name}|{.spec.containers[1].name}
get pods p1 -o jsonpath={.nope}
get pods p1 -o jsonpath={.spec.containers[*].name,.spec.containers[*].image}
get pods p1 -o jsonpath-as-json={.spec.containers[*].name}
get pods p1 -o jsonpath={.foo
get pods p1 --template={{.metadata.name}}{{"\n"}}
get pods -o go-template={{range|$i,|$p|:=|.items}}{{$i}}:{{$p.metadata.name}}{{if|$p.spec.nodeName}}on{{else}}none{{end}}{{end}}
get pods p1 -o go-template={{.foo}}{{len|.spec.containers}}{{index|.metadata.labels|"tier"}}{{printf|"%s-%d"|.kind|3}}
get pods -o custom-columns=N:.metadata.name,I:.spec.containers[*].image,X:.foo
get pods -o custom-columns=N:metadata.name,L:.metadata.labels --no-headers
get pods -o custom-columns=N
get pods -o foo
get pods -l tier=front
get pods -l tier=none
get pods -l tier|in|(front,back) -L tier,example.com/x
get pods --field-selector metadata.name=p1
get pods --field-selector nope=p1
get pods --sort-by=.metadata.name
get cm -A --sort-by={.metadata.name} -o name
get pods --no-headers
get pods --show-kind
get nope
get pods nope
get pods nope nope2
get pods nope --ignore-not-found
get pods p1/x/y
get
get -f MANIFEST -o name
get --raw /version
get nodes -o wide
get node/n1 po/p1
get deployments.v1.apps web
get deploy web --subresource=scale -o yaml
get secret sec -o go-template={{.data.p|(PIPE)|base64decode}}
get pods -o json -l tier=none
describe pod p1
describe deploy web
describe svc web
describe secret sec
describe ns default
describe node n1
describe sa default
describe pod nope
describe nope
explain pods
explain pods.spec.containers
explain deploy.spec --recursive
explain pod.spec.tolerations.operator
explain pods.foo
api-resources
api-resources -o wide
api-resources -o name --namespaced=false
api-versions
cluster-info
auth whoami
auth whoami -o json
auth can-i get pods
auth can-i get nodes
config current-context
rollout status deploy/web --watch=false
rollout status pod/p1
rollout status deploy/nope
rollout history deploy/web
rollout undo deploy/web
rollout resume deploy/web
logs nope
wait --for=condition=Ready pod/p1 --timeout=1s
wait --for=delete pod/nope --timeout=1s
wait --for=jsonpath={.status.phase}=Pending pod/p1 --timeout=1s
wait pods -l tier=none --for=condition=Ready --timeout=1s
delete pods
delete pod nope
delete pod nope --ignore-not-found
delete pods -l tier=none
delete deploy/web svc/web --dry-run=server
delete deploy web --dry-run=client -o name
delete pod p1 --grace-period=0 --force --dry-run=client
delete -f MANIFEST --dry-run=client
scale deploy/web --replicas=3 --dry-run=server
scale deploy/nope --replicas=3
scale deploy/web --replicas=3 --current-replicas=9
label pod p1 tier=back
label pod p1 tier=back --overwrite --dry-run=client
label pod p1 q=1 --dry-run=client -o yaml
label pod p1 q=1 q-
label pod p1
annotate pod p1 a=b --dry-run=server
annotate cm cfg note=x
patch deploy web -p {"spec":{"replicas":5}} --dry-run=server
patch deploy web --type=json -p [{"op":"replace","path":"/spec/replicas","value":4}] --dry-run=server
patch deploy web --type=foo -p {}
patch deploy web -p {"spec":{"replicas":-1}}
patch deploy nope -p {}
set image deploy/web c=nginx:2 --dry-run=server
set image deploy/web c=nginx
set image deploy/web d=nginx:2
set env deploy/web B=2 --dry-run=server
set env deploy/web --list
expose deploy web --port=80 --name=w2 --dry-run=client -o yaml
expose deploy web --dry-run=server
run x --image=nginx --dry-run=client -o yaml
run x --image=nginx --dry-run=server
run x --image=nginx --env=A=1 --labels=l=m --restart=Never --dry-run=client -o json -- a b
create -f MANIFEST --dry-run=client
create -f MANIFEST
create deployment web --image=x
create ns default
create deployment web --image=nginx:1.2 --image=foo/bar --replicas=3 --port=80 --dry-run=client -o json
create configmap c --from-literal=a=1 --from-literal=b=2 --dry-run=client -o yaml
create secret generic s --from-literal=a=1 --dry-run=client -o yaml
create service nodeport s --tcp=80 --node-port=30000 --dry-run=client -o json
create job j --image=busybox --dry-run=client -o yaml -- echo hi
create cronjob c --image=busybox --schedule=@daily --dry-run=client -o yaml -- date
create pdb p --selector=app=web --max-unavailable=50% --dry-run=client -o json
create priorityclass p --value=100 --description=x --dry-run=client -o yaml
create quota q --hard=cpu=1,pods=2 --dry-run=client -o yaml
create role r --verb=get,list --resource=pods,deployments.apps --dry-run=client -o yaml
create rolebinding r --clusterrole=admin --user=u --group=g --serviceaccount=ns:sa --dry-run=client -o yaml
apply -f MANIFEST
apply -f MANIFEST --dry-run=client
apply -f MANIFEST --dry-run=server -o name
apply -f /nowhere.yaml
cordon n1 --dry-run=client
cordon nope
uncordon n1
taint nodes n1 a=b:NoSchedule --dry-run=client
taint nodes n1 a-
taint nodes n1 a=b:Nope
drain nope
autoscale deploy web --min=2 --max=5 --cpu-percent=80 --dry-run=client -o yaml
get pods --foo
get pods -x
get pods -o
`;

const NO_KUBECTL = spawnSync('kubectl', ['version', '--client'], { stdio: 'ignore' }).status !== 0;

const masked = (text: string): string =>
  text
    .replaceAll('flyball', 'kubectl')
    .replace(/^Error: /gm, 'error: ')
    .replace(/\b\d+[hms](\d+[ms])?( ago)?\b */g, 'AGE ')
    // each review is of its own moment
    .replace(/("kind": "SelfSubjectReview"[\s\S]*?"creationTimestamp": ")[^"]*/, '$1NOW')
    .replace(/\n+$/, '\n');

/** `|` stands for a space inside a word, (PIPE) for a bar. */
const wordsOf = (line: string, manifest: string): string[] =>
  line.split(' ').map((word) =>
    word
      .replace(/\|\(PIPE\)\|/g, ' \u0000 ')
      .replaceAll('|', ' ')
      .replaceAll('\u0000', '|')
      .replace('MANIFEST', manifest),
  );

function runKubectl(words: readonly string[], kubeconfig: string, cache: string): Promise<Ran> {
  return new Promise((resolve) => {
    const env = { PATH: process.env['PATH'], HOME: cache, KUBECONFIG: kubeconfig, TZ: process.env['TZ'] };
    const child = execFile('kubectl', [...words], { env, timeout: 30_000 }, (error, out, err) => {
      resolve({ out: masked(out), err: masked(err), code: error ? (typeof error.code === 'number' ? error.code : 1) : 0 });
    });
    child.stdin?.end();
  });
}

async function runOurs(words: readonly string[], kubeconfig: string): Promise<Ran> {
  const { out, err, code } = await runHere(words, { kubeconfig, home: tmpdir() });
  return { out: masked(out), err: masked(err), code };
}

describe('the command line says what kubectl says', { skip: NO_KUBECTL ? 'skipped: kubectl is not installed' : false }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'flyball-equality-'));
  const manifest = join(folder, 'manifest.yaml');
  const kubeconfig = join(folder, 'kubeconfig');
  const ends: (() => Promise<void> | void)[] = [];

  before(async () => {
    const server = await startTestApiServer({ after: (end: () => Promise<void>) => ends.push(end) } as unknown as TestContext);
    writeFileSync(manifest, MANIFEST);
    const { readFileSync } = await import('node:fs');
    writeFileSync(kubeconfig, readFileSync(server.kubeconfigPath));
    const applied = await runOurs(['apply', '-f', manifest], kubeconfig);
    assert.equal(applied.code, 0, applied.err);
  });
  after(async () => {
    for (const end of ends) await end();
    rmSync(folder, { recursive: true, force: true });
  });

  for (const line of CALLS.split('\n').filter((call) => call !== '')) {
    test(line, async () => {
      const words = wordsOf(line, manifest);
      const [theirs, ours] = await Promise.all([runKubectl(words, kubeconfig, folder), runOurs(words, kubeconfig)]);
      assert.deepEqual({ out: ours.out, code: ours.code }, { out: theirs.out, code: theirs.code }, `${ours.err}\n${theirs.err}`);
    });
  }
});
