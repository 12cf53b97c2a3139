/**
 * JSON merge patch (RFC 7386) and its three-way form for `kubectl apply` of kinds without a schema. Mirrors evanphx/json-patch
 * `MergePatch` and apimachinery `util/jsonmergepatch`.
 */
import { deepClone, identical } from '../equality.ts';
import { getOwn, isPlain, type Plain, setOwn } from '../plain.ts';

/** A new value; neither input is changed, and the result shares nothing with them. */
export function mergePatch(original: unknown, patch: unknown): unknown {
  if (!isPlain(patch)) return deepClone(patch);
  const before: Plain = isPlain(original) ? original : {};
  const result: Plain = {};
  for (const key of Object.keys(before)) {
    if (!Object.hasOwn(patch, key)) setOwn(result, key, deepClone(before[key]));
    else if (patch[key] !== null) setOwn(result, key, mergePatch(before[key], patch[key]));
  }
  for (const key of Object.keys(patch)) {
    if (patch[key] !== null && !Object.hasOwn(before, key)) setOwn(result, key, mergePatch(undefined, patch[key]));
  }
  return result;
}

/** The merge patch that leads from `from` to `to`; removed members are null. */
export function createMergePatch(from: Plain, to: Plain): Plain {
  const patch: Plain = {};
  for (const key of Object.keys(to)) {
    const [before, after] = [getOwn(from, key), to[key]];
    if (after === null) continue;
    if (isPlain(before) && isPlain(after)) {
      const inner = createMergePatch(before, after);
      if (Object.keys(inner).length > 0) setOwn(patch, key, inner);
    } else if (!identical(before, after)) setOwn(patch, key, deepClone(after));
  }
  for (const key of Object.keys(from)) if (getOwn(to, key) === undefined || to[key] === null) setOwn(patch, key, null);
  return patch;
}

/**
 * What `kubectl apply` sends: deletes what was in `original` (the last applied) and is no longer in `modified`, and sets what
 * differs between `current` and `modified`. Members that only `current` has are left alone.
 */
export function createThreeWayMergePatch(original: Plain | undefined, modified: Plain, current: Plain): Plain {
  const additions = keep(createMergePatch(current, modified), (value) => value !== null);
  const deletions = keep(createMergePatch(original ?? {}, modified), (value) => value === null);
  return mergeBoth(deletions, additions);
}

/** The members that are, or contain, something `wanted` takes. */
function keep(patch: Plain, wanted: (value: unknown) => boolean): Plain {
  const result: Plain = {};
  for (const key of Object.keys(patch)) {
    const value = patch[key];
    if (isPlain(value)) {
      const inner = keep(value, wanted);
      // An empty object that is meant as a value is an addition.
      if (Object.keys(inner).length > 0 || (Object.keys(value).length === 0 && wanted(value))) setOwn(result, key, inner);
    } else if (wanted(value)) setOwn(result, key, value);
  }
  return result;
}

function mergeBoth(a: Plain, b: Plain): Plain {
  const result: Plain = { ...a };
  for (const key of Object.keys(b)) {
    const [x, y] = [getOwn(a, key), b[key]];
    setOwn(result, key, isPlain(x) && isPlain(y) ? mergeBoth(x, y) : y);
  }
  return result;
}
