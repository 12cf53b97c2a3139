/**
 * A pod's spec, in pods and in templates. Mirrors kubernetes `core/validation` ValidatePodSpec: the same parts in the same order.
 *
 * Validation is on the path of every create: parts that are absent cost one comparison, and a path is built only where something is there to check.
 */
import { type FieldError, forbiddenField, invalidValue, notSupported, required, tooLong } from '../../../machinery/api/field-error.ts';
import { dnsSubdomain, nameIsSubdomain, qualifiedName } from '../../../machinery/api/names.ts';
import type * as core from '../../../machinery/api/types/core.v1.ts';
import { affinityErrors, topologySpreadErrors } from './affinity.ts';
import { type ContainerScope, containersErrors } from './containers.ts';
import { fileVolumeErrors } from './env.ts';
import { ephemeralContainersErrors, initContainersErrors } from './init-containers.ts';
import { dnsLabelErrors, ipErrors } from './ip.ts';
import { labelErrors } from './metadata.ts';
import { containersOf } from './pod-annotations.ts';
import { podResourceErrors } from './pod-resources.ts';
import { dnsConfigErrors, podSecurityContextErrors } from './pod-security.ts';
import { overheadErrors } from './resources.ts';
import { tolerationErrors } from './taints.ts';
import { volumesErrors } from './volumes.ts';
import { hostProcessErrors, osErrors } from './windows.ts';

export interface PodSpecOptions {
  /** The spec is that of a template, not of a pod. */
  readonly template?: boolean;
  /** The name of the pod, for the claims of ephemeral volumes. */
  readonly podName?: string;
  /** The pod mirrors one that its kubelet has from a file. */
  readonly staticPod?: boolean;
  /** What is stored, in an update: what was accepted once is accepted again. */
  readonly oldSpec?: core.PodSpec;
}

const MAX_INT32 = 2147483647;
const RESTART_POLICIES = ['Always', 'OnFailure', 'Never'];
const DNS_POLICIES = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];
const PREEMPTION_POLICIES = ['PreemptLowerPriority', 'Never'];

export function podSpecErrors(given: Partial<core.PodSpec>, path: string, errors: FieldError[], options: PodSpecOptions): void {
  const spec = given as core.PodSpec;
  if (spec.terminationGracePeriodSeconds === undefined) errors.push(required(`${path}.terminationGracePeriodSeconds`));
  const volumes = volumesErrors(spec.volumes, options.podName, `${path}.volumes`, errors);
  if (spec.resourceClaims) resourceClaimErrors(spec.resourceClaims, options.staticPod === true, `${path}.resourceClaims`, errors);
  const scope: ContainerScope = {
    volumes,
    claims: spec.resourceClaims,
    gracePeriod: spec.terminationGracePeriodSeconds,
    restartPolicy: spec.restartPolicy ?? '',
    hostUsers: spec.hostUsers !== false,
  };
  containersErrors(spec.containers ?? [], scope, `${path}.containers`, errors);
  if (spec.initContainers) initContainersErrors(spec, scope, `${path}.initContainers`, errors);
  if (spec.ephemeralContainers) ephemeralContainersErrors(spec, scope, `${path}.ephemeralContainers`, errors);
  if (spec.resources) podResourceErrors(spec, `${path}.resources`, errors);
  if (spec.hostNetwork === true) hostPortErrors(spec, path, errors, options);
  oneOf(spec.restartPolicy, RESTART_POLICIES, `${path}.restartPolicy`, errors);
  oneOf(spec.dnsPolicy, DNS_POLICIES, `${path}.dnsPolicy`, errors);
  labelErrors(spec.nodeSelector, `${path}.nodeSelector`, errors);
  podSecurityContextErrors(spec, path, errors);
  if (spec.affinity) affinityErrors(spec.affinity, `${path}.affinity`, errors);
  dnsConfigErrors(spec.dnsConfig, spec.dnsPolicy, `${path}.dnsConfig`, errors);
  gateErrors(spec, path, errors);
  if (spec.topologySpreadConstraints) topologySpreadErrors(spec.topologySpreadConstraints, `${path}.topologySpreadConstraints`, errors);
  hostProcessErrors(spec, path, errors);
  if (spec.hostUsers === false) hostUserErrors(spec, path, errors);
  if (spec.hostnameOverride !== undefined) hostnameOverrideErrors(spec, path, errors);
  nameAndTimeErrors(spec, path, errors);
  classErrors(spec, path, errors);
  if (spec.os) osErrors(spec, path, errors);
  fileVolumeErrors(containersOf(spec, path), spec.volumes, errors);
}

