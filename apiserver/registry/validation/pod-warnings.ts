/**
 * What pods and templates are warned of: fields that are deprecated, do nothing, or hide one another. Mirrors kubernetes `pkg/api/pod/warnings.go`.
 */

import { dnsLabel } from '../../../machinery/api/names.ts';
import type { KubeObject } from '../../../machinery/api/object.ts';
import { formatQuantity, parseQuantity, quantityMilliWrapped } from '../../../machinery/api/quantity.ts';
import type * as core from '../../../machinery/api/types/core.v1.ts';
import { OLD_ARCH, OLD_OS } from '../../../machinery/api/well-known-labels.ts';
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

/** `path` is that of the template, '' for a pod. */
export function podWarnings(metadata: Metadata, spec: core.PodSpec, path: string): string[] {
  const at = path === '' ? '' : `${path}.`;
  const warnings: string[] = [];
  placementWarnings(spec, `${at}spec`, warnings);
  const annotations = metadata?.annotations ?? {};
  if (annotations['scheduler.alpha.kubernetes.io/critical-pod'] !== undefined) {
    const key = `${at}metadata.annotations[scheduler.alpha.kubernetes.io/critical-pod]`;
    warnings.push(`${key}: non-functional in v1.16+; use the "priorityClassName" field instead`);
  }
  if (spec.volumes) volumeWarnings(spec.volumes, `${at}spec.volumes`, warnings);
  listWarnings(spec, `${at}spec`, warnings);
  if (annotations[SECCOMP_POD] !== undefined && !spec.securityContext?.seccompProfile) {
    warnings.push(`${at}metadata.annotations[${SECCOMP_POD}]: non-functional in v1.27+; use the "seccompProfile" field instead`);
  }
  containerWarnings(spec, annotations, at, warnings);
  if ((spec.terminationGracePeriodSeconds ?? 0) < 0) {
    warnings.push(`${at}spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`);
  }
  affinityWarnings(spec.affinity, `${at}spec.affinity`, warnings);
  return warnings;
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

function termWarnings(term: core.NodeSelectorTerm, path: string, warnings: string[]): void {
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
  spec.hostAliases?.forEach((alias, i) => {
    if (ips.has(alias.ip)) warnings.push(`${path}.hostAliases[${i}].ip: duplicate ip ${JSON.stringify(alias.ip)}`);
    ips.add(alias.ip);
    const text = canonicalIpWarning(alias.ip, `${path}.hostAliases[${i}].ip`);
    if (text !== undefined) warnings.push(text);
  });
  const searches = new Set<string>();
  spec.dnsConfig?.nameservers?.forEach((ip, i) => {
    const text = canonicalIpWarning(ip, `${path}.dnsConfig.nameservers[${i}]`);
    if (text !== undefined) warnings.push(text);
  });
  spec.dnsConfig?.searches?.forEach((search, i) => {
    if (searches.has(search)) warnings.push(`${path}.dnsConfig.searches[${i}]: duplicate path ${JSON.stringify(search)}`);
    searches.add(search);
  });
  const secrets = new Set<string>();
  spec.imagePullSecrets?.forEach((secret, i) => {
    const name = secret.name ?? '';
    if (name === '') warnings.push(`${path}.imagePullSecrets[${i}].name: invalid empty name ""`);
    else if (secrets.has(name)) warnings.push(`${path}.imagePullSecrets[${i}].name: duplicate name ${JSON.stringify(name)}`);
    secrets.add(name);
  });
}

export const appArmorWarning = (container: string): string =>
  `metadata.annotations[${APP_ARMOR_PREFIX}${container}]: deprecated since v1.30; use the "appArmorProfile" field instead`;

function containerWarnings(spec: core.PodSpec, annotations: Record<string, string>, at: string, warnings: string[]): void {
  const ports: PortAt[] = [];
  for (const { container, path } of containersOf(spec, `${at}spec`)) {
    const seccomp = SECCOMP_CONTAINER_PREFIX + container.name;
    if (annotations[seccomp] !== undefined && !container.securityContext?.seccompProfile) {
      warnings.push(`${at}metadata.annotations[${seccomp}]: non-functional in v1.27+; use the "seccompProfile" field instead`);
    }
    if (annotations[APP_ARMOR_PREFIX + container.name] !== undefined) warnings.push(`${at}${appArmorWarning(container.name)}`);
    fractionWarnings(container.resources, `${path}.resources`, warnings);
    envWarnings(container.env, `${path}.env`, warnings);
    portWarnings(container, path, ports, warnings);
  }
}

function fractionWarnings(resources: core.ResourceRequirements | undefined, path: string, warnings: string[]): void {
  for (const member of ['limits', 'requests'] as const) {
    for (const name of ['memory', 'ephemeral-storage']) {
      const text = fractionWarning(resources?.[member]?.[name], `${path}.${member}[${name}]`);
      if (text !== undefined) warnings.push(text);
    }
  }
}

/** Bytes come whole. */
export function fractionWarning(value: string | undefined, path: string): string | undefined {
  if (value === undefined) return undefined;
  const quantity = parseQuantity(value);
  if (quantityMilliWrapped(quantity) % 1000n === 0n) return undefined;
  return `${path}: fractional byte value ${JSON.stringify(formatQuantity(quantity))} is invalid, must be an integer`;
}

/** `PATH=$(PATH):/x` builds on the one definition before it. */
function refersToEarlier(env: readonly core.EnvVar[], index: number): boolean {
  const { name, value = '' } = env[index]!;
  return value.includes(`$(${name})`) && env.slice(0, index).filter((v) => v.name === name).length < 2;
}

/** A later variable of the same name hides an earlier one, unless it refers to it. */
function envWarnings(env: readonly core.EnvVar[] | undefined, path: string, warnings: string[]): void {
  if (env === undefined || env.length < 2) return;
  const seen = new Map<string, core.EnvVar>();
  env.forEach((variable, i) => {
    const before = seen.get(variable.name);
    if (before !== undefined && !refersToEarlier(env, i)) {
      warnings.push(`${path}[${i}]: hides previous definition of ${JSON.stringify(variable.name)}, which may be dropped when using apply`);
    }
    seen.set(variable.name, variable);
  });
}

interface PortAt {
  readonly port: core.ContainerPort;
  readonly path: string;
  readonly container: string;
}

function portWarnings(container: core.Container, path: string, all: PortAt[], warnings: string[]): void {
  container.ports?.forEach((port, i) => {
    const at = `${path}.ports[${i}]`;
    const named = port.name ? all.find((p) => p.port.name === port.name && p.container !== path) : undefined;
    if (named !== undefined) {
      const detail = `services and probes that select ports by name will use ${named.path}`;
      warnings.push(`${at}: duplicate port name ${JSON.stringify(port.name)} with ${named.path}, ${detail}`);
    }
    for (const other of all) {
      if (other.port.containerPort !== port.containerPort || other.port.protocol !== port.protocol) continue;
      const same = (other.port.hostPort ?? 0) === (port.hostPort ?? 0) && (other.port.hostIP ?? '') === (port.hostIP ?? '');
      warnings.push(`${at}: ${same ? 'duplicate' : 'overlapping'} port definition with ${other.path}`);
    }
    all.push({ port, path: at, container: path });
  });
}
