/**
 * ConfigMap: text and binary values by key. Mirrors kubernetes `pkg/registry/core/configmap` and ValidateConfigMap.
 */
import { deepEqual } from '../../../machinery/api/equality.ts';
import { type FieldError, forbiddenField, invalidValue, tooLong } from '../../../machinery/api/field-error.ts';
import { configMapKey } from '../../../machinery/api/names.ts';
import type { ConfigMap } from '../../../machinery/api/types/core.v1.ts';
import { defineKind } from '../define.ts';
import { ageCell } from '../tables/cells.ts';

/** Of all values together; also the bound of a Secret. */
export const MAX_DATA_BYTES = 1024 * 1024;

const base64Bytes = (text: string): number => Buffer.byteLength(text, 'base64');

function validate(object: ConfigMap): FieldError[] {
  const errors: FieldError[] = [];
  const { data = {}, binaryData = {} } = object;
  let size = 0;
  for (const key of Object.keys(data).sort()) {
    for (const detail of configMapKey(key)) errors.push(invalidValue(`data[${key}]`, key, detail));
    if (Object.hasOwn(binaryData, key)) errors.push(invalidValue(`data[${key}]`, key, 'duplicate of key present in binaryData'));
    size += Buffer.byteLength(data[key]!);
  }
  for (const key of Object.keys(binaryData).sort()) {
    for (const detail of configMapKey(key)) errors.push(invalidValue(`binaryData[${key}]`, key, detail));
    size += base64Bytes(binaryData[key]!);
  }
  if (size > MAX_DATA_BYTES) errors.push(tooLong('[]', MAX_DATA_BYTES));
  return errors;
}

function validateUpdate(object: ConfigMap, old: ConfigMap): FieldError[] {
  const errors: FieldError[] = [];
  if (old.immutable === true) {
    if (object.immutable !== true) errors.push(forbiddenField('immutable', 'field is immutable when `immutable` is set'));
    if (!deepEqual(object.data, old.data)) errors.push(forbiddenField('data', 'field is immutable when `immutable` is set'));
    if (!deepEqual(object.binaryData, old.binaryData))
      errors.push(forbiddenField('binaryData', 'field is immutable when `immutable` is set'));
  }
  return [...errors, ...validate(object)];
}

export const configmap = defineKind<ConfigMap>({
  resource: 'configmaps',
  kind: 'ConfigMap',
  strategy: { validate, validateUpdate },
  cells: (object, now) => [
    object.metadata.name,
    Object.keys(object.data ?? {}).length + Object.keys(object.binaryData ?? {}).length,
    ageCell(object.metadata.creationTimestamp, now),
  ],
});
