/**
 * What a kubelet may report of single containers. Mirrors kubernetes `core/validation` ValidateContainerStateTransition, validateContainerStatusUsers,
 * validateContainerStatusAllocatedResourcesStatus and validatePodExtendedResourceClaimStatus, and `api/v1/pod` ContainerShouldRestart.
 */
import {
  duplicate,
  type FieldError,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
  tooLong,
} from '../../../machinery/api/field-error.ts';
import { dnsSubdomain } from '../../../machinery/api/names.ts';
import type * as core from '../../../machinery/api/types/core.v1.ts';
import { dnsLabelErrors } from '../validation/ip.ts';

export const STATUS_MEMBERS = ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'] as const;

const containersOfSpec = (spec: core.PodSpec): readonly core.Container[] => [...(spec.initContainers ?? []), ...(spec.containers ?? [])];

/** Some rule restarts them all, so that any may come back. */
const allMayRestart = (spec: core.PodSpec): boolean =>
  containersOfSpec(spec).some((container) => container.restartPolicyRules?.some((rule) => rule.action === 'RestartAllContainers'));

/** The container's rules come first, then its own policy, then the pod's. */
function mayRestart(container: core.Container, spec: core.PodSpec, exitCode: number): boolean {
  for (const { exitCodes } of container.restartPolicyRules ?? []) {
    if (exitCodes && (exitCodes.values?.includes(exitCode) ?? false) === (exitCodes.operator === 'In')) return true;
  }
  const policy = container.restartPolicy ?? spec.restartPolicy ?? 'Always';
  return policy === 'OnFailure' ? exitCode !== 0 : policy !== 'Never';
}

/** A container that ended for good stays ended. */
export function transitionErrors(next: core.PodStatus, { spec, status: old = {} }: core.Pod, errors: FieldError[]): void {
  const all = allMayRestart(spec);
  for (const member of STATUS_MEMBERS) {
    if (all && member !== 'ephemeralContainerStatuses') continue;
    old[member]?.forEach((before, i) => {
      const ended = before.state?.terminated;
      const after = next[member]?.find((status) => status.name === before.name && !status.state?.terminated);
      if (!ended || after === undefined) return;
      const among = member === 'containerStatuses' ? spec.containers : member === 'initContainerStatuses' ? spec.initContainers : undefined;
      const container = among?.find((c) => c.name === before.name);
      if (container !== undefined && mayRestart(container, spec, ended.exitCode ?? 0)) return;
      errors.push(forbiddenField(`status.${member}[${i}].state`, 'may not be transitioned to non-terminated state'));
    });
  }
}

const MAX_ID = 2147483647;

export function userErrors(statuses: readonly core.ContainerStatus[], os: string, path: string, errors: FieldError[]): void {
  statuses.forEach(({ user }, i) => {
    const linux = user?.linux;
    if (!linux) return;
    const at = `${path}[${i}].user.linux`;
    if (os === 'windows') {
      errors.push(forbiddenField(at, 'cannot be set for a windows pod'));
      return;
    }
    const idErrors = (id: number, field: string): void => {
      if (id < 0 || id > MAX_ID) errors.push(invalidValue(`${at}.${field}`, id, `must be between 0 and ${MAX_ID}, inclusive`));
    };
    idErrors(linux.uid ?? 0, 'uid');
    idErrors(linux.gid ?? 0, 'gid');
    linux.supplementalGroups?.forEach((id, g) => {
      idErrors(id, `supplementalGroups[${g}]`);
    });
  });
}

const HEALTHS = ['Healthy', 'Unhealthy', 'Unknown'];
const MAX_MESSAGE = 1024;
const CLAIM = 'claim:';
const NO_CLAIM =
  "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty";

export function allocationErrors(
  statuses: readonly core.ContainerStatus[],
  containers: readonly core.Container[],
  path: string,
  errors: FieldError[],
): void {
  statuses.forEach((status, i) => {
    const container = containers.find((c) => c.name === status.name);
    status.allocatedResourcesStatus?.forEach((allocated, j) => {
      const at = `${path}[${i}].allocatedResourcesStatus[${j}]`;
      const name = allocated.name ?? '';
      if (container !== undefined && !isAskedFor(name, container)) {
        const detail = name.startsWith(CLAIM) ? NO_CLAIM : "must match one of the container's resource requests";
        errors.push(invalidValue(`${at}.name`, name, detail));
      }
      healthErrors(allocated.resources ?? [], `${at}.resources`, errors);
    });
  });
}

function isAskedFor(name: string, { resources }: core.Container): boolean {
  if (!name.startsWith(CLAIM)) return resources?.requests?.[name] !== undefined;
  return (resources?.claims ?? []).some((claim) => name === `${CLAIM}${claim.name}${claim.request ? `/${claim.request}` : ''}`);
}

function healthErrors(resources: readonly core.ResourceHealth[], path: string, errors: FieldError[]): void {
  const seen = new Set<string>();
  resources.forEach(({ health = '', resourceID = '', message }, k) => {
    const at = `${path}[${k}]`;
    if (!HEALTHS.includes(health)) errors.push(notSupported(`${at}.health`, health, HEALTHS));
    if (message === '') errors.push(required(`${at}.message`, 'must be non-empty if specified'));
    else if (message !== undefined && Buffer.byteLength(message) > MAX_MESSAGE) errors.push(tooLong(`${at}.message`, MAX_MESSAGE));
    if (seen.has(resourceID)) errors.push(duplicate(`${at}.resourceID`, resourceID));
    seen.add(resourceID);
  });
}

/** Devices that were asked for as plain resources and are served by a claim that the scheduler made. */
export function extendedClaimErrors(status: core.PodExtendedResourceClaimStatus, spec: core.PodSpec, errors: FieldError[]): void {
  const path = 'status.extendedResourceClaimStatus';
  const mappings = status.requestMappings ?? [];
  if (mappings.length === 0) errors.push(required(`${path}.requestMappings`, 'at least one request mapping is required'));
  const seen = new Set<string>();
  mappings.forEach(({ containerName = '', resourceName = '', requestName = '' }, i) => {
    const at = `${path}.requestMappings[${i}]`;
    const container = containersOfSpec(spec).findLast((c) => c.name === containerName);
    if (container === undefined) {
      const detail = 'must match the name of an entry in spec.initContainers.name or spec.containers.name';
      errors.push(invalidValue(`${at}.containerName`, containerName, detail));
    } else if (container.resources?.requests?.[resourceName] === undefined) {
      const detail =
        'must match the extended resource name of an entry in spec.initContainers.resources.requests or spec.containers.resources.requests';
      errors.push(invalidValue(`${at}.resourceName`, resourceName, detail));
    }
    dnsLabelErrors(requestName, `${path}.requestName`, errors);
    const key = `${containerName}/${resourceName}/${requestName}`;
    if (seen.has(key)) {
      errors.push(duplicate(`${at}.containerName`, containerName));
      errors.push(duplicate(`${at}.resourceName`, resourceName));
      errors.push(duplicate(`${at}.requestName`, requestName));
    }
    seen.add(key);
  });
  const claim = status.resourceClaimName ?? '';
  if (claim === '') errors.push(required(`${path}.resourceClaimName`));
  else for (const detail of dnsSubdomain(claim)) errors.push(invalidValue(`${path}.resourceClaimName`, claim, detail));
}
