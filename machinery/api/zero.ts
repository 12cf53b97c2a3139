/** The zero values of the API's types, as Go has them. */
import type { TypeRef } from './schema/schema.ts';

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
