/** Whether tolerations bear a taint. Mirrors upstream `component-helpers/scheduling/corev1` (ToleratesTaint). */
import type { Taint, Toleration } from '../../machinery/api/types/core.v1.ts';

export function tolerates(toleration: Toleration, taint: Taint): boolean {
  if (toleration.effect && toleration.effect !== taint.effect) return false;
  if (toleration.key && toleration.key !== taint.key) return false;
  switch (toleration.operator ?? 'Equal') {
    case 'Exists':
      return true;
    case 'Equal':
      return toleration.key !== undefined && (toleration.value ?? '') === (taint.value ?? '');
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

export const untolerated = (taints: readonly Taint[], tolerations: readonly Toleration[], effects: readonly string[]): Taint | undefined =>
  taints.find((taint) => effects.includes(taint.effect) && !tolerations.some((toleration) => tolerates(toleration, taint)));
