/**
 * What pods and templates are warned of: fields that are deprecated, do nothing, or hide one another. Mirrors kubernetes `pkg/api/pod/warnings.go`.
 */

import { dnsLabel } from '../../../machinery/api/names.ts';
import type { KubeObject } from '../../../machinery/api/object.ts';
import type * as core from '../../../machinery/api/types/core.v1.ts';
import { OLD_ARCH, OLD_OS } from '../../../machinery/api/well-known-labels.ts';
import { fractionWarning } from './fractions.ts';
import { canonicalIpWarning } from './ip.ts';
import { APP_ARMOR_PREFIX, containersOf, SECCOMP_CONTAINER_PREFIX, SECCOMP_POD } from './pod-annotations.ts';
import { volumeWarnings } from './volume-warnings.ts';

type Metadata = { readonly annotations?: Record<string, string> } | undefined;

/** Labels of nodes that have newer names. */
export const DEPRECATED_NODE_LABELS: Readonly<Record<string, string>> = {
  [OLD_ARCH]: 'deprecated since v1.14; use "kubernetes.io/arch" instead',
  [OLD_OS]: 'deprecated since v1.14; use "kubernetes.io/os" instead',
  'failure-domain.beta.kubernetes.io/region': 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
  'failure-domain.beta.kubernetes.io/zone': 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
  'beta.kubernetes.io/instance-type': 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
};

/** The deprecation of a label, or undefined. Label names are data, so nothing is read from the prototype. */
export const deprecatedLabel = (key: string): string | undefined =>
  Object.hasOwn(DEPRECATED_NODE_LABELS, key) ? DEPRECATED_NODE_LABELS[key] : undefined;

/** Of a workload whose name begins the names of its pods. */
export function podNameWarnings(name: string): string[] {
  const details = dnsLabel(name);
  const advice = 'this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended';
  return details.length === 0 ? [] : [`metadata.name: ${advice}: [${details.join(' ')}]`];
}

/** Of a workload: at creation, and at every update that changes what is asked for. */
export function templateWarnings(
  object: KubeObject,
  old: KubeObject | undefined,
  template: core.PodTemplateSpec | undefined,
  path: string,
): string[] {
  if (template?.spec === undefined) return [];
  if (old !== undefined && (old.metadata.generation ?? 0) === (object.metadata.generation ?? 0)) return [];
  return podWarnings(template.metadata, template.spec, path);
}

const DEPRECATED_ANNOTATIONS: readonly (readonly [string, string])[] = [
  ['scheduler.alpha.kubernetes.io/critical-pod', 'non-functional in v1.16+; use the "priorityClassName" field instead'],
  ['security.alpha.kubernetes.io/sysctls', 'non-functional in v1.11+; use the "sysctls" field instead'],
  ['security.alpha.kubernetes.io/unsafe-sysctls', 'non-functional in v1.11+; use the "sysctls" field instead'],
];

/** `path` is that of the template, '' for a pod. */
export function podWarnings(metadata: Metadata, spec: core.PodSpec, path: string): string[] {
  const at = path === '' ? '' : `${path}.`;
  const warnings: string[] = [];
  placementWarnings(spec, `${at}spec`, warnings);
  const annotations = metadata?.annotations ?? {};
  for (const [key, text] of DEPRECATED_ANNOTATIONS)
    if (annotations[key] !== undefined) warnings.push(`${at}metadata.annotations[${key}]: ${text}`);
  if (spec.volumes) volumeWarnings(spec.volumes, `${at}spec.volumes`, warnings);
  listWarnings(spec, `${at}spec`, warnings);
  for (const name of BYTES) addWarning(fractionWarning(spec.overhead?.[name], `${at}spec.overhead[${name}]`), warnings);
  if (annotations[SECCOMP_POD] !== undefined && !spec.securityContext?.seccompProfile) {
    warnings.push(`${at}metadata.annotations[${SECCOMP_POD}]: non-functional in v1.27+; use the "seccompProfile" field instead`);
  }
  containerWarnings(spec, annotations, at, warnings);
  portWarnings(spec, `${at}spec`, warnings);
  if ((spec.terminationGracePeriodSeconds ?? 0) < 0) {
    warnings.push(`${at}spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`);
  }
  affinityWarnings(spec.affinity, `${at}spec.affinity`, warnings);
  addressWarnings(spec, `${at}spec`, warnings);
  return warnings;
}

