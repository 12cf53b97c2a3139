/**
 * NetworkPolicy: who may talk to whom. Mirrors kubernetes `pkg/registry/networking/networkpolicy`.
 */
import type { NetworkPolicy } from '../../../machinery/api/types/networking.k8s.io.v1.ts';
import { defineKind } from '../define.ts';
import { ageCell, selectorCell } from '../tables/cells.ts';
import { networkPolicyErrors, networkPolicyWarnings } from './networkpolicy-validation.ts';

function applyDefaults(object: NetworkPolicy): void {
  object.spec ??= {} as NonNullable<NetworkPolicy['spec']>;
  const { spec } = object;
  for (const rule of [...(spec.ingress ?? []), ...(spec.egress ?? [])]) for (const port of rule.ports ?? []) port.protocol ??= 'TCP';
  if ((spec.policyTypes?.length ?? 0) === 0) spec.policyTypes = (spec.egress?.length ?? 0) > 0 ? ['Ingress', 'Egress'] : ['Ingress'];
}

export const networkpolicy = defineKind<NetworkPolicy>({
  group: 'networking.k8s.io',
  resource: 'networkpolicies',
  kind: 'NetworkPolicy',
  generation: 'spec',
  strategy: {
    default: applyDefaults,
    validate: (object) => networkPolicyErrors(object),
    validateUpdate: networkPolicyErrors,
    warnings: networkPolicyWarnings,
  },
  cells: (object, now) => [
    object.metadata.name,
    selectorCell(object.spec?.podSelector ?? {}),
    ageCell(object.metadata.creationTimestamp, now),
  ],
});