/** Required when empty, NotSupported when it is none of `supported`. */
export function oneOf(value: string | undefined, supported: readonly string[], path: string, errors: FieldError[]): void {
  if (value !== undefined && supported.includes(value)) return;
  errors.push(value === undefined || value === '' ? required(path) : notSupported(path, value, supported));
}

function resourceClaimErrors(claims: readonly core.PodResourceClaim[], staticPod: boolean, path: string, errors: FieldError[]): void {
  if (staticPod) {
    for (const _ of claims) errors.push(forbiddenField('[]', 'static pods do not support resource claims'));
    return;
  }
  const names = new Set<string>();
  claims.forEach((claim, i) => {
    const at = `${path}[${i}]`;
    if (!claim.name) errors.push(required(`${at}.name`));
    else if (names.has(claim.name)) errors.push({ ...duplicateName(`${at}.name`, claim.name) });
    else dnsLabelErrors(claim.name, `${at}.name`, errors);
    names.add(claim.name);
    const { resourceClaimName: name, resourceClaimTemplateName: template } = claim;
    const shown = { Name: claim.name, ResourceClaimName: name ?? null, ResourceClaimTemplateName: template ?? null };
    if (name !== undefined && template !== undefined) {
      errors.push(invalidValue(at, shown, 'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified'));
    }
    if (name === undefined && template === undefined) {
      errors.push(invalidValue(at, shown, 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`'));
    }
    for (const detail of name === undefined ? [] : dnsSubdomain(name)) errors.push(invalidValue(`${at}.resourceClaimName`, name, detail));
    for (const detail of template === undefined ? [] : dnsSubdomain(template)) {
      errors.push(invalidValue(`${at}.resourceClaimTemplateName`, template, detail));
    }
  });
}

const duplicateName = (field: string, name: string): FieldError => ({
  type: 'FieldValueDuplicate',
  field,
  body: `Duplicate value: ${JSON.stringify(name)}`,
  message: `${field}: Duplicate value: ${JSON.stringify(name)}`,
});

/** On the host's network a port is the host's port. Templates may leave it open: it is filled when the pod is made. */
function hostPortErrors(spec: core.PodSpec, path: string, errors: FieldError[], options: PodSpecOptions): void {
  (spec.containers ?? []).forEach((container, i) => {
    (container.ports ?? []).forEach((port, j) => {
      const hostPort = port.hostPort ?? 0;
      if ((options.template !== true || hostPort !== 0) && hostPort !== (port.containerPort ?? 0)) {
        const at = `${path}.containers[${i}].ports[${j}].hostPort`;
        errors.push(invalidValue(at, hostPort, 'must match `containerPort` when `hostNetwork` is true'));
      }
    });
  });
}

function gateErrors(spec: core.PodSpec, path: string, errors: FieldError[]): void {
  spec.readinessGates?.forEach((gate, i) => {
    const type = gate.conditionType ?? '';
    for (const detail of qualifiedName(type)) errors.push(invalidValue(`${path}.readinessGates[${i}].conditionType`, type, detail));
  });
  const seen = new Set<string>();
  spec.schedulingGates?.forEach((gate, i) => {
    const name = gate.name ?? '';
    for (const detail of qualifiedName(name)) errors.push(invalidValue(`${path}.schedulingGates[${i}]`, name, detail));
    if (seen.has(name)) errors.push(duplicateName(`${path}.schedulingGates[${i}]`, name));
    seen.add(name);
  });
}

/** Users of its own do not go with other namespaces of the host. */
function hostUserErrors(spec: core.PodSpec, path: string, errors: FieldError[]): void {
  const detail = 'when `hostUsers` is false';
  if (spec.hostNetwork === true) errors.push(forbiddenField(`${path}.hostNetwork`, detail));
  if (spec.hostPID === true) errors.push(forbiddenField(`${path}.HostPID`, detail));
  if (spec.hostIPC === true) errors.push(forbiddenField(`${path}.HostIPC`, detail));
  for (const { container, path: at } of containersOf(spec, path)) {
    if ((container.volumeDevices?.length ?? 0) > 0) errors.push(forbiddenField(`${at}.volumeDevices`, detail));
  }
}

function nameAndTimeErrors(spec: core.PodSpec, path: string, errors: FieldError[]): void {
  if (spec.serviceAccountName) {
    for (const detail of nameIsSubdomain(spec.serviceAccountName, false)) {
      errors.push(invalidValue(`${path}.serviceAccountName`, spec.serviceAccountName, detail));
    }
  }
  if (spec.nodeName) for (const detail of dnsSubdomain(spec.nodeName)) errors.push(invalidValue(`${path}.nodeName`, spec.nodeName, detail));
  const deadline = spec.activeDeadlineSeconds;
  if (deadline !== undefined && (deadline < 1 || deadline > MAX_INT32)) {
    errors.push(invalidValue(`${path}.activeDeadlineSeconds`, deadline, `must be between 1 and ${MAX_INT32}, inclusive`));
  }
  if (spec.hostname) dnsLabelErrors(spec.hostname, `${path}.hostname`, errors);
  if (spec.subdomain) dnsLabelErrors(spec.subdomain, `${path}.subdomain`, errors);
  if (spec.tolerations) tolerationErrors(spec.tolerations, `${path}.tolerations`, errors);
  spec.hostAliases?.forEach((alias, i) => {
    ipErrors(alias.ip ?? '', `${path}.hostAliases[${i}].ip`, errors);
    alias.hostnames?.forEach((name, j) => {
      for (const detail of dnsSubdomain(name)) errors.push(invalidValue(`${path}.hostAliases[${i}].hostnames[${j}]`, name, detail));
    });
  });
}

const MAX_HOSTNAME = 64;

function hostnameOverrideErrors(spec: core.PodSpec, path: string, errors: FieldError[]): void {
  const name = spec.hostnameOverride!;
  const at = `${path}.hostnameOverride`;
  if (spec.setHostnameAsFQDN === true) errors.push(forbiddenField(at, 'may not be specified when setHostnameAsFQDN is true'));
  if (spec.hostNetwork === true) errors.push(forbiddenField(at, 'may not be specified when hostNetwork is true'));
  if (Buffer.byteLength(name) > MAX_HOSTNAME) errors.push(tooLong(at, MAX_HOSTNAME));
  for (const detail of dnsSubdomain(name)) errors.push(invalidValue(at, name, detail));
}

function classErrors(spec: core.PodSpec, path: string, errors: FieldError[]): void {
  const { priorityClassName, runtimeClassName, preemptionPolicy, overhead } = spec;
  if (priorityClassName) {
    for (const detail of dnsSubdomain(priorityClassName)) errors.push(invalidValue(`${path}.priorityClassName`, priorityClassName, detail));
  }
  if (runtimeClassName !== undefined) {
    for (const detail of dnsSubdomain(runtimeClassName)) errors.push(invalidValue(`${path}.runtimeClassName`, runtimeClassName, detail));
  }
  if (preemptionPolicy !== undefined) oneOf(preemptionPolicy, PREEMPTION_POLICIES, `${path}.preemptionPolicy`, errors);
  if (overhead !== undefined) overheadErrors(overhead as Record<string, string>, `${path}.overhead`, errors);
}
