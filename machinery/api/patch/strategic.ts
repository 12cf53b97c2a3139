/**
 * Strategic merge patch: the patch of built-in kinds, and how a client computes one for `kubectl apply`.
 * The work is in strategic-merge.ts (apply) and strategic-diff.ts (compute). Mirrors apimachinery `util/strategicpatch`.
 */
import { deepClone } from '../equality.ts';
import { invalidValue } from '../field-error.ts';
import type { Plain } from '../plain.ts';
import type { TypeRef, TypeSchema } from '../schema/schema.ts';
import { invalid, type StatusError } from '../status.ts';
import { goText } from './go-text.ts';
import { diffMaps } from './strategic-diff.ts';
import { mergeMap } from './strategic-merge.ts';
import { ConversionError, fromUnstructured } from './unstructured.ts';

const typeOf = (schema: TypeSchema): TypeRef => ({ kind: 'struct', schema });

export interface Merged {
  /** Shares with the original what the patch did not touch. */
  readonly object: Plain;
  /** A copy that `decodeObject` takes. Throws the 422 that quotes the patch when the result does not fit its type. */
  converted(): Plain;
}

/** Throws StatusError with upstream's code and text when the patch does not fit the original. */
export function mergeStrategically(schema: TypeSchema, original: object, patch: object): Merged {
  const consumed = deepClone(patch) as Plain;
  const object = mergeMap({ ...original }, consumed, typeOf(schema), { combine: false });
  return {
    object,
    converted: () => {
      try {
        return fromUnstructured(schema, object);
      } catch (error) {
        if (error instanceof ConversionError) throw strategicPatchInvalid(consumed, error.message);
        throw error;
      }
    },
  };
}

/** The patched copy, converted so that `decodeObject` takes it. Throws as `mergeStrategically` and its `converted` do. */
export const strategicMerge = (schema: TypeSchema, original: object, patch: object): Plain =>
  mergeStrategically(schema, original, patch).converted();

/** 422 that quotes the patch as Go prints a map; also for strict field validation of a patched object. */
export function strategicPatchInvalid(patch: unknown, why: string): StatusError {
  return invalid({ group: '', kind: '' }, '', [invalidValue('patch', goText(patch), why)]);
}

/** The patch that leads from `original` to `modified`. */
export function createStrategicPatch(schema: TypeSchema, original: object, modified: object): Plain {
  return deepClone(
    diffMaps(original as Plain, modified as Plain, typeOf(schema), { ignoreDeletions: false, ignoreChanges: false, setOrder: true }),
  );
}

/**
 * What `kubectl apply` sends: deletions are what was in `original` (the last applied) and is gone from `modified`; additions and
 * changes are what differs between `current` and `modified`. An empty object means there is nothing to do.
 */
export function createThreeWayPatch(schema: TypeSchema, original: object | undefined, modified: object, current: object): Plain {
  const type = typeOf(schema);
  const changes = diffMaps(current as Plain, modified as Plain, type, { ignoreDeletions: true, ignoreChanges: false, setOrder: true });
  const deletions = diffMaps((original ?? {}) as Plain, modified as Plain, type, {
    ignoreDeletions: false,
    ignoreChanges: true,
    setOrder: true,
  });
  return mergeMap(deepClone(deletions), deepClone(changes), type, { combine: true });
}