function addWarning(text: string | undefined, warnings: string[]): void {
  if (text !== undefined) warnings.push(text);
}

/** Addresses that are not written as they should be. */
function addressWarnings(spec: core.PodSpec, path: string, warnings: string[]): void {
  spec.dnsConfig?.nameservers?.forEach((ip, i) => {
    addWarning(canonicalIpWarning(ip, `${path}.dnsConfig.nameservers[${i}]`), warnings);
  });
  spec.hostAliases?.forEach((alias, i) => {
    addWarning(canonicalIpWarning(alias.ip, `${path}.hostAliases[${i}].ip`), warnings);
  });
}

function placementWarnings(spec: core.PodSpec, path: string, warnings: string[]): void {
  for (const key of Object.keys(spec.nodeSelector ?? {}).sort()) {
    const text = deprecatedLabel(key);
    if (text !== undefined) warnings.push(`${path}.nodeSelector[${key}]: ${text}`);
  }
  const node = spec.affinity?.nodeAffinity;
  node?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms?.forEach((term, i) => {
    termWarnings(term, `${path}.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[${i}]`, warnings);
  });
  node?.preferredDuringSchedulingIgnoredDuringExecution?.forEach((term, i) => {
    termWarnings(
      term.preference ?? {},
      `${path}.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[${i}].preference`,
      warnings,
    );
  });
  spec.topologySpreadConstraints?.forEach((constraint, i) => {
    const at = `${path}.topologySpreadConstraints[${i}]`;
    const text = deprecatedLabel(constraint.topologyKey ?? '');
    if (text !== undefined) warnings.push(`${at}.topologyKey: ${constraint.topologyKey} is ${text}`);
    if (!constraint.labelSelector) warnings.push(`${at}.labelSelector: a null labelSelector results in matching no pod`);
  });
}

export function termWarnings(term: core.NodeSelectorTerm, path: string, warnings: string[]): void {
  term.matchExpressions?.forEach((requirement, i) => {
    const text = deprecatedLabel(requirement.key ?? '');
    if (text !== undefined) warnings.push(`${path}.matchExpressions[${i}].key: ${requirement.key} is ${text}`);
  });
}

function affinityWarnings(affinity: core.Affinity | undefined, path: string, warnings: string[]): void {
  for (const member of ['podAffinity', 'podAntiAffinity'] as const) {
    affinity?.[member]?.requiredDuringSchedulingIgnoredDuringExecution?.forEach((term, i) => {
      if (term.labelSelector) return;
      warnings.push(
        `${path}.${member}.requiredDuringSchedulingIgnoredDuringExecution[${i}].labelSelector: a null labelSelector results in matching no pod`,
      );
    });
    affinity?.[member]?.preferredDuringSchedulingIgnoredDuringExecution?.forEach((term, i) => {
      if (term.podAffinityTerm?.labelSelector) return;
      const at = `${path}.${member}.preferredDuringSchedulingIgnoredDuringExecution[${i}].podAffinityTerm.labelSelector`;
      warnings.push(`${at}: a null labelSelector results in matching no pod`);
    });
  }
}

function listWarnings(spec: core.PodSpec, path: string, warnings: string[]): void {
  const ips = new Set<string>();
  spec.hostAliases?.forEach(({ ip }, i) => {
    if (ips.has(ip)) warnings.push(`${path}.hostAliases[${i}].ip: duplicate ip ${JSON.stringify(ip)}`);
    ips.add(ip);
  });
  const secrets = spec.imagePullSecrets ?? [];
  const names = new Set<string>();
  secrets.forEach(({ name = '' }, i) => {
    if (names.has(name)) warnings.push(`${path}.imagePullSecrets[${i}].name: duplicate name ${JSON.stringify(name)}`);
    names.add(name);
  });
  secrets.forEach(({ name }, i) => {
    if (!name) warnings.push(`${path}.imagePullSecrets[${i}].name: invalid empty name ""`);
  });
}

