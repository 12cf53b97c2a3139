/**
 * Whether tolerations bear a taint. Mirrors `v1.Toleration.ToleratesTaint`. One home, so that the scheduler never places a pod that taint eviction would remove.
 */
import type { Taint, Toleration } from './types/core.v1.ts';

/** An empty effect matches any; an empty key does with Exists. */
export function tolerates(toleration: Toleration, taint: Taint): boolean {
  if (toleration.effect && toleration.effect !== taint.effect) return false;
  if (toleration.key && toleration.key !== taint.key) return false;
  switch (toleration.operator ?? 'Equal') {
    case 'Exists':
      return true;
    case 'Equal':
      return Boolean(toleration.key) && (toleration.value ?? '') === (taint.value ?? '');
    case 'Gt':
    case 'Lt': {
      const [own, other] = [Number(toleration.value), Number(taint.value)];
      if (!Number.isInteger(own) || !Number.isInteger(other)) return false;
      return toleration.operator === 'Gt' ? other > own : other < own;
    }
    default:
      return false;
  }
}

/** The first taint of one of `effects` that no toleration bears. */
export const untolerated = (taints: readonly Taint[], tolerations: readonly Toleration[], effects: readonly string[]): Taint | undefined =>
  taints.find((taint) => effects.includes(taint.effect) && !tolerations.some((toleration) => tolerates(toleration, taint)));
