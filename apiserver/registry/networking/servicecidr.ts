/**
 * ServiceCIDR: a range that cluster IPs come from. Mirrors kubernetes `pkg/registry/networking/servicecidr`.
 */
import type { ServiceCIDR } from '../../../machinery/api/types/networking.k8s.io.v1.ts';
import { defineKind } from '../define.ts';
import { dropStatus, keepStatus, statusView } from '../status.ts';
import { ageCell } from '../tables/cells.ts';

export const servicecidr = defineKind<ServiceCIDR>({
  group: 'networking.k8s.io',
  resource: 'servicecidrs',
  kind: 'ServiceCIDR',
  strategy: { prepareForCreate: dropStatus, prepareForUpdate: keepStatus },
  status: statusView(),
  cells: (object, now) => [object.metadata.name, (object.spec?.cidrs ?? []).join(','), ageCell(object.metadata.creationTimestamp, now)],
});
