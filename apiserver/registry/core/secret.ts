/**
 * Secret: confidential values by key, with rules by type. Mirrors kubernetes `pkg/registry/core/secret` and ValidateSecret.
 */

import { jsonKind } from '../../../machinery/api/decode.ts';
import { deepEqual } from '../../../machinery/api/equality.ts';
import { type FieldError, forbiddenField, invalidValue, required, tooLong } from '../../../machinery/api/field-error.ts';
import { parseJson } from '../../../machinery/api/json.ts';
import { configMapKey } from '../../../machinery/api/names.ts';
import { isPlain, setOwn } from '../../../machinery/api/plain.ts';
import type { Secret } from '../../../machinery/api/types/core.v1.ts';
import { defineKind } from '../define.ts';
import { ageCell } from '../tables/cells.ts';
import { immutableField } from '../validation/numbers.ts';
import { MAX_DATA_BYTES } from './configmap.ts';
import { keyPairProblem } from './key-pair.ts';

const ACCOUNT_NAME = 'kubernetes.io/service-account.name';

/** stringData is how text is written, data how it is kept. */
function applyDefaults(object: Secret): void {
  if (!object.type) object.type = 'Opaque';
  const text = object.stringData;
  delete object.stringData;
  if (!text || Object.keys(text).length === 0) return;
  object.data ??= {};
  for (const key of Object.keys(text)) setOwn(object.data, key, Buffer.from(text[key]!).toString('base64'));
}

function validate(object: Secret): FieldError[] {
  const errors: FieldError[] = [];
  const data = object.data ?? {};
  let size = 0;
  for (const key of Object.keys(data).sort()) {
    for (const detail of configMapKey(key)) errors.push(invalidValue(`data[${key}]`, key, detail));
    size += Buffer.byteLength(data[key]!, 'base64');
  }
  if (size > MAX_DATA_BYTES) errors.push(tooLong('data', MAX_DATA_BYTES));
  typeErrors(object, data, errors);
  return errors;
}

function typeErrors(object: Secret, data: Record<string, string>, errors: FieldError[]): void {
  const has = (key: string): boolean => Object.hasOwn(data, key);
  const need = (key: string): void => {
    if (!has(key)) errors.push(required(`data[${key}]`));
  };
  switch (object.type) {
    case 'kubernetes.io/service-account-token':
      if (!object.metadata.annotations?.[ACCOUNT_NAME]) errors.push(required(`metadata.annotations[${ACCOUNT_NAME}]`));
      break;
    case 'kubernetes.io/dockercfg':
      dockerErrors(data, '.dockercfg', errors);
      break;
    case 'kubernetes.io/dockerconfigjson':
      dockerErrors(data, '.dockerconfigjson', errors);
      break;
    case 'kubernetes.io/basic-auth':
      if (!has('username') && !has('password')) {
        need('username');
        need('password');
      }
      break;
    case 'kubernetes.io/ssh-auth':
      if (!data['ssh-privatekey']) errors.push(required('data[ssh-privatekey]'));
      break;
    case 'kubernetes.io/tls':
      need('tls.crt');
      need('tls.key');
  }
}

function dockerErrors(data: Record<string, string>, key: string, errors: FieldError[]): void {
  if (!Object.hasOwn(data, key)) {
    errors.push(required(`data[${key}]`));
    return;
  }
  const why = jsonObjectProblem(Buffer.from(data[key]!, 'base64').toString());
  if (why !== undefined) errors.push(invalidValue(`data[${key}]`, '<secret contents redacted>', why));
}

/** Why a text is no JSON object, in the words of Go's decoder. */
function jsonObjectProblem(text: string): string | undefined {
  try {
    const { value } = parseJson(text);
    if (value === null || isPlain(value)) return undefined;
    return `json: cannot unmarshal ${jsonKind(value)} into Go value of type map[string]interface {}`;
  } catch (error) {
    return (error as Error).message;
  }
}

function validateUpdate(object: Secret, old: Secret): FieldError[] {
  const errors: FieldError[] = [];
  immutableField(object.type, old.type, 'type', errors);
  if (old.immutable === true) {
    const detail = 'field is immutable when `immutable` is set';
    if (object.immutable !== true) errors.push(forbiddenField('immutable', detail));
    if (!deepEqual(object.data, old.data)) errors.push(forbiddenField('data', detail));
  }
  return [...errors, ...validate(object)];
}

/** A certificate that no server can be started with. */
function tlsWarnings({ type, data = {} }: Secret): string[] {
  if (type !== 'kubernetes.io/tls') return [];
  const bytes = (key: string): Buffer => Buffer.from(data[key] ?? '', 'base64');
  const problem = keyPairProblem(bytes('tls.crt'), bytes('tls.key'));
  return problem === undefined ? [] : [problem];
}

export const secret = defineKind<Secret>({
  resource: 'secrets',
  kind: 'Secret',
  fieldLabelError: 'notSupported',
  selectableFields: { type: (object) => object.type ?? '' },
  strategy: { default: applyDefaults, validate, validateUpdate, warnings: tlsWarnings },
  cells: (object, now) => [
    object.metadata.name,
    object.type ?? '',
    Object.keys(object.data ?? {}).length,
    ageCell(object.metadata.creationTimestamp, now),
  ],
});
