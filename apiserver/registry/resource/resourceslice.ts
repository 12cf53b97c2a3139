/**
 * ResourceSlice: devices that a driver has. Mirrors kubernetes `pkg/registry/resource/resourceslice`.
 */
import { formatTime } from '../../../machinery/api/time.ts';
import type { ResourceSlice } from '../../../machinery/api/types/resource.k8s.io.v1.ts';
import { defineKind } from '../define.ts';
import type { StrategyContext } from '../resource.ts';
import { ageCell } from '../tables/cells.ts';
import { sliceSpecErrors } from './slice-spec.ts';

/** Taints tell when they came. */
function stampTaints(object: ResourceSlice, context: StrategyContext): void {
  for (const device of object.spec?.devices ?? []) for (const taint of device.taints ?? []) taint.timeAdded ??= formatTime(context.now);
}

export const resourceslice = defineKind<ResourceSlice>({
  group: 'resource.k8s.io',
  resource: 'resourceslices',
  kind: 'ResourceSlice',
  generation: 'spec',
  deleteAnswer: 'object',
  noNamespaceField: true,
  fieldLabelError: 'notSupportedForType',
  selectableFields: { 'spec.nodeName': ({ spec }) => spec.nodeName ?? '', 'spec.driver': ({ spec }) => spec.driver ?? '' },
  strategy: {
    prepareForCreate: stampTaints,
    prepareForUpdate: (object, _old, context) => stampTaints(object, context),
    validate: ({ spec }) => sliceSpecErrors(spec ?? {}, undefined),
    validateUpdate: ({ spec }, old) => sliceSpecErrors(spec ?? {}, old.spec),
  },
  cells: (object, now) => [
    object.metadata.name,
    object.spec?.nodeName ?? '<unset>',
    object.spec?.driver ?? '',
    object.spec?.pool?.name ?? '',
    ageCell(object.metadata.creationTimestamp, now),
  ],
});
