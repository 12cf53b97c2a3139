/**
 * What an object uses of a quota's resources, and whether the quota looks at it. Mirrors the evaluators of kubernetes `pkg/quota/v1/evaluator`:
 * one for pods, services and claims each, and one that counts objects of every other kind.
 */

import type { KubeObject } from '../../../machinery/api/object.ts';
import type * as core from '../../../machinery/api/types/core.v1.ts';
import { STORAGE_CLASS } from '../../../machinery/api/well-known-labels.ts';
import { isExtended, isHugePages } from '../validation/resources.ts';
import { type Amounts, podAmounts } from './pod-usage.ts';

export interface Evaluator {
  /** Whether an update is charged too, by the difference; of pods only a resize. */
  chargesUpdate(subresource: string): boolean;
  /** Of the names of a quota those this evaluator counts. */
  counts(name: string): boolean;
  usage(object: KubeObject): Amounts;
  /** What the quota's names demand that the object say; undefined when it does. */
  missing?(object: KubeObject, names: readonly string[]): string | undefined;
}

const countName = (group: string, resource: string): string => `count/${resource}${group === '' ? '' : `.${group}`}`;

/** Kinds that were counted before `count/…` came. */
const LEGACY_COUNTS = new Set(['configmaps', 'secrets', 'resourcequotas', 'replicationcontrollers']);
/** What is never charged: it comes in masses, or is not stored. */
const IGNORED = new Set(['/events', 'events.k8s.io/events', '/bindings']);

export function evaluatorOf(group: string, resource: string): Evaluator | undefined {
  if (IGNORED.has(`${group}/${resource}`)) return undefined;
  const special = group === '' ? SPECIAL[resource] : undefined;
  if (special !== undefined) return special;
  const name = countName(group, resource);
  const usage: Amounts = { [name]: '1', ...(group === '' && LEGACY_COUNTS.has(resource) && { [resource]: '1' }) };
  return { chargesUpdate: () => false, counts: (candidate) => usage[candidate] !== undefined, usage: () => usage };
}

const COMPUTE = ['cpu', 'memory', 'ephemeral-storage'];
const POD_NAMES = new Set(['pods', 'count/pods', ...COMPUTE, ...COMPUTE.flatMap((name) => [`requests.${name}`, `limits.${name}`])]);
/** What containers must say when a quota limits it. */
const DEMANDED = new Set(['cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory']);

const isPodName = (name: string): boolean =>
  POD_NAMES.has(name) ||
  isHugePages(name) ||
  name.startsWith('requests.hugepages-') ||
  (name.startsWith('requests.') && isExtended(name.slice('requests.'.length)));

/** Amounts under the names quotas have for them. */
function computeUsage(requests: Amounts, limits: Amounts): Amounts {
  const usage: Amounts = { pods: '1' };
  for (const [name, value] of Object.entries(requests)) {
    if (COMPUTE.includes(name) || isHugePages(name)) {
      usage[name] = value;
      usage[`requests.${name}`] = value;
    } else if (isExtended(name)) usage[`requests.${name}`] = value;
  }
  for (const name of COMPUTE) if (limits[name] !== undefined) usage[`limits.${name}`] = limits[name]!;
  return usage;
}

const isOver = ({ status }: core.Pod): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed';

const pods: Evaluator = {
  chargesUpdate: (subresource) => subresource === 'resize',
  counts: isPodName,
  usage: (object) => {
    const pod = object as unknown as core.Pod;
    const count = { 'count/pods': '1' };
    return isOver(pod) ? count : { ...count, ...computeUsage(podAmounts(pod, 'requests'), podAmounts(pod, 'limits')) };
  },
  missing: (object, names) => {
    const demanded = names.filter((name) => DEMANDED.has(name)).sort();
    const { spec } = object as unknown as core.Pod;
    const whole = computeUsage((spec.resources?.requests ?? {}) as Amounts, (spec.resources?.limits ?? {}) as Amounts);
    const parts = demanded
      .filter((name) => whole[name] === undefined)
      .map((name) => ({ name, silent: [...(spec.containers ?? []), ...(spec.initContainers ?? [])].filter((c) => !says(c, name)) }))
      .filter(({ silent }) => silent.length > 0);
    if (parts.length === 0) return undefined;
    const texts = parts.map(({ name, silent }) => `${name} for: ${[...new Set(silent.map((c) => c.name))].sort().join(',')}`);
    return `must specify ${texts.join('; ')}`;
  },
};

const says = ({ resources }: core.Container, name: string): boolean =>
  computeUsage((resources?.requests ?? {}) as Amounts, (resources?.limits ?? {}) as Amounts)[name] !== undefined;

const SERVICE_NAMES = new Set(['services', 'count/services', 'services.nodeports', 'services.loadbalancers']);

const services: Evaluator = {
  chargesUpdate: (subresource) => subresource === '',
  counts: (name) => SERVICE_NAMES.has(name),
  usage: (object) => {
    const { spec = {} } = object as unknown as core.Service;
    const ports = spec.ports ?? [];
    const usage: Amounts = { services: '1', 'count/services': '1' };
    if (spec.type === 'NodePort') usage['services.nodeports'] = String(ports.length);
    if (spec.type === 'LoadBalancer') {
      const taken = spec.allocateLoadBalancerNodePorts === false ? ports.filter((port) => port.nodePort) : ports;
      usage['services.nodeports'] = String(taken.length);
      usage['services.loadbalancers'] = '1';
    }
    return usage;
  },
};

const CLAIM_NAMES = new Set(['persistentvolumeclaims', 'count/persistentvolumeclaims', 'requests.storage']);
const CLASS_SUFFIX = '.storageclass.storage.k8s.io/';

const claims: Evaluator = {
  chargesUpdate: (subresource) => subresource === '',
  counts: (name) => CLAIM_NAMES.has(name) || name.includes(CLASS_SUFFIX),
  usage: (object) => {
    const { metadata, spec } = object as unknown as core.PersistentVolumeClaim;
    const storage = spec?.resources?.requests?.['storage'];
    const className = metadata.annotations?.[STORAGE_CLASS] ?? spec?.storageClassName ?? '';
    const usage: Amounts = { persistentvolumeclaims: '1', 'count/persistentvolumeclaims': '1' };
    if (storage !== undefined) usage['requests.storage'] = storage;
    if (className === '') return usage;
    usage[`${className}${CLASS_SUFFIX}persistentvolumeclaims`] = '1';
    if (storage !== undefined) usage[`${className}${CLASS_SUFFIX}requests.storage`] = storage;
    return usage;
  },
};

const SPECIAL: Readonly<Record<string, Evaluator>> = { pods, services, persistentvolumeclaims: claims };
