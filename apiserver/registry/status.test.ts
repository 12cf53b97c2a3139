/** Status writes: of some kinds they leave the metadata of clients alone, and nobody comes to own it by them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../machinery/api/object.ts';
import { hasPath } from '../managedfields/field-set.ts';
import { resetFields } from '../managedfields/reset-fields.ts';
import { customresourcedefinition } from './apiextensions/customresourcedefinition.ts';
import { apiservice } from './apiregistration/apiservice.ts';
import { flowschema } from './flowcontrol/flowschema.ts';
import { prioritylevelconfiguration } from './flowcontrol/prioritylevelconfiguration.ts';
import { ingress } from './networking/ingress.ts';
import { metadataAfterStatusWrite } from './testing/kind-under-test.ts';

const old: KubeObject = { apiVersion: 'v1', kind: 'X', metadata: { name: 'a', labels: { a: 'b' } } };
const sent: KubeObject = { ...old, metadata: { name: 'a', labels: { a: 'c' }, annotations: { x: 'y' }, finalizers: ['example.com/f'] } };

for (const definition of [apiservice, customresourcedefinition, flowschema, prioritylevelconfiguration]) {
  test(`the status of ${definition.resource} is written without the metadata`, () => {
    assert.deepEqual(metadataAfterStatusWrite(definition, sent, old), old.metadata);
    assert.equal(hasPath(resetFields(definition.group, definition.resource, 'status'), ['f:metadata']), true);
  });
}

test('the status of ingresses is written together with labels and finalizers', () => {
  assert.deepEqual(metadataAfterStatusWrite(ingress, sent, old), sent.metadata);
  assert.equal(hasPath(resetFields(ingress.group, ingress.resource, 'status'), ['f:metadata']), false);
});
