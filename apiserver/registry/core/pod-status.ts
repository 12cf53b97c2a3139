/**
 * The status of a pod, as its kubelet reports it. Mirrors kubernetes `core/validation` ValidatePodStatusUpdate.
 */
import { duplicate, type FieldError, forbiddenField, invalidValue } from '../../../machinery/api/field-error.ts';
import { dnsSubdomain, qualifiedName } from '../../../machinery/api/names.ts';
import type * as core from '../../../machinery/api/types/core.v1.ts';
import { statusView } from '../status.ts';
import { canonicalIpWarning, dualStackErrors, ipErrors } from '../validation/ip.ts';
import { immutableField } from '../validation/numbers.ts';
import { allocationErrors, extendedClaimErrors, STATUS_MEMBERS, transitionErrors, userErrors } from './pod-container-statuses.ts';
import { podAnnotationUpdateErrors } from './pod-create.ts';

export const podStatusView = statusView<core.Pod>({
  keepMetadata: ['ownerReferences'],
  prepare: (pod, old, context) => {
    pod.status ??= {};
    const { status } = pod;
    if (!status.qosClass && old.status?.qosClass) status.qosClass = old.status.qosClass;
    keepObservedGenerations(status, old.status ?? {});
    for (const member of ['podIPs', 'hostIPs'] as const) {
      status[member]?.forEach(({ ip = '' }, i) => {
        const text = canonicalIpWarning(ip, `status.${member}[${i}].ip`);
        if (text !== undefined) context.warn(text);
      });
    }
  },
  validate: statusErrors,
});

/** Who leaves out what he has observed does not know of the field: it stays as it was, condition by condition. */
function keepObservedGenerations(status: core.PodStatus, old: core.PodStatus): void {
  if (!status.observedGeneration && old.observedGeneration) status.observedGeneration = old.observedGeneration;
  const known = new Map<string, (number | undefined)[]>();
  for (const { type, observedGeneration } of old.conditions ?? []) known.set(type, [...(known.get(type) ?? []), observedGeneration]);
  for (const condition of status.conditions ?? []) {
    const before = known.get(condition.type)?.shift();
    if (!condition.observedGeneration && before) condition.observedGeneration = before;
  }
}

const SYSTEM_CONDITIONS = new Set(['PodScheduled', 'Ready', 'Initialized']);

function statusErrors(pod: core.Pod, old: core.Pod): FieldError[] {
  const errors: FieldError[] = [];
  const status = pod.status ?? {};
  const before = old.status ?? {};
  podAnnotationUpdateErrors(pod, old, errors);
  conditionErrors(status.conditions ?? [], errors);
  const nominated = status.nominatedNodeName;
  if (nominated && nominated !== before.nominatedNodeName) {
    for (const detail of dnsSubdomain(nominated)) errors.push(invalidValue('status.nominatedNodeName', nominated, detail));
    if (old.spec.nodeName)
      errors.push(forbiddenField('status.nominatedNodeName', 'may not be set on pods that are already bound to a node'));
  }
  if ((status.observedGeneration ?? 0) < 0) {
    errors.push(invalidValue('status.observedGeneration', status.observedGeneration, 'must be a non-negative integer'));
  }
  immutableField(status.qosClass, before.qosClass, 'status.qosClass', errors);
  transitionErrors(status, old, errors);
  claimStatusErrors(status.resourceClaimStatuses ?? [], pod.spec.resourceClaims ?? [], errors);
  if (status.extendedResourceClaimStatus) extendedClaimErrors(status.extendedResourceClaimStatus, pod.spec, errors);
  addressErrors(status, errors);
  for (const member of STATUS_MEMBERS) userErrors(status[member] ?? [], pod.spec.os?.name ?? 'linux', `status.${member}`, errors);
  allocationErrors(status.containerStatuses ?? [], pod.spec.containers, 'status.containerStatuses', errors);
  allocationErrors(status.initContainerStatuses ?? [], pod.spec.initContainers ?? [], 'status.initContainerStatuses', errors);
  status.ephemeralContainerStatuses?.forEach((one, i) => {
    if ((one.allocatedResourcesStatus?.length ?? 0) === 0) return;
    const path = `status.ephemeralContainerStatuses[${i}].allocatedResourcesStatus`;
    errors.push(forbiddenField(path, 'must not be specified in container status'));
  });
  return errors;
}

function conditionErrors(conditions: readonly core.PodCondition[], errors: FieldError[]): void {
  conditions.forEach((condition, i) => {
    if ((condition.observedGeneration ?? 0) < 0) {
      errors.push(
        invalidValue(`status.conditions[${i}].observedGeneration`, condition.observedGeneration, 'must be a non-negative integer'),
      );
    }
    if (SYSTEM_CONDITIONS.has(condition.type)) return;
    const type = condition.type ?? '';
    for (const detail of qualifiedName(type)) errors.push(invalidValue(`status.conditions[${i}].Type`, type, detail));
  });
}

function claimStatusErrors(
  statuses: readonly core.PodResourceClaimStatus[],
  claims: readonly core.PodResourceClaim[],
  errors: FieldError[],
): void {
  const seen = new Set<string>();
  statuses.forEach((status, i) => {
    const path = `status.resourceClaimStatuses[${i}].name`;
    if (!claims.some((c) => c.name === status.name)) {
      errors.push(invalidValue(path, status.name ?? '', 'must match the name of an entry in `spec.resourceClaims`'));
    }
    if (seen.has(status.name)) errors.push(duplicate(path, status.name));
    seen.add(status.name);
    const claim = status.resourceClaimName;
    const at = `status.resourceClaimStatuses[${i}].resourceClaimName`;
    for (const detail of claim === undefined ? [] : dnsSubdomain(claim)) errors.push(invalidValue(at, claim, detail));
  });
}

function addressErrors(status: core.PodStatus, errors: FieldError[]): void {
  const podIps = (status.podIPs ?? []).map((p) => p.ip ?? '');
  podIps.forEach((ip, i) => {
    ipErrors(ip, `status.podIPs[${i}]`, errors);
  });
  dualStackErrors(podIps, podIps.map(goIp), 'status.podIPs', errors);
  const hostIps = (status.hostIPs ?? []).map((h) => h.ip ?? '');
  if (hostIps.length === 0) return;
  if ((status.hostIP ?? '') !== hostIps[0]) errors.push(invalidValue('status.hostIPs[0].ip', hostIps[0], 'must be equal to `hostIP`'));
  hostIps.forEach((ip, i) => {
    ipErrors(ip, `status.hostIPs[${i}]`, errors);
  });
  dualStackErrors(hostIps, hostIps.map(goIp), 'status.hostIPs', errors);
}

const goIp = (ip: string): object => ({ IP: ip });
