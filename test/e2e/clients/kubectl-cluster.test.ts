/** The cluster itself through the eyes of kubectl: nodes, discovery, documents, who one is, raw requests, client settings. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestCluster } from '../../fixtures/cluster.ts';
import { kubectls, type Shell, shell, unlessAny } from './kubectl.ts';

const binaries = kubectls();

test('kubectl is at hand', { skip: unlessAny(binaries, 'kubectl') }, () => {});

for (const { label, path } of binaries) {
  test(`${label} and the cluster`, async (t) => {
    const { cluster } = await startTestCluster(t);
    const k = shell(t, path, cluster.kubeconfig);
    await t.test('version, cluster-info, config, raw requests', () => greeted(k, cluster.server));
    await t.test('api-resources, api-versions, explain', () => discovered(k));
    await t.test('whoami, can-i, a token of a service account', () => identified(k));
    await t.test('cordon, taint, drain', () => nodes(k));
  });
}

async function greeted(k: Shell, server: string): Promise<void> {
  assert.match(await k.ok('version'), /Server Version: v1\.36\.\d+\n/);
  assert.match(await k.ok('cluster-info'), new RegExp(`Kubernetes control plane is running at ${server}\n`));
  assert.match(await k.ok('cluster-info dump'), /^\{\n {4}"kind": "NodeList",\n/);
  assert.equal(JSON.parse(await k.ok('get --raw /version')).minor, '36');
  assert.match(await k.ok('get --raw /readyz?verbose'), /readyz check passed/);
  assert.equal(JSON.parse(await k.ok('get --raw /api/v1/namespaces/default')).metadata.name, 'default');
  assert.equal(await k.fails('get --raw /nope'), 'Error from server (NotFound): the server could not find the requested resource\n');
  const posted = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'raw' } });
  assert.equal(JSON.parse(await k.ok('create --raw /api/v1/namespaces/default/configmaps -f -', { input: posted })).metadata.name, 'raw');
  assert.match(await k.ok('config view'), new RegExp(`server: ${server}\n`));
  assert.equal(await k.ok('config current-context'), 'flyball\n');
  assert.match(await k.ok('config get-contexts'), /\* +flyball +flyball +admin/);
  assert.match(await k.ok('get svc'), /kubernetes +ClusterIP +10\.96\.0\.1 +<none> +443\/TCP /);
  assert.match(
    await k.ok('get namespaces'),
    /default +Active .*\nkube-node-lease +Active .*\nkube-public +Active .*\nkube-system +Active /,
  );
  assert.match(await k.ok('describe namespace default'), /No resource quota\.\n\nNo LimitRange resource\.\n/);
  assert.match(await k.ok('get leases -A'), /kube-node-lease +node-1 +node-1 /);
  assert.match(await k.fails('top nodes'), /Metrics API not available/);
  assert.match(await k.run('get pods --server=https://127.0.0.1:1').then((ran) => ran.stderr), /connection refused|was refused/);
}

async function discovered(k: Shell): Promise<void> {
  const all = await k.ok('api-resources');
  assert.match(all, /deployments +deploy +apps\/v1 +true +Deployment\n/);
  assert.match(all, /nodes +no +v1 +false +Node\n/);
  assert.match(
    await k.ok('api-resources --api-group=apps -o wide'),
    /statefulsets +sts +apps\/v1 +true +StatefulSet +create,delete,deletecollection,get,/,
  );
  assert.match(await k.ok('api-resources --categories=all -o name'), /^pods\nreplicationcontrollers\nservices\ndaemonsets\.apps\n/);
  assert.match(await k.ok('api-versions'), /^admissionregistration\.k8s\.io\/v1\n[\s\S]*apps\/v1\n[\s\S]*storage\.k8s\.io\/v1\nv1\n$/);
  assert.match(await k.ok('explain deploy'), /GROUP: +apps\nKIND: +Deployment\nVERSION: +v1\n[\s\S]*spec\t<DeploymentSpec>/);
  assert.match(await k.ok('explain pod.spec.containers.image'), /FIELD: image <string>/);
  assert.match(await k.ok('explain --recursive service.spec'), /ports\t<\[\]ServicePort>\n[\s\S]*targetPort\t<IntOrString>\n/);
  assert.match(await k.ok('explain cronjob --api-version=batch/v1'), /KIND: +CronJob\n/);
  assert.match(await k.fails('explain pod.spec.nope'), /field "nope" does not exist/);
}

async function identified(k: Shell): Promise<void> {
  assert.match(await k.ok('auth whoami'), /Username +kubernetes-admin\nGroups +\[system:masters system:authenticated\]\n/);
  assert.equal(await k.ok('auth can-i create pods'), 'yes\n');
  assert.match(await k.ok('auth can-i --list'), /\*\.\* +\[\] +\[\] +\[\*\]\n/);
  const token = (await k.ok('create token default')).trim();
  // the file's client certificate would win over the token
  const anonymous = { KUBECONFIG: '/dev/null' };
  const server = (await k.ok(`config view -o jsonpath='{.clusters[0].cluster.server}'`)).trim();
  const asked = `auth whoami --server=${server} --insecure-skip-tls-verify --token=${token}`;
  assert.match(await k.ok(asked, { env: anonymous }), /Username +system:serviceaccount:default:default\n/);
  assert.match(await k.fails(asked.replace('--token=', '--token=x'), { env: anonymous }), /You must be logged in to the server/);
}

async function nodes(k: Shell): Promise<void> {
  assert.match(await k.ok('get nodes'), /^NAME +STATUS +ROLES +AGE +VERSION\n(node-\d +Ready +<none> +\w+ +v1\.36\.\d+\n){3}$/);
  assert.match(await k.ok('get nodes -o wide'), /INTERNAL-IP +EXTERNAL-IP +OS-IMAGE +KERNEL-VERSION +CONTAINER-RUNTIME\n/);
  assert.equal(await k.ok('cordon node-1'), 'node/node-1 cordoned\n');
  assert.match(await k.ok('get node node-1'), /Ready,SchedulingDisabled/);
  assert.equal(await k.ok('cordon node-1'), 'node/node-1 already cordoned\n');
  assert.equal(await k.ok('uncordon node-1'), 'node/node-1 uncordoned\n');
  assert.equal(await k.ok('taint node node-1 k=v:NoSchedule'), 'node/node-1 tainted\n');
  assert.match(await k.ok('describe node node-1'), /Taints: +k=v:NoSchedule\n/);
  assert.match(
    await k.fails('taint node node-1 k=w:NoSchedule'),
    /already has k taint\(s\) with same effect\(s\) and --overwrite is false/,
  );
  assert.equal(await k.ok('taint node node-1 k-'), 'node/node-1 untainted\n');
  assert.equal(await k.ok('label node node-1 node-role.kubernetes.io/edge='), 'node/node-1 labeled\n');
  assert.match(await k.ok('get node node-1'), /node-1 +Ready +edge /);

  await k.ok('create deployment web --image=registry.example/web:1 --replicas=6');
  await k.ok('rollout status deploy web');
  await k.ok('run bare --image=registry.example/bare:1 --overrides={"spec":{"nodeName":"node-2"}}');
  await k.ok('wait --for=condition=Ready pod/bare');
  const node = await k.ok('describe node node-2');
  assert.match(node, /Conditions:\n[\s\S]*Ready +True .*KubeletReady +kubelet is posting ready status\n/);
  assert.match(node, /Non-terminated Pods: +\(3 in total\)\n[\s\S]*default +bare /);
  assert.match(node, /Normal +RegisteredNode +\S+ +node-controller +Node node-2 event: Registered Node node-2 in Controller\n/);
  assert.match(await k.fails('drain node-2'), /cannot delete Pods that declare no controller \(use --force to override\): default\/bare/);
  const drained = await k.ok('drain node-2 --force --ignore-daemonsets');
  assert.match(drained, /evicting pod default\/bare\n/);
  assert.match(drained, /pod\/bare evicted\n[\s\S]*node\/node-2 drained\n$/);
  assert.match(await k.ok('rollout status deploy web'), /successfully rolled out\n$/);
  assert.doesNotMatch(await k.ok('get pods -o wide'), /node-2/);
  assert.equal(await k.ok('uncordon node-2'), 'node/node-2 uncordoned\n');
}
