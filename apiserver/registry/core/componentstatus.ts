/**
 * ComponentStatus: what an administrator used to ask for the health of the control plane. Never stored. Mirrors kubernetes
 * `pkg/registry/core/componentstatus`.
 */
import type { ComponentStatus } from '../../../machinery/api/types/core.v1.ts';
import { defineKind } from '../define.ts';

export const componentstatus = defineKind<ComponentStatus>({
  resource: 'componentstatuses',
  kind: 'ComponentStatus',
  deprecation: 'v1 ComponentStatus is deprecated in v1.19+',
  cells: ({ metadata, conditions }) => {
    const healthy = conditions?.find((condition) => condition.type === 'Healthy');
    const status = healthy?.status === 'True' ? 'Healthy' : 'Unhealthy';
    return [metadata.name ?? '', healthy === undefined ? 'Unknown' : status, healthy?.message ?? '', healthy?.error ?? ''];
  },
});
