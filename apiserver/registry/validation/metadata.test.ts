/** What is wrong with metadata is said at once and in upstream's order. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FieldError } from '../../../machinery/api/field-error.ts';
import { nameIsSubdomain } from '../../../machinery/api/names.ts';
import { metadataErrors, metadataUpdateErrors } from './metadata.ts';

test('metadata says all that is wrong at once, in order', () => {
  const errors: FieldError[] = [];
  metadataErrors({ name: 'A', namespace: 'n', labels: { 'a b': 'c d' }, finalizers: ['x y'] }, true, nameIsSubdomain, errors);
  assert.deepEqual(
    errors.map((e) => e.field),
    ['metadata.name', 'metadata.labels', 'metadata.labels', 'metadata.finalizers'],
  );
});

test('an object that is being deleted gets no new finalizers', () => {
  const errors: FieldError[] = [];
  const old = { name: 'a', deletionTimestamp: '2026-01-01T00:00:00Z', resourceVersion: '1' };
  metadataUpdateErrors({ ...old, finalizers: ['example.com/late'] }, old, errors);
  assert.match(errors[0]?.message ?? '', /found new finalizers \[\]string\{"example\.com\/late"\}$/);
});
