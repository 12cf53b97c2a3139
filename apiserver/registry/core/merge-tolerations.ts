/**
 * Tolerations of a pod with those of its runtime class, without any that another one covers. Mirrors kubernetes `pkg/util/tolerations`
 * MergeTolerations.
 */
import { deepEqual } from '../../../machinery/api/equality.ts';
import type { Toleration } from '../../../machinery/api/types/core.v1.ts';

export function mergeTolerations(first: readonly Toleration[], second: readonly Toleration[]): Toleration[] {
  const all = [...first, ...second];
  const merged: Toleration[] = [];
  all.forEach((toleration, i) => {
    if (merged.some((other) => covers(other, toleration))) return;
    // of equal ones the first stays
    if (all.slice(i + 1).some((other) => !deepEqual(toleration, other) && covers(other, toleration))) return;
    merged.push(toleration);
  });
  return merged;
}

/** Whether whatever the inner one tolerates is tolerated by the outer one. */
function covers(outer: Toleration, inner: Toleration): boolean {
  if (deepEqual(outer, inner)) return true;
  const [key, operator, effect] = [outer.key ?? '', outer.operator || 'Equal', outer.effect ?? ''];
  if (key !== (inner.key ?? '') && (key !== '' || operator !== 'Exists')) return false;
  if (effect !== '' && effect !== (inner.effect ?? '')) return false;
  const bound = effect === 'NoExecute' ? outer.tolerationSeconds : undefined;
  if (bound !== undefined && (inner.tolerationSeconds === undefined || inner.tolerationSeconds > bound)) return false;
  if (operator === 'Exists') return true;
  return operator === 'Equal' && inner.operator === 'Equal' && (inner.value ?? '') === (outer.value ?? '');
}
