/** helm 3 and 4 with a chart of our own: install, upgrade, rollback, uninstall, waiting for what the cluster makes of it. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startTestCluster } from '../../fixtures/cluster.ts';
import { clientBinaries, type Shell, shell, unlessAny } from './kubectl.ts';

const FILES: Readonly<Record<string, string>> = {
  'Chart.yaml': 'apiVersion: v2\nname: web\nversion: 0.1.0\nappVersion: "1"\n',
  'values.yaml': 'replicas: 2\nimage: registry.example/web:1\nextra: false\n',
  'templates/web.yaml': `apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}
  labels: {app: {{ .Release.Name }}, app.kubernetes.io/managed-by: {{ .Release.Service }}}
spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {app: {{ .Release.Name }}}}
  template:
    metadata: {labels: {app: {{ .Release.Name }}}}
    spec:
      containers: [{name: web, image: {{ .Values.image | quote }}}]
---
apiVersion: v1
kind: Service
metadata: {name: {{ .Release.Name }}}
spec:
  selector: {app: {{ .Release.Name }}}
  ports: [{port: 80}]
{{- if .Values.extra }}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}-extra}
data: {server: {{ .Capabilities.KubeVersion.Version | quote }}}
{{- end }}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-hook
  annotations: {helm.sh/hook: "post-install,post-upgrade", helm.sh/hook-delete-policy: before-hook-creation}
data: {revision: {{ .Release.Revision | quote }}}
---
{{- $kept := lookup "v1" "ConfigMap" .Release.Namespace (printf "%s-kept" .Release.Name) }}
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}-kept}
data: {since: {{ if $kept }}{{ $kept.data.since | quote }}{{ else }}{{ .Release.Revision | quote }}{{ end }}}
`,
  'templates/tests/check.yaml': `apiVersion: v1
kind: Pod
metadata:
  name: {{ .Release.Name }}-check
  annotations: {helm.sh/hook: test, helm.sh/hook-delete-policy: before-hook-creation}
spec:
  restartPolicy: Never
  containers: [{name: check, image: busybox, command: [sh, -c, "echo all is well"]}]
`,
};

function writeChart(home: string): string {
  const chart = join(home, 'web');
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(join(chart, name, '..'), { recursive: true });
    writeFileSync(join(chart, name), text);
  }
  return chart;
}

const helms = clientBinaries('helm', ['version', '--short']);

test('helm is at hand', { skip: unlessAny(helms, 'helm') }, () => {});

if (helms.length > 0)
  test('a chart lives its life', async (t) => {
    const { cluster, client } = await startTestCluster(t);
    const get = async (path: string): Promise<ReturnType<typeof JSON.parse>> => {
      const { code, body } = await client.raw({ method: 'GET', path, headers: { accept: 'application/json' } });
      return code === 200 ? JSON.parse(body.toString('utf8')) : undefined;
    };
    for (const [index, { label, path }] of helms.entries())
      await t.test(label, () => lived(shell(t, path, cluster.kubeconfig, 'default'), { name: `web${index}`, label, get }));
  });

interface Release {
  readonly name: string;
  readonly label: string;
  /** The object at a path of the API; undefined when there is none. */
  readonly get: (path: string) => Promise<ReturnType<typeof JSON.parse>>;
}

async function lived(h: Shell, { name, label, get }: Release): Promise<void> {
  const chart = writeChart(h.home);
  const wait = '--wait --timeout 60s';
  const deployment = async () => get(`/apis/apps/v1/namespaces/default/deployments/${name}`);

  assert.match(await h.ok(`install ${name} ${chart} ${wait}`), /STATUS: deployed\nREVISION: 1\n/);
  assert.equal((await deployment()).status.availableReplicas, 2, 'waited for the pods');
  assert.match(await h.fails(`install ${name} ${chart}`), /cannot re-?use a name that is still in use/);
  assert.match(await h.ok('list'), new RegExp(`${name}\\s+default\\s+1\\s.*deployed\\s+web-0\\.1\\.0`));
  assert.match(await h.ok(`status ${name}`), /STATUS: deployed/);
  assert.match(await h.ok(`test ${name} --logs`), /Phase: +Succeeded\n[\s\S]*all is well\n/);
  const operations = (await deployment()).metadata.managedFields.filter(({ manager }: { manager: string }) => manager === 'helm');
  // helm 4 applies on the server where helm 3 merges by itself
  assert.equal(operations[0]?.operation, label.startsWith('helm v3') ? 'Update' : 'Apply');

  const changes = '--set replicas=3 --set image=registry.example/web:2 --set extra=true';
  assert.match(await h.ok(`upgrade ${name} ${chart} ${changes} ${wait}`), /has been upgraded\. Happy Helming!/);
  const upgraded = await deployment();
  assert.equal(upgraded.spec.template.spec.containers[0].image, 'registry.example/web:2');
  assert.equal(upgraded.status.updatedReplicas, 3);
  assert.match((await get(`/api/v1/namespaces/default/configmaps/${name}-extra`)).data.server, /^v1\.36\./);
  assert.equal((await get(`/api/v1/namespaces/default/configmaps/${name}-hook`)).data.revision, '2', 'the hook was run again');
  assert.equal((await get(`/api/v1/namespaces/default/configmaps/${name}-kept`)).data.since, '1', 'what is there was looked up');

  assert.match(await h.ok(`rollback ${name} 1 ${wait}`), /Rollback was a success/);
  assert.equal((await deployment()).spec.replicas, 2);
  assert.equal(await get(`/api/v1/namespaces/default/configmaps/${name}-extra`), undefined, 'what the first revision lacked is gone');
  assert.match(await h.ok(`history ${name}`), /1\s.*superseded[\s\S]*2\s.*superseded[\s\S]*3\s.*deployed.*Rollback to 1/);
  assert.match(await h.ok(`get manifest ${name}`), /kind: Deployment/);

  assert.match(await h.fails(`upgrade ${name} ${chart} --set replicas=-1`), /must be greater than or equal to 0/);
  assert.match(await h.ok(`upgrade ${name} ${chart} --dry-run=server`), /REVISION: 5|REVISION: 4/);
  assert.match(await h.ok(`template ${name} ${chart}`), /# Source: web\/templates\/web\.yaml\napiVersion: v1\nkind: Service\n/);
  assert.match(
    await h.fails(`upgrade ${name} ${chart} --set image=registry.example/web:missing --wait --timeout 3s`),
    /deadline|timed out|not ready/i,
  );
  assert.match(await h.ok(`history ${name}`), /failed/);
  assert.match(await h.ok(`rollback ${name} 1 ${wait}`), /Rollback was a success/);
  assert.equal((await deployment()).spec.template.spec.containers[0].image, 'registry.example/web:1');
  assert.match(await h.ok(`uninstall ${name} ${wait}`), new RegExp(`release "${name}" uninstalled`));
  assert.equal(await deployment(), undefined);
  assert.doesNotMatch(await h.ok('list'), new RegExp(name));
}
