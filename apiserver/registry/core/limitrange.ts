/**
 * LimitRange: bounds and defaults for the resources of a namespace's pods and claims. Mirrors kubernetes `pkg/registry/core/limitrange`.
 */
import type { LimitRange, LimitRangeItem } from '../../../machinery/api/types/core.v1.ts';
import { defineKind } from '../define.ts';
import { limitRangeErrors } from './limitrange-validation.ts';

/** For containers, `max` is the default limit, and the default limit the default request; `min` comes last. */
function defaultItem(item: LimitRangeItem): void {
  if (item.type !== 'Container') return;
  const limits = { ...item.max, ...item.default };
  const requests = { ...item.min, ...limits, ...item.defaultRequest };
  if (Object.keys(limits).length > 0) item.default = limits;
  if (Object.keys(requests).length > 0) item.defaultRequest = requests;
}

export const limitrange = defineKind<LimitRange>({
  resource: 'limitranges',
  kind: 'LimitRange',
  createOnUpdate: true,
  strategy: {
    default: (object) => {
      for (const item of object.spec?.limits ?? []) defaultItem(item);
    },
    validate: limitRangeErrors,
    validateUpdate: limitRangeErrors,
  },
});
