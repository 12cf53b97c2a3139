/** Small rules of forms and decoding that clients meet, each as a real API server answers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestApiServer } from '../fixtures/apiserver.ts';
import { CONFIGMAPS, configMap, type Member, sender } from '../fixtures/http.ts';

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
const APPLY = 'application/apply-patch+yaml';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';

const workload = (name: string, spec: object = {}): object => ({
  metadata: { name },
  spec: {
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    ...spec,
  },
});

test('forms and decoding', async (t) => {
  const { client } = await startTestApiServer(t);
  const send = sender(client);
  await send('POST', CONFIGMAPS, configMap('a'));
  await send('POST', DEPLOYMENTS, workload('d', { replicas: 2 }));

  await t.test('the Table of a scale shows what is wanted and what there is', async () => {
    const { body } = await send('GET', `${DEPLOYMENTS}/d/scale?includeObject=None`, undefined, { accept: TABLE });
    assert.deepEqual(
      body.columnDefinitions.map((column: Member) => column.name),
      ['Name', 'Desired', 'Available', 'Age'],
    );
    assert.deepEqual(body.rows[0].cells.slice(0, 3), ['d', 2, 0]);
    assert.equal(body.rows[0].object, null);
    const partial = await send('GET', `${DEPLOYMENTS}/d/scale`, undefined, {
      accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
    });
    assert.deepEqual([partial.body.kind, partial.body.metadata.name], ['PartialObjectMetadata', 'd']);
  });

  for (const [path, label, message] of [
    [
      '/apis/resource.k8s.io/v1/resourceslices',
      'metadata.namespace',
      'field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: metadata.namespace',
    ],
    ['/apis/resource.k8s.io/v1/resourceslices', 'spec.x', 'field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: spec.x'],
    ['/api/v1/namespaces', 'name', 'field label not supported: name'],
  ] as const) {
    await t.test(`nobody selects ${path} by ${label}`, async () => {
      assert.equal((await send('GET', `${path}?fieldSelector=${label}%3Dx`)).body.message, message);
    });
  }

  await t.test('a scale may not be of another namespace', async () => {
    const answer = await send('PUT', `${DEPLOYMENTS}/d/scale`, { metadata: { name: 'd', namespace: 'other' }, spec: { replicas: 1 } });
    assert.equal(answer.body.message, 'the namespace of the provided object does not match the namespace sent on the request');
  });

  for (const [path, apiVersion, kind, served] of [
    [DEPLOYMENTS, 'apps/v1beta2', 'Deployment', 'apps/v1'],
    [DEPLOYMENTS, 'extensions/v1beta1', 'Deployment', 'apps/v1'],
    ['/apis/storage.k8s.io/v1/storageclasses', 'storage.k8s.io/v1beta1', 'StorageClass', 'storage.k8s.io/v1'],
  ] as const) {
    await t.test(`${kind} of ${apiVersion}, once served, is the wrong version`, async () => {
      const { body } = await send('POST', path, { apiVersion, kind, metadata: { name: 'old' } });
      assert.equal(body.message, `the API version in the data (${apiVersion}) does not match the expected API version (${served})`);
    });
  }

  for (const [path, rows] of [
    ['/apis/rbac.authorization.k8s.io/v1/roles', null],
    ['/apis/rbac.authorization.k8s.io/v1/clusterroles?labelSelector=none', null],
    ['/apis/storage.k8s.io/v1/csistoragecapacities', null],
    ['/api/v1/limitranges', []],
    ['/api/v1/pods', []],
  ] as const) {
    await t.test(`the empty Table of ${path} has rows ${JSON.stringify(rows)}`, async () => {
      assert.deepEqual((await send('GET', path, undefined, { accept: TABLE })).body.rows, rows);
    });
  }

  await t.test('metadata-only forms of a daemon set hide the annotation that is a field inside', async () => {
    const daemonsets = '/apis/apps/v1/namespaces/default/daemonsets';
    await send('POST', daemonsets, workload('ds'));
    const key = 'deprecated.daemonset.template.generation';
    const whole = await send('GET', `${daemonsets}/ds`);
    assert.equal(whole.body.metadata.annotations[key], '1');
    const table = await send('GET', daemonsets, undefined, { accept: TABLE });
    assert.equal(table.body.rows[0].object.metadata.annotations, undefined);
    await send('PATCH', `${daemonsets}/ds`, { metadata: { annotations: { mine: 'x' } } }, { type: 'application/merge-patch+json' });
    const partial = await send('GET', `${daemonsets}/ds`, undefined, {
      accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
    });
    assert.deepEqual(partial.body.metadata.annotations, { mine: 'x' });
  });

  await t.test('a Table in protobuf is not acceptable; with JSON to fall back to it is', async () => {
    const accept = 'application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io';
    assert.equal((await send('GET', CONFIGMAPS, undefined, { accept })).code, 406);
    const both = await send('GET', CONFIGMAPS, undefined, { accept: `${accept},${TABLE}` });
    assert.equal(both.body.kind, 'Table');
  });

  await t.test('API services of what is served here are there from the start', async () => {
    const { body } = await send('GET', '/apis/apiregistration.k8s.io/v1/apiservices', undefined, { accept: TABLE });
    const rows = new Map(body.rows.map((row: Member) => [row.cells[0], row.cells.slice(1, 3)]));
    for (const name of ['v1.', 'v1.apps', 'v2.autoscaling', 'v1.events.k8s.io']) assert.deepEqual(rows.get(name), ['Local', 'True'], name);
    assert.equal(rows.has('v1.apiregistration.k8s.io'), false);
  });

  await t.test('a patch that takes apiVersion away leaves an object without a name', async () => {
    for (const [type, body, fields] of [
      ['application/json-patch+json', [{ op: 'remove', path: '/apiVersion' }], ['data', 'metadata']],
      ['application/merge-patch+json', { apiVersion: null, immutable: true }, ['data', 'immutable', 'metadata']],
    ] as const) {
      const answer = await send('PATCH', `${CONFIGMAPS}/a`, body, { type });
      assert.equal(answer.code, 400);
      assert.equal(answer.body.message, 'the name of the object (a based on URL) was undeterminable: name must be provided');
      const warnings = fields.map((field) => `299 - "unknown field \\"${field}\\""`);
      assert.equal([answer.headers['warning']].flat().join(', '), warnings.join(', '));
    }
  });

  await t.test('a patch to another kind is read as that kind first', async () => {
    const patch = (kind: string) =>
      send('PATCH', `${CONFIGMAPS}/a`, [{ op: 'replace', path: '/kind', value: kind }], { type: 'application/json-patch+json' });
    assert.match((await patch('Secret')).body.message, /: illegal base64 data at input byte 0$/);
    assert.match((await patch('Namespace')).body.message, /: converting \(v1\.Namespace\) to \(core\.ConfigMap\): unknown conversion$/);
  });

  await t.test('an event of the other group is an event of another version', async () => {
    const { body } = await send('POST', '/api/v1/namespaces/default/events', { apiVersion: 'events.k8s.io/v1', kind: 'Event' });
    assert.equal(body.message, 'the API version in the data (events.k8s.io/v1) does not match the expected API version (v1)');
  });

  await t.test('applied integers wrap to the size of their field, applied bytes are checked', async () => {
    const config = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, spec: { replicas: 4294967298 } };
    const answer = await send('PATCH', `${DEPLOYMENTS}/d?fieldManager=m&force=true`, config, { type: APPLY });
    assert.deepEqual([answer.code, answer.body.spec?.replicas], [200, 2]);
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, data: { k: '*' } };
    const bad = await send('PATCH', '/api/v1/namespaces/default/secrets/s?fieldManager=m', secret, { type: APPLY });
    assert.match(
      bad.body.message,
      /unable to convert unstructured object to \/v1, Kind=Secret: error decoding from json: illegal base64 data at input byte 0$/,
    );
  });

  await t.test('a key given twice in an applied body is warned of', async () => {
    const body = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: two}\ndata:\n  k: "1"\n  k: "2"\n';
    const path = `${CONFIGMAPS}/two?fieldManager=m`;
    const warned = await send('PATCH', path, body, { type: APPLY });
    assert.deepEqual([warned.code, warned.headers['warning']], [201, '299 - "line 6: key \\"k\\" already set in map"']);
    assert.equal((await send('PATCH', `${path}&fieldValidation=Ignore`, body, { type: APPLY })).headers['warning'], undefined);
    assert.equal((await send('PATCH', `${path}&fieldValidation=Strict`, body, { type: APPLY })).code, 400);
  });

  await t.test('warnings come with an update that changes nothing', async () => {
    const spec = {
      template: {
        metadata: { labels: { a: 'b' } },
        spec: { containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 1 }, { containerPort: 1 }] }] },
      },
    };
    const first = await send('POST', DEPLOYMENTS, workload('w', spec));
    const created = first.headers['warning'];
    assert.match(String(created), /duplicate port/);
    await send('POST', '/api/v1/namespaces/default/services', {
      metadata: { name: 'x' },
      spec: { type: 'ExternalName', externalName: 'a.b', externalIPs: ['192.0.2.1'] },
    });
    const again = await send('PATCH', '/api/v1/namespaces/default/services/x', {}, { type: 'application/merge-patch+json' });
    assert.match(String(again.headers['warning']), /externalIPs/);
  });

  await t.test('component statuses are deprecated and cannot be watched', async () => {
    const answer = await send('GET', '/api/v1/componentstatuses?watch=1');
    assert.deepEqual([answer.code, answer.headers['warning']], [405, '299 - "v1 ComponentStatus is deprecated in v1.19+"']);
  });

  await t.test('component statuses say whether the loops hold their leases', async () => {
    const seen = async (): Promise<unknown[]> =>
      (await send('GET', '/api/v1/componentstatuses', undefined, { accept: TABLE })).body.rows.map((row: Member) => row.cells.slice(0, 2));
    assert.deepEqual(await seen(), [
      ['controller-manager', 'Unhealthy'],
      ['etcd-0', 'Healthy'],
      ['scheduler', 'Unhealthy'],
    ]);
    const spec = { holderIdentity: 'x', leaseDurationSeconds: 15, renewTime: `${new Date(Date.now()).toISOString().slice(0, 23)}000Z` };
    await send('POST', '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases', { metadata: { name: 'kube-scheduler' }, spec });
    assert.deepEqual((await seen()).at(-1), ['scheduler', 'Healthy']);
    const one = await send('GET', '/api/v1/componentstatuses/etcd-0');
    assert.deepEqual(one.body.conditions, [{ type: 'Healthy', status: 'True', message: 'ok' }]);
    assert.equal((await send('GET', '/api/v1/componentstatuses/none')).body.message, 'componentstatuses "none" not found');
  });

  await t.test('streams into pods are checked before they are refused', async () => {
    const pods = '/api/v1/namespaces/default/pods';
    await send('POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } });
    await send('POST', pods, { metadata: { name: 'two' }, spec: { containers: ['a', 'b'].map((name) => ({ name, image: 'i' })) } });
    await send('POST', '/api/v1/namespaces/default/services', { metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } });
    for (const [method, path, code, message] of [
      ['POST', `${pods}/two/exec?command=ls`, 400, 'a container name must be specified for pod two, choose one of: [a b]'],
      ['POST', `${pods}/two/exec?command=ls&container=zz`, 400, 'container zz is not valid for pod two'],
      ['POST', `${pods}/two/attach?container=a`, 400, 'pod two does not have a host assigned'],
      ['POST', `${pods}/two/portforward?ports=abc`, 400, 'cannot convert to []int32: strconv.ParseUint: parsing "abc": invalid syntax'],
      ['GET', `${pods}/two:http/proxy/`, 400, 'address not allowed'],
      ['GET', '/api/v1/namespaces/default/services/s:80/proxy/', 404, 'services "s" not found'],
      ['GET', '/api/v1/namespaces/default/services/ftp:s:80/proxy/', 400, 'invalid service request "ftp:s:80"'],
    ] as const) {
      const answer = await send(method, path);
      assert.deepEqual([answer.code, answer.body.message], [code, message], path);
    }
  });

  await t.test('a binding among bindings must name its pod', async () => {
    const answer = await send('POST', '/api/v1/namespaces/default/bindings', { metadata: {}, target: { kind: 'Node', name: 'n' } });
    assert.deepEqual([answer.code, answer.body.message], [400, 'Name parameter required.']);
  });

  await t.test('the bookmark that ends the initial events holds zero values that a defaulted object would not', async () => {
    const query = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=1';
    const { text } = await send('GET', `/apis/apps/v1/namespaces/none/deployments?${query}`);
    const event = JSON.parse(text.split('\n')[0]!);
    assert.deepEqual([event.type, event.object.spec.replicas, event.object.spec.selector], ['BOOKMARK', 0, null]);
  });
});
