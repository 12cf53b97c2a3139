/**
 * Strategic merge patch: the patch of built-in kinds, and how a client computes one for `kubectl apply`.
 * The work is in strategic-merge.ts (apply) and strategic-diff.ts (compute). Mirrors apimachinery `util/strategicpatch`.
 */
import { deepClone } from '../equality.ts';
import type { Plain } from '../plain.ts';
import type { TypeRef, TypeSchema } from '../schema/schema.ts';
import { diffMaps } from './strategic-diff.ts';
import { mergeMap } from './strategic-merge.ts';

const typeOf = (schema: TypeSchema): TypeRef => ({ kind: 'struct', schema });

/** The patched copy, not yet decoded: see `fromUnstructured`. Throws StatusError with upstream's code and text. */
export function strategicMerge(schema: TypeSchema, original: object, patch: object): Plain {
  return mergeMap(deepClone(original) as Plain, deepClone(patch) as Plain, typeOf(schema), { combine: false });
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
