/**
 * The status of a pod, as its kubelet reports it. Mirrors kubernetes `core/validation` ValidatePodStatusUpdate.
 */
import { duplicate, type FieldError, forbiddenField, invalidValue } from '../../../machinery/api/field-error.ts';
import { dnsSubdomain, qualifiedName } from '../../../machinery/api/names.ts';
import type * as core from '../../../machinery/api/types/core.v1.ts';
import { statusView } from '../status.ts';
import { ipErrors, ipFamily } from '../validation/ip.ts';
import { immutableField } from '../validation/numbers.ts';

export const podStatusView = statusView<core.Pod>({
  keepMetadata: ['ownerReferences'],
  prepare: (pod, old) => {
    pod.status ??= {};
    const qos = old.status?.qosClass;
    if (!pod.status.qosClass && qos) pod.status.qosClass = qos;
  },
  validate: statusErrors,
});

const SYSTEM_CONDITIONS = new Set(['PodScheduled', 'Ready', 'Initialized']);

function statusErrors(pod: core.Pod, old: core.Pod): FieldError[] {
  const errors: FieldError[] = [];
  const status = pod.status ?? {};
  const before = old.status ?? {};
  conditionErrors(status.conditions ?? [], errors);
  if ((status.observedGeneration ?? 0) < 0) {
    errors.push(invalidValue('status.observedGeneration', status.observedGeneration, 'must be a non-negative integer'));
  }
  const nominated = status.nominatedNodeName;
  if (nominated && nominated !== before.nominatedNodeName) {
    for (const detail of dnsSubdomain(nominated)) errors.push(invalidValue('status.nominatedNodeName', nominated, detail));
  }
  immutableField(status.qosClass, before.qosClass, 'status.qosClass', errors);
  const policy = old.spec.restartPolicy ?? 'Always';
  const sidecars = new Set((old.spec.initContainers ?? []).filter((c) => c.restartPolicy === 'Always').map((c) => c.name));
  transitionErrors(status, before, { member: 'containerStatuses', policy, mayRestart: new Set() }, errors);
  transitionErrors(status, before, { member: 'initContainerStatuses', policy, mayRestart: sidecars }, errors);
  transitionErrors(status, before, { member: 'ephemeralContainerStatuses', policy: 'Never', mayRestart: new Set() }, errors);
  claimStatusErrors(status.resourceClaimStatuses ?? [], pod.spec.resourceClaims ?? [], errors);
  addressErrors(status, errors);
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

interface Transition {
  readonly member: 'containerStatuses' | 'initContainerStatuses' | 'ephemeralContainerStatuses';
  readonly policy: string;
  readonly mayRestart: ReadonlySet<string>;
}

/** A container that ended for good stays ended. */
function transitionErrors(next: core.PodStatus, old: core.PodStatus, rule: Transition, errors: FieldError[]): void {
  if (rule.policy === 'Always') return;
  old[rule.member]?.forEach((before, i) => {
    const ended = before.state?.terminated;
    if (!ended || (ended.exitCode !== 0 && rule.policy === 'OnFailure') || rule.mayRestart.has(before.name)) return;
    const after = next[rule.member]?.find((status) => status.name === before.name);
    if (after !== undefined && !after.state?.terminated) {
      errors.push(forbiddenField(`status.${rule.member}[${i}].state`, 'may not be transitioned to non-terminated state'));
    }
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
    for (const detail of claim === undefined ? [] : dnsSubdomain(claim)) errors.push(invalidValue(path, claim, detail));
  });
}

const PER_FAMILY = 'may specify no more than one IP for each IP family';

function addressErrors(status: core.PodStatus, errors: FieldError[]): void {
  const podIps = (status.podIPs ?? []).map((p) => p.ip ?? '');
  podIps.forEach((ip, i) => {
    ipErrors(ip, `status.podIPs[${i}]`, errors);
  });
  if (!onePerFamily(podIps)) errors.push(invalidValue('status.podIPs', podIps.map(goIp), PER_FAMILY));
  const hostIps = (status.hostIPs ?? []).map((h) => h.ip ?? '');
  if (hostIps.length === 0) return;
  if ((status.hostIP ?? '') !== hostIps[0]) errors.push(invalidValue('status.hostIPs[0].ip', hostIps[0], 'must be equal to `hostIP`'));
  hostIps.forEach((ip, i) => {
    ipErrors(ip, `status.hostIPs[${i}]`, errors);
  });
  if (!onePerFamily(hostIps)) errors.push(invalidValue('status.hostIPs', hostIps.map(goIp), PER_FAMILY));
}

const goIp = (ip: string): object => ({ IP: ip });
const onePerFamily = (ips: readonly string[]): boolean => ips.length < 2 || (ips.length === 2 && ipFamily(ips[0]!) !== ipFamily(ips[1]!));
