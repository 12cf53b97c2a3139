/** Who may what, through the eyes of kubectl: roles and bindings, certificates, tokens, and the settings a user keeps in a kubeconfig. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { startTestCluster } from '../../fixtures/cluster.ts';
import { everyKind } from './every-kind.ts';
import { kubectls, type Shell, shell, unlessAny } from './kubectl.ts';

const binaries = kubectls();

test('kubectl is at hand', { skip: unlessAny(binaries, 'kubectl') }, () => {});

for (const { label, path } of binaries) {
  test(`${label} and access`, async (t) => {
    const { cluster } = await startTestCluster(t);
    const k = shell(t, path, cluster.kubeconfig, 'team');
    await k.ok('create namespace team', { namespace: '' });
    await t.test('roles and bindings in every form', () => bound(k));
    await t.test('auth reconcile adds what is missing and takes away what is too much', () => reconciled(k));
    await t.test('a certificate request is approved or denied', () => certified(k));
    await t.test('a token is bound to what it is for', () => tokens(k));
    await t.test('config makes and changes a file', () => configured(k, cluster.server));
  });
}

async function bound(k: Shell): Promise<void> {
  await k.ok('create role named --verb=get --resource=pods --resource-name=x --resource-name=y');
  assert.match(await k.ok('describe role named'), /pods +\[\] +\[x\] +\[get\]\n {2}pods +\[\] +\[y\] +\[get\]\n/);
  await k.ok(`create clusterrole urls --verb=get --non-resource-url='/logs/*'`);
  assert.match(await k.ok('describe clusterrole urls'), / +\[\/logs\/\*\] +\[\] +\[get\]\n/);
  await k.ok('create clusterrole sum --aggregation-rule=a=b');
  assert.match(await k.ok('get clusterrole sum -o yaml'), /aggregationRule:\n {2}clusterRoleSelectors:\n {2}- matchLabels:\n {6}a: b\n/);
  await k.ok('create rolebinding all --clusterrole=view --user=u --group=g --serviceaccount=team:default');
  assert.match(await k.ok('get rolebinding all -o wide'), /all +ClusterRole\/view +\w+ +u +g +team\/default/);
  assert.equal(await k.ok('set subject rolebinding all --user=v'), 'rolebinding.rbac.authorization.k8s.io/all subjects updated\n');
  assert.match(await k.ok('describe rolebinding all'), /User +v +\n|User +v\s/);
  assert.match(await k.fails(`patch rolebinding all -p '{"roleRef":{"name":"edit"}}'`), /roleRef: Invalid value: .*cannot change roleRef/);
  assert.match(
    await k.fails('create rolebinding none --clusterrole=view --role=named'),
    /exactly one of clusterrole or role must be specified/,
  );
}

async function reconciled(k: Shell): Promise<void> {
  const input = (verb: string): { input: string } => ({
    input: JSON.stringify({
      apiVersion: 'v1',
      kind: 'List',
      items: [
        {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'Role',
          metadata: { name: 'made', namespace: 'team' },
          rules: [{ apiGroups: [''], resources: ['pods'], verbs: [verb] }],
        },
        ...everyKind.filter(({ kind }) => kind === 'ClusterRole' || kind === 'ClusterRoleBinding'),
      ],
    }),
  });
  // what was done is told on stderr
  const reconcile = async (verb: string, more = ''): Promise<string> => (await k.run(`auth reconcile -f - ${more}`, input(verb))).stderr;
  assert.match(await reconcile('get'), /reconciliation required create\n\tmissing rules added:\n/);
  assert.match(await reconcile('list'), /^\treconciliation required update\n\tmissing rules added:\n/);
  assert.equal(await k.ok(`get role made -o jsonpath='{.rules[*].verbs}'`), '["get"] ["list"]');
  assert.match(await reconcile('list', '--remove-extra-permissions'), /extra rules removed:\n/);
  assert.equal(await k.ok(`get role made -o jsonpath='{.rules[*].verbs}'`), '["list"]');
}

async function certified(k: Shell): Promise<void> {
  const request = everyKind.find(({ kind }) => kind === 'CertificateSigningRequest')!;
  const items = ['yes', 'no'].map((name) => ({ ...request, metadata: { name } }));
  await k.ok('create -f -', { input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items }) });
  assert.match(await k.ok('get csr'), /no +\w+ +example\.com\/none +kubernetes-admin +<none> +Pending\n/);
  assert.equal(await k.ok('certificate approve yes'), 'certificatesigningrequest.certificates.k8s.io/yes approved\n');
  assert.equal(await k.ok('certificate deny no'), 'certificatesigningrequest.certificates.k8s.io/no denied\n');
  assert.match(await k.ok('get csr'), /no .* Denied\nyes .* Approved\n/);
  assert.equal(await k.ok(`get csr yes -o jsonpath='{.status.conditions[0].reason}'`), 'KubectlApprove');
  assert.match(await k.fails('certificate approve no'), /"no" is already Denied/);
  assert.match(
    await k.ok('describe csr yes'),
    /Requesting User: +kubernetes-admin\n[\s\S]*Common Name: +one\n[\s\S]*Organization: +devs\n/,
  );
  assert.equal(
    await k.fails('certificate approve nope'),
    'Error from server (NotFound): certificatesigningrequests.certificates.k8s.io "nope" not found\n',
  );
}

async function tokens(k: Shell): Promise<void> {
  await k.ok('create serviceaccount robot');
  await k.ok('create secret generic key');
  const payload = (token: string): { aud: string[]; exp: number; iat: number; 'kubernetes.io': { secret?: { name: string } } } =>
    JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString());
  const bound = payload(
    await k.ok('create token robot --audience=a --audience=b --duration=2h --bound-object-kind=Secret --bound-object-name=key'),
  );
  assert.deepEqual(bound.aud, ['a', 'b']);
  assert.equal(bound.exp - bound.iat, 7200);
  assert.equal(bound['kubernetes.io'].secret?.name, 'key');
  assert.match(await k.ok('create token robot -o yaml'), /^apiVersion: authentication\.k8s\.io\/v1\nkind: TokenRequest\n/);
  assert.match(
    await k.fails('create token robot --duration=1m'),
    /spec\.expirationSeconds: Invalid value: 60: may not specify a duration less than 10 minutes/,
  );
  assert.match(await k.fails('create token robot --bound-object-kind=Secret --bound-object-name=none'), /secrets "none" not found/);
  assert.equal(await k.fails('create token nobody'), 'error: failed to create token: serviceaccounts "nobody" not found\n');
}

async function configured(k: Shell, server: string): Promise<void> {
  const token = (await k.ok('create token robot')).trim();
  const env = { KUBECONFIG: join(k.home, 'own.kubeconfig') };
  const config = (command: string): Promise<string> => k.ok(`config ${command}`, { env, namespace: '' });
  await config(`set-cluster here --server=${server} --insecure-skip-tls-verify=true`);
  await config(`set-credentials robot --token=${token}`);
  await config('set-context mine --cluster=here --user=robot --namespace=team');
  assert.equal(await config('use-context mine'), 'Switched to context "mine".\n');
  assert.equal(await k.ok(`get cm kube-root-ca.crt -o name`, { env, namespace: '' }), 'configmap/kube-root-ca.crt\n');
  assert.match(await config('view --minify'), /token: REDACTED\n/);
  assert.equal(await config('rename-context mine theirs'), 'Context "mine" renamed to "theirs".\n');
  assert.equal(await config('get-contexts -o name'), 'theirs\n');
  await config('set contexts.theirs.namespace default');
  assert.equal(
    await k.ok(`auth whoami -o jsonpath='{.status.userInfo.username}'`, { env, namespace: '' }),
    'system:serviceaccount:team:robot',
  );
  assert.match(await config('delete-user robot'), /deleted user robot from /);
  // with nobody to be, kubectl asks for a name
  assert.match(await k.fails('get ns', { env, namespace: '' }), /^error: EOF\n$|provide credentials/);
}
