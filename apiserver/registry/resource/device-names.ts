/**
 * Names in the device API: pools, requests, attributes. Mirrors kubernetes `resource/validation`.
 */
import { type FieldError, invalidValue, required, tooLong } from '../../../machinery/api/field-error.ts';
import { dnsSubdomain, labelValue, qualifiedName, regexDetail } from '../../../machinery/api/names.ts';
import { driverNameErrors } from '../validation/driver-names.ts';

const MAX_POOL_NAME = 253;
const MAX_ID = 32;
const C_IDENTIFIER = '[A-Za-z_][A-Za-z0-9_]*';
const cIdentifierDetail = regexDetail(
  "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'",
  C_IDENTIFIER,
  'my_name',
  'MY_NAME',
  'MyName',
);
const EFFECTS = ['NoExecute', 'NoSchedule', 'None'];

export const DEVICE_TAINT_EFFECTS: readonly string[] = EFFECTS;

/** One subdomain or several with slashes between. */
export function poolNameErrors(name: string | undefined, path: string, errors: FieldError[]): void {
  if (!name) {
    errors.push(required(path));
    return;
  }
  if (name.length > MAX_POOL_NAME) errors.push(tooLong(path, MAX_POOL_NAME));
  for (const part of name.split('/')) for (const detail of dnsSubdomain(part)) errors.push(invalidValue(path, part, detail));
}

/** `name` or `domain/name`, of an attribute or a capacity. */
export function attributeNameErrors(name: string, path: string, errors: FieldError[]): void {
  const parts = name.split('/');
  if (parts.length === 1) identifierErrors(name, path, errors);
  if (parts.length !== 2) return;
  const [domain = '', id = ''] = parts;
  if (domain === '') errors.push(invalidValue(path, '', 'the domain must not be empty'));
  else driverNameErrors(domain, path, errors);
  if (id === '') errors.push(invalidValue(path, '', 'the name must not be empty'));
  else identifierErrors(id, path, errors);
}

export function fullAttributeNameErrors(name: string, path: string, errors: FieldError[]): void {
  attributeNameErrors(name, path, errors);
  if (!name.includes('/')) {
    errors.push(invalidValue(path, name, 'a fully qualified name must be a domain and a name separated by a slash'));
  }
}

function identifierErrors(id: string, path: string, errors: FieldError[]): void {
  if (id.length > MAX_ID) errors.push(tooLong(path, MAX_ID));
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(id)) errors.push(invalidValue(path, id, cIdentifierDetail));
}

export function labelKeyErrors(key: string, path: string, errors: FieldError[]): void {
  for (const detail of qualifiedName(key)) errors.push(invalidValue(path, key, detail));
}

export function labelValueErrors(value: string, path: string, errors: FieldError[]): void {
  for (const detail of labelValue(value)) errors.push(invalidValue(path, value, detail));
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function uuidErrors(uid: string | undefined, path: string, errors: FieldError[]): void {
  if (uid === undefined || UUID.test(uid)) return;
  const plain = uid.replace(/^urn:uuid:|^\{|\}$/gi, '').toLowerCase();
  const parses = UUID.test(plain) || /^[0-9a-f]{32}$/.test(plain);
  const length = [32, 36, 38, 45].includes(uid.length);
  const why = length ? 'invalid UUID format' : `invalid UUID length: ${uid.length}`;
  const form = '`xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx`';
  const detail = parses
    ? `uid must be in RFC 4122 normalized form, ${form} with lowercase hexadecimal characters`
    : `error validating uid: ${why}`;
  errors.push(invalidValue(path, uid, detail));
}
