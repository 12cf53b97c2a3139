/**
 * Lease: who leads, or that a node is alive. Mirrors kubernetes `pkg/registry/coordination/lease`.
 */
import type { FieldError } from '../../../machinery/api/field-error.ts';
import type { Lease } from '../../../machinery/api/types/coordination.k8s.io.v1.ts';
import { defineKind } from '../define.ts';
import { ageCell } from '../tables/cells.ts';
import { nonNegative, positive } from '../validation/numbers.ts';

function validate({ spec }: Lease): FieldError[] {
  const errors: FieldError[] = [];
  if (spec?.leaseDurationSeconds !== undefined) positive(spec.leaseDurationSeconds, 'spec.leaseDurationSeconds', errors);
  nonNegative(spec?.leaseTransitions, 'spec.leaseTransitions', errors);
  return errors;
}

/** Coordinated leader election is off. */
function dropDisabled({ spec }: Lease): void {
  delete spec?.strategy;
  delete spec?.preferredHolder;
}

export const lease = defineKind<Lease>({
  group: 'coordination.k8s.io',
  resource: 'leases',
  kind: 'Lease',
  createOnUpdate: true,
  unconditionalUpdate: false,
  isHeartbeat: true,
  strategy: { prepareForCreate: dropDisabled, prepareForUpdate: dropDisabled, validate, validateUpdate: validate },
  cells: (object, now) => [object.metadata.name, object.spec?.holderIdentity ?? '', ageCell(object.metadata.creationTimestamp, now)],
});
