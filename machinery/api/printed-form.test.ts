/** The form of an object that is updated: as printed and read back, but with nothing where nobody set a pointer. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeObject, parseJson } from './json.ts';
import { printedForm } from './printed-form.ts';
import { typeSchema } from './schema/schema.ts';

const CASES: readonly (readonly [string, object, object])[] = [
  ['core.v1.TypedObjectReference', { apiGroup: null, kind: 'K', name: 'n' }, { kind: 'K', name: 'n' }],
  ['core.v1.TypedObjectReference', { apiGroup: '', kind: 'K', name: 'n' }, { apiGroup: '', kind: 'K', name: 'n' }],
  ['core.v1.AzureFilePersistentVolumeSource', { secretName: 's' }, { secretName: 's', shareName: '' }],
  ['resource.k8s.io.v1.CapacityRequestPolicy', { validValues: ['1'] }, { validValues: ['1'] }],
  ['rbac.authorization.k8s.io.v1.PolicyRule', {}, { verbs: null }],
];

for (const [type, object, expected] of CASES) {
  test(`${JSON.stringify(object)} of ${type} is updated as ${JSON.stringify(expected)}, and printed as it was`, () => {
    const schema = typeSchema(type);
    const form = printedForm(schema, object);
    assert.deepEqual(form, expected);
    assert.deepEqual(printedForm(schema, parseJson(encodeObject(schema, object)).value), expected);
    assert.deepEqual(encodeObject(schema, form), encodeObject(schema, object));
  });
}