export const appArmorWarning = (container: string): string =>
  `metadata.annotations[${APP_ARMOR_PREFIX}${container}]: deprecated since v1.30; use the "appArmorProfile" field instead`;

/** Resources that are counted in bytes. */
const BYTES = ['memory', 'ephemeral-storage'];

function containerWarnings(spec: core.PodSpec, annotations: Record<string, string>, at: string, warnings: string[]): void {
  for (const { container, path } of containersOf(spec, `${at}spec`)) {
    const { name, resources, securityContext } = container;
    const seccomp = SECCOMP_CONTAINER_PREFIX + name;
    if (annotations[seccomp] !== undefined && !securityContext?.seccompProfile) {
      warnings.push(`${at}metadata.annotations[${seccomp}]: non-functional in v1.27+; use the "seccompProfile" field instead`);
    }
    // a pod is warned where its annotation becomes a field
    const profile = securityContext?.appArmorProfile ?? spec.securityContext?.appArmorProfile;
    if (at !== '' && !profile && annotations[APP_ARMOR_PREFIX + name] !== undefined) warnings.push(`${at}${appArmorWarning(name)}`);
    for (const resource of BYTES) {
      for (const side of ['limits', 'requests'] as const)
        addWarning(fractionWarning(resources?.[side]?.[resource], `${path}.resources.${side}[${resource}]`), warnings);
    }
    envWarnings(container.env, `${path}.env`, warnings);
  }
}

/** A later variable of the same name hides an earlier one, unless it builds on it: `PATH=$(PATH):/x`. */
function envWarnings(env: readonly core.EnvVar[] | undefined, path: string, warnings: string[]): void {
  if (env === undefined || env.length < 2) return;
  const seen = new Set<string>();
  env.forEach(({ name, value = '', valueFrom }, i) => {
    const reference = `$(${name})`;
    const builds = !valueFrom && value !== reference && value.includes(reference);
    if (seen.has(name) && !builds) {
      warnings.push(`${path}[${i}]: hides previous definition of ${JSON.stringify(name)}, which may be dropped when using apply`);
    }
    seen.add(name);
  });
}

interface PortAt {
  readonly port: core.ContainerPort;
  readonly path: string;
}

function portWarnings(spec: core.PodSpec, path: string, warnings: string[]): void {
  const names = new Map<string, string>();
  const byPort = new Map<string, PortAt[]>();
  for (const { container, path: of } of containersOf(spec, path)) {
    container.ports?.forEach((port, i) => {
      const at = `${of}.ports[${i}]`;
      if (port.hostIP && !port.hostPort) warnings.push(`${at}: hostIP set without hostPort: ${goPort(port)}`);
      const named = port.name ? names.get(port.name) : undefined;
      if (named !== undefined) {
        const detail = `services and probes that select ports by name will use ${named}`;
        warnings.push(`${at}: duplicate port name ${JSON.stringify(port.name)} with ${named}, ${detail}`);
      } else if (port.name) names.set(port.name, at);
      const key = `${port.containerPort}/${port.protocol}`;
      const others = byPort.get(key) ?? [];
      byPort.set(key, [...others, { port, path: at }]);
      for (const other of others) {
        const how = conflictOf(port, other.port);
        if (how !== undefined) warnings.push(`${at}: ${how} port definition with ${other.path}`);
      }
    });
  }
}

/** As Go prints the struct. */
const goPort = ({ name = '', hostPort = 0, containerPort, protocol, hostIP = '' }: core.ContainerPort): string =>
  `{Name:${name} HostPort:${hostPort} ContainerPort:${containerPort} Protocol:${protocol ?? ''} HostIP:${hostIP}}`;

/** Of two definitions of one container port. */
function conflictOf(a: core.ContainerPort, b: core.ContainerPort): string | undefined {
  const [port, otherPort] = [a.hostPort ?? 0, b.hostPort ?? 0];
  const [ip, otherIp] = [a.hostIP ?? '', b.hostIP ?? ''];
  if (port === otherPort && ip === otherIp) return 'duplicate';
  if (port === 0 || otherPort === 0) return 'overlapping';
  return port === otherPort && (ip === '') !== (otherIp === '') ? 'dangerously ambiguous' : undefined;
}
