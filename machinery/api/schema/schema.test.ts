/** The schema data is whole: every resource, list and subresource leads to types that resolve. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { apiGroups, builtinResources } from './resources.ts';
import { kindSchema, structSchema, typeSchema } from './schema.ts';

test('every served resource and its list have a schema, and their kinds lead to it', () => {
  for (const info of builtinResources()) {
    assert.equal(kindSchema({ group: info.group, version: info.version, kind: info.kind })?.name, info.type);
    if (info.listType) assert.equal(typeSchema(info.listType).member('items')?.type.kind, 'list');
    for (const sub of info.subresources ?? []) if (/\./.test(sub.type)) assert.ok(typeSchema(sub.type).fields.length > 0);
  }
});

test('the kinds that every group shares are found in each, and unknown ones nowhere', () => {
  assert.equal(kindSchema({ group: 'apps', version: 'v1', kind: 'DeleteOptions' })?.name, 'meta.v1.DeleteOptions');
  assert.equal(kindSchema({ group: 'meta.k8s.io', version: 'v1', kind: 'Table' })?.name, 'meta.v1.Table');
  assert.equal(kindSchema({ group: '../data', version: 'v1', kind: 'Pod' }), undefined);
  assert.equal(kindSchema({ group: '', version: 'v1', kind: '__proto__' }), undefined);
  assert.equal(kindSchema({ group: 'apps', version: 'v1', kind: 'Pod' }), undefined);
});

test('members of inlined structs are found, in their place, with the structs they come through', () => {
  const probe = typeSchema('core.v1.Probe');
  assert.deepEqual(
    probe.members.slice(0, 5).map((m) => m.name),
    ['exec', 'httpGet', 'tcpSocket', 'grpc', 'initialDelaySeconds'],
  );
  assert.deepEqual(probe.inlinedThrough('tcpSocket'), ['ProbeHandler']);
  assert.equal(typeSchema('core.v1.Pod').members[0]?.name, 'kind');
});

test('all types resolve, recursive ones too, and equal names give the identical schema', () => {
  const seen = new Set<string>();
  const visit = (name: string): void => {
    if (seen.has(name)) return;
    seen.add(name);
    for (const field of typeSchema(name).fields) {
      let { type } = field;
      while (type.kind === 'list' || type.kind === 'map') type = type.of;
      if (type.kind === 'struct') visit(type.schema.name);
    }
  };
  for (const { type } of builtinResources()) visit(type);
  assert.ok(seen.size > 400, String(seen.size));
  assert.equal(typeSchema('core.v1.Pod'), typeSchema('core.v1.Pod'));
});

test('a schema can be built at run time', () => {
  const schema = structSchema('example.com.v1.Widget', {
    fields: [
      ['', 'meta.v1.TypeMeta', 'i', 0],
      ['metadata', 'meta.v1.ObjectMeta', 'o', 0],
      ['size', 'int64', 'op', 0],
    ],
  });
  assert.deepEqual(
    schema.members.map((m) => m.name),
    ['kind', 'apiVersion', 'metadata', 'size'],
  );
  assert.equal(schema.member('size')?.type.kind, 'scalar');
});

test('groups come in the order of /apis and resources are found by their names', () => {
  assert.deepEqual(
    apiGroups()
      .slice(0, 3)
      .map((g) => g.group),
    ['', 'apiregistration.k8s.io', 'apps'],
  );
  assert.equal(builtinResources().find((info) => info.group === 'apps' && info.plural === 'deployments')?.kind, 'Deployment');
});
