/** The zero values of the API's types, as Go has them. */
import type { FieldSchema, TypeRef } from './schema/schema.ts';

/** What `null` stands for in a list or map. */
export function zeroOf(type: TypeRef): unknown {
  if (type.kind === 'struct') return {};
  if (type.kind === 'list' || type.kind === 'map') return null;
  switch (type.scalar) {
    case 'string':
    case 'bytes':
      return '';
    case 'bool':
      return false;
    case 'int32':
    case 'int64':
    case 'double':
    case 'intOrString':
      return 0;
    case 'quantity':
      return '0';
    case 'duration':
      return '0s';
    default:
      return null;
  }
}

/** Lists that mean something when they are empty: `managedFields: []` forgets, and an autoscaler's `policies: []` asks for none instead of the usual ones. */
const MEANT_EMPTY: ReadonlySet<string> = new Set(['managedFields', 'policies']);

/** Whether a list or a map of the field is the same as nothing when it is empty; undefined when it is not. */
export function dropsEmpty({ name, omitEmpty, type: { kind } }: FieldSchema): 'list' | 'map' | undefined {
  return !omitEmpty || (kind !== 'list' && kind !== 'map') || MEANT_EMPTY.has(name) ? undefined : kind;
}
