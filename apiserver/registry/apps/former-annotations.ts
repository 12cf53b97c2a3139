/**
 * Annotations that stand for fields of versions that are gone: upstream's internal type has the field, so that the annotation must hold a number. Mirrors
 * the conversions of kubernetes `pkg/apis/apps/v1/conversion.go`.
 */
import type { KubeObject } from '../../../machinery/api/object.ts';
import { badRequest } from '../../../machinery/api/status.ts';

const MAX_INT64 = 2n ** 63n;

/** The number of the annotation, undefined when there is none. Throws when it is no number; `prefix` begins what is said of it. */
export function annotatedNumber(object: KubeObject, key: string, prefix = ''): bigint | undefined {
  const text = object.metadata.annotations?.[key];
  if (text === undefined) return undefined;
  const fail = (why: string): Error =>
    badRequest(
      `${object.kind} in version "v1" cannot be handled as a ${object.kind}: ${prefix}strconv.ParseInt: parsing ${JSON.stringify(text)}: ${why}`,
    );
  if (!/^[+-]?[0-9]+$/.test(text)) throw fail('invalid syntax');
  const value = BigInt(text.replace(/^\+/, ''));
  if (value >= MAX_INT64 || value < -MAX_INT64) throw fail('value out of range');
  return value;
}
