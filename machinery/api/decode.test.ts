/** The wording of refusals and the canonical form of what is stored, against what a real API server answered. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { decodeObject, strictProblems } from './decode.ts';
import { encodeObject, parseJson } from './json.ts';
import { parseApiVersion } from './object.ts';
import { kindSchema, typeSchema } from './schema/schema.ts';

const decode = (type: string, body: string) => decodeObject(typeSchema(type), parseJson(body).value, { strict: true });
const stored = (type: string, body: string): string => encodeObject(typeSchema(type), decode(type, body).object).toString();

test('a value of the wrong shape is refused in the words of the Go decoder', () => {
  const cases: [string, string, string][] = [
    ['apps.v1.Deployment', '{"spec":{"replicas":"x"}}', 'string into Go struct field DeploymentSpec.spec.replicas of type int32'],
    ['apps.v1.Deployment', '{"spec":{"replicas":2.0}}', 'number 2.0 into Go struct field DeploymentSpec.spec.replicas of type int32'],
    ['apps.v1.Deployment', '{"spec":{"replicas":1e1}}', 'number 1e1 into Go struct field DeploymentSpec.spec.replicas of type int32'],
    [
      'apps.v1.Deployment',
      '{"spec":{"replicas":2147483648}}',
      'number 2147483648 into Go struct field DeploymentSpec.spec.replicas of type int32',
    ],
    ['apps.v1.Deployment', '{"spec":"x"}', 'string into Go struct field Deployment.spec of type v1.DeploymentSpec'],
    [
      'apps.v1.Deployment',
      '{"spec":{"template":{"spec":{"containers":{}}}}}',
      'object into Go struct field PodSpec.spec.template.spec.containers of type []v1.Container',
    ],
    [
      'apps.v1.Deployment',
      '{"spec":{"template":{"spec":{"terminationGracePeriodSeconds":9223372036854775808}}}}',
      'number 9223372036854775808 into Go struct field PodSpec.spec.template.spec.terminationGracePeriodSeconds of type int64',
    ],
    [
      'core.v1.Pod',
      '{"spec":{"containers":[{"livenessProbe":{"tcpSocket":{"port":1.5}}}]}}',
      'number 1.5 into Go struct field TCPSocketAction.spec.containers.livenessProbe.ProbeHandler.tcpSocket.port of type int32',
    ],
    [
      'core.v1.Pod',
      '{"spec":{"volumes":[{"configMap":{"defaultMode":"x"}}]}}',
      'string into Go struct field ConfigMapVolumeSource.spec.volumes.VolumeSource.configMap.defaultMode of type int32',
    ],
    ['core.v1.ConfigMap', '{"data":{"a":1}}', 'number into Go struct field ConfigMap.data of type string'],
    ['core.v1.ConfigMap', '{"data":[]}', 'array into Go struct field ConfigMap.data of type map[string]string'],
    [
      'core.v1.ConfigMap',
      '{"metadata":{"managedFields":"x"}}',
      'string into Go struct field ObjectMeta.metadata.managedFields of type []v1.ManagedFieldsEntry',
    ],
    ['core.v1.Secret', '{"data":{"a":1}}', 'number into Go struct field Secret.data of type []uint8'],
    [
      'meta.v1.DeleteOptions',
      '{"preconditions":{"uid":1}}',
      'number into Go struct field Preconditions.preconditions.uid of type types.UID',
    ],
    [
      'meta.v1.DeleteOptions',
      '{"propagationPolicy":1}',
      'number into Go struct field DeleteOptions.propagationPolicy of type v1.DeletionPropagation',
    ],
    [
      'policy.v1.PodDisruptionBudget',
      '{"spec":{"maxUnavailable":true}}',
      'bool into Go struct field PodDisruptionBudgetSpec.spec.maxUnavailable of type int32',
    ],
    [
      'apiextensions.k8s.io.v1.CustomResourceDefinition',
      '{"spec":{"versions":[{"schema":{"openAPIV3Schema":{"properties":{"a":{"properties":{"b":{"enum":"x"}}}}}}}]}}',
      'string into Go struct field JSONSchemaProps.spec.versions.schema.openAPIV3Schema.properties.properties.enum of type []v1.JSON',
    ],
  ];
  for (const [type, body, message] of cases)
    assert.throws(() => decode(type, body), { message: `json: cannot unmarshal ${message}` }, body);
});

test('values with an own syntax are refused in its words', () => {
  assert.throws(() => decode('core.v1.Secret', '{"data":{"a":"x"}}'), { message: 'illegal base64 data at input byte 0' });
  assert.throws(() => decode('core.v1.Secret', '{"data":{"a":"AAAA="}}'), { message: 'illegal base64 data at input byte 4' });
  assert.throws(() => decode('core.v1.Pod', '{"spec":{"containers":[{"resources":{"requests":{"cpu":true}}}]}}'), /quantities must match/);
  assert.throws(
    () => decode('core.v1.Pod', '{"metadata":{"deletionTimestamp":"noon"}}'),
    /parsing time "noon" as "2006-01-02T15:04:05Z07:00"/,
  );
});

test('the first mistake of the body is the one reported', () => {
  assert.throws(() => decode('core.v1.ConfigMap', '{"immutable":"x","data":{"a":1}}'), /ConfigMap.immutable/);
  assert.throws(() => decode('core.v1.ConfigMap', '{"data":{"a":1},"immutable":"x"}'), /ConfigMap.data/);
});

test('unknown members are named in the order of the body and left out', () => {
  const { object, unknownFields } = decode(
    'apps.v1.Deployment',
    '{"bar":1,"spec":{"foo":{"deep":1},"template":{"spec":{"containers":[{"name":"a"},{"nope":1,"name":"b"}]}}},"__proto__":{"x":1},"Spec":1}',
  );
  assert.deepEqual(unknownFields, ['bar', 'spec.foo', 'spec.template.spec.containers[1].nope', '__proto__', 'Spec']);
  assert.deepEqual(object, { spec: { template: { spec: { containers: [{ name: 'a' }, { name: 'b' }] } } } });
});

test('strict problems list unknown members, then repeated ones that are not inside of them', () => {
  assert.deepEqual(strictProblems(['spec.foo', 'bar'], ['spec.foo.a', 'bar', 'data.k', 'spec.foobar']), [
    'unknown field "spec.foo"',
    'unknown field "bar"',
    'duplicate field "data.k"',
    'duplicate field "spec.foobar"',
  ]);
});

test('names are quoted as Go quotes them', () => {
  assert.deepEqual(strictProblems(['a"b\\c', 'é', '\u0007\u0001\u007f\u200b\u00a0😀'], []), [
    'unknown field "a\\"b\\\\c"',
    'unknown field "é"',
    'unknown field "\\a\\x01\\x7f\\u200b\\u00a0😀"',
  ]);
});

test('an object is stored in canonical form', () => {
  assert.equal(
    stored('core.v1.ConfigMap', '{"data":{"b":null,"a":"x"},"metadata":{"labels":{},"finalizers":[]}}'),
    '{"metadata":{},"data":{"a":"x","b":""}}',
  );
  assert.equal(
    stored('core.v1.Secret', '{"data":{"a":"AA E=","c":null}}'.replace(' ', '\\n')),
    '{"metadata":{},"data":{"a":"AAE=","c":""}}',
  );
  assert.equal(stored('core.v1.ConfigMap', '{"binaryData":{"k":[1,2]}}'), '{"metadata":{},"binaryData":{"k":"AQI="}}');
  assert.equal(stored('rbac.authorization.k8s.io.v1.Role', '{"rules":[]}'), '{"metadata":{},"rules":null}');
  assert.equal(
    stored('core.v1.ResourceQuota', '{"spec":{"hard":{"memory":null,"cpu":1.5}}}'),
    '{"metadata":{},"spec":{"hard":{"cpu":"1500m","memory":"0"}},"status":{}}',
  );
  assert.equal(
    stored('coordination.k8s.io.v1.Lease', '{"spec":{"renewTime":"2026-01-01T00:00:00.000000+01:00"}}'),
    '{"metadata":{},"spec":{"renewTime":"2025-12-31T23:00:00.000000Z"}}',
  );
  assert.equal(
    stored('core.v1.Pod', '{"spec":{"volumes":[{"name":"v","emptyDir":{}}],"containers":[]}}'),
    '{"metadata":{},"spec":{"volumes":[{"name":"v","emptyDir":{}}],"containers":null},"status":{}}',
  );
});

test('an empty managedFields list is kept: it is how a client clears them', () => {
  assert.deepEqual(decode('core.v1.ConfigMap', '{"metadata":{"managedFields":[]}}').object, { metadata: { managedFields: [] } });
});

test('integers beyond 2^53 keep every digit, and free-form content keeps its order and numbers', () => {
  assert.match(
    stored('core.v1.Pod', '{"spec":{"terminationGracePeriodSeconds":9007199254740993}}'),
    /"terminationGracePeriodSeconds":9007199254740993/,
  );
  assert.match(stored('apps.v1.ControllerRevision', '{"data":{"z":1.0,"a":{"y":[1e3]}}}'), /"data":\{"z":1\.0,"a":\{"y":\[1e3\]\}\}/);
});

test('decoding what was decoded changes nothing', () => {
  const once = decode(
    'core.v1.Pod',
    '{"spec":{"containers":[{"name":"a","resources":{"limits":{"cpu":"1000m"}}}]},"metadata":{"creationTimestamp":"2026-01-01T01:00:00+01:00"}}',
  ).object;
  assert.deepEqual(decodeObject(typeSchema('core.v1.Pod'), once, { strict: true }), { object: once, unknownFields: [] });
});

const facts = new URL('../../../shared/kubernetes/dry-run-defaults.json', import.meta.url);
test('what a real API server answered is decoded and printed without a change', {
  skip: existsSync(facts) ? false : 'skipped: the recorded answers are not at hand',
}, () => {
  const { rows } = JSON.parse(readFileSync(facts, 'utf8')) as { rows: { gvr: string; answer?: { apiVersion: string; kind: string } }[] };
  for (const { gvr, answer } of rows) {
    if (answer === undefined) continue;
    // Recorded answers have placeholders where values differ from run to run.
    const text = JSON.stringify(answer).replaceAll('"#time#"', '"2026-01-02T03:04:05Z"').replaceAll('"#nodePort#"', '30000');
    const schema = kindSchema({ ...parseApiVersion(answer.apiVersion), kind: answer.kind });
    assert.ok(schema, gvr);
    const { object, unknownFields } = decodeObject(schema, parseJson(text).value, { strict: true });
    assert.deepEqual(unknownFields, [], gvr);
    assert.equal(encodeObject(schema, object).toString(), text, gvr);
  }
});

test('problems are told in the order of the text', () => {
  const text = '{"a":1,"metadata":{"name":"x","name":"y"},"zzz":{"b":1,"b":2},"data":{"k":"1","k":"2"},"last":0}';
  const { value, duplicates } = parseJson(text);
  const { unknownFields } = decodeObject(typeSchema('core.v1.ConfigMap'), value as Record<string, unknown>, { strict: true });
  assert.deepEqual(
    strictProblems(unknownFields, duplicates, () => text),
    ['unknown field "a"', 'duplicate field "metadata.name"', 'unknown field "zzz"', 'duplicate field "data.k"', 'unknown field "last"'],
  );
});
