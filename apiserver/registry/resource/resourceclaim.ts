/**
 * ResourceClaim: devices that are asked for. Mirrors kubernetes `pkg/registry/resource/resourceclaim`.
 */
import type { FieldError } from '../../../machinery/api/field-error.ts';
import type { ResourceClaim } from '../../../machinery/api/types/resource.k8s.io.v1.ts';
import { defineKind } from '../define.ts';
import { dropStatus, keepStatus, statusView } from '../status.ts';
import { ageCell } from '../tables/cells.ts';
import { immutableField } from '../validation/numbers.ts';
import { adminAccessErrors, claimSpecErrors } from './claim-spec.ts';
import { allocatedKeys, claimStatusErrors, deviceKey } from './claim-status.ts';
import { defaultClaimSpec } from './device-defaults.ts';

/** What drivers said of devices goes with their allocation. */
function dropDeallocated(object: ResourceClaim, old: ResourceClaim): void {
  const devices = object.status?.devices;
  if (!devices) return;
  const [before, now] = [allocatedKeys(old), allocatedKeys(object)];
  const left = devices.filter((device) => now.has(deviceKey(device)) || !before.has(deviceKey(device)));
  if (left.length > 0) object.status!.devices = left;
  else delete object.status!.devices;
}

function stateCell({ metadata, status }: ResourceClaim): string {
  const deleted = metadata.deletionTimestamp !== undefined;
  const states = deleted ? ['deleted'] : [];
  if (status?.allocation) states.push('allocated', ...((status.reservedFor?.length ?? 0) > 0 ? ['reserved'] : []));
  else if (!deleted) states.push('pending');
  return states.join(',');
}

export const resourceclaim = defineKind<ResourceClaim>({
  group: 'resource.k8s.io',
  resource: 'resourceclaims',
  kind: 'ResourceClaim',
  deleteAnswer: 'object',
  strategy: {
    default: ({ spec }) => defaultClaimSpec(spec),
    prepareForCreate: dropStatus,
    prepareForUpdate: keepStatus,
    validate: ({ metadata, spec }, context) => {
      const errors = adminAccessErrors(spec, metadata.namespace ?? '', context);
      claimSpecErrors(spec, 'spec', errors);
      return errors;
    },
    validateUpdate: (object, old) => {
      const errors: FieldError[] = [];
      immutableField(object.spec, old.spec, 'spec', errors);
      return errors;
    },
  },
  status: statusView({ keepMetadata: true, prepare: dropDeallocated, validate: claimStatusErrors }),
  cells: (object, now) => [object.metadata.name, stateCell(object), ageCell(object.metadata.creationTimestamp, now)],
});
