/** Values as bytes of the media type that was negotiated: JSON as Go prints it, YAML, protobuf. */
import { encodeObject, parseJson, prettyJson } from '../../machinery/api/json.ts';
import type { KubeObject } from '../../machinery/api/object.ts';
import { encodeProtobuf } from '../../machinery/api/protobuf.ts';
import { type TypeSchema, typeSchema } from '../../machinery/api/schema/schema.ts';
import { formatYaml } from '../../machinery/api/yaml.ts';
import type { ServedResource } from '../handlers/served.ts';
import type { MediaType } from './negotiate.ts';

const NEWLINE = Buffer.from('\n');

export function encodeValue(schema: TypeSchema, value: KubeObject, form: { mediaType: MediaType; pretty: boolean }): Buffer {
  if (form.mediaType === 'application/vnd.kubernetes.protobuf') return encodeProtobuf(schema, value);
  const json = encodeObject(schema, value);
  return form.mediaType === 'application/yaml' ? yamlOf(json) : finishJson(json, form.pretty);
}

/** Go's encoder ends compact JSON with a newline and indented JSON without one. */
export function finishJson(json: Buffer, pretty: boolean): Buffer {
  return pretty ? prettyJson(json) : Buffer.concat([json, NEWLINE]);
}

export const yamlOf = (json: Buffer): Buffer => Buffer.from(formatYaml(parseJson(json).value));

/** Tables and metadata-only answers: their member order is Go's by construction. */
export function encodeMeta(value: Record<string, unknown>, form: { mediaType: MediaType; pretty: boolean }): Buffer {
  if (form.mediaType === 'application/vnd.kubernetes.protobuf')
    return encodeProtobuf(typeSchema(`meta.v1.${String(value['kind'])}`), value as unknown as KubeObject);
  const json = encodeOrdered(value);
  return form.mediaType === 'application/yaml' ? yamlOf(json) : finishJson(json, form.pretty);
}

/** JSON in the members' own order with Go's escapes. */
export function encodeOrdered(value: unknown): Buffer {
  let big = false;
  const text = JSON.stringify(value, (_key, member) => {
    if (typeof member !== 'bigint') return member;
    big = true;
    return `\u0000${member}`;
  });
  const numbers = big ? text.replace(/"\\u0000(-?\d+)"/g, '$1') : text;
  return Buffer.from(numbers.replace(/[<>&\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`));
}

export const goPackage = (served: ServedResource): string => (served.group === '' ? 'core' : served.group.split('.', 1)[0]!);
