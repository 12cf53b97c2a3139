/** Descriptions belong to types and fields that exist, and reach the documents in both dialects. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { typeSchema } from '../../machinery/api/schema/schema.ts';
import { servedApi } from '../discovery/served-api.ts';
import { describedTypes, fieldDescription, typeDescription } from './descriptions.ts';
import { type Json, SchemaCollector } from './schemas.ts';

test('every described type and field exists, in one or more sentences', () => {
  for (const [type, fields] of describedTypes()) {
    const schema = typeSchema(type);
    for (const field of fields) {
      if (field !== '') assert.ok(schema.member(field), `${type} has no ${field}`);
      const text = field === '' ? typeDescription(type) : fieldDescription(type, field, false);
      assert.match(text!, /^[A-Z$].*\.$/, `${type} ${field}`);
    }
  }
});

test('every kind that is served says what it is', () => {
  const { resources } = servedApi(['api/all=true']);
  for (const info of resources) {
    assert.ok(typeDescription(info.type), info.type);
    for (const sub of info.subresources ?? []) if (!CONNECTIONS.test(sub.kind)) assert.ok(typeDescription(sub.type), sub.type);
  }
});

/** Options of connections, which no document shows. */
const CONNECTIONS = /Options$/;

test('what many types share is said once', () => {
  assert.equal(
    fieldDescription('apps.v1.DeploymentCondition', 'status', false),
    fieldDescription('core.v1.NodeCondition', 'status', false),
  );
  assert.match(fieldDescription('core.v1.PodStatus', 'observedGeneration', false)!, /generation/);
  assert.equal(typeDescription('networking.k8s.io.v1beta1.IPAddress'), typeDescription('networking.k8s.io.v1.IPAddress'));
});

test('a field that is a reference keeps its description beside it', () => {
  for (const dialect of ['v2', 'v3'] as const) {
    const collector = new SchemaCollector(dialect);
    collector.reference(typeSchema('core.v1.Pod'));
    const schemas = collector.all() as Record<string, { description?: string; properties: Record<string, Json> }>;
    const pod = schemas['io.k8s.api.core.v1.Pod']!;
    assert.equal(pod.description, typeDescription('core.v1.Pod'));
    assert.equal(pod.properties['spec']!['description'], fieldDescription('core.v1.Pod', 'spec', true));
    assert.equal(pod.properties['kind']!['description'], fieldDescription('core.v1.Pod', 'kind', true));
    assert.equal(pod.properties['spec']!['$ref'] === undefined, dialect === 'v3');
    assert.equal(schemas['io.k8s.api.core.v1.Sysctl']!.description, undefined);
  }
});

test('names of no type and no field have no description', () => {
  assert.equal(typeDescription('constructor'), undefined);
  assert.equal(fieldDescription('core.v1.Pod', 'constructor', true), undefined);
  assert.equal(fieldDescription('core.v1.PodSpec', 'kind', false), undefined);
});
