/**
 * Node: a machine that runs pods. Mirrors kubernetes `pkg/registry/core/node` and ValidateNode.
 */

import {
  duplicate,
  type FieldError,
  forbiddenField,
  internalFieldError,
  invalidValue,
  quoteGo,
} from '../../../machinery/api/field-error.ts';
import type { Node, NodeSpec, NodeStatus } from '../../../machinery/api/types/core.v1.ts';
import { NOT_READY } from '../../../machinery/api/well-known-labels.ts';
import { defineKind } from '../define.ts';
import type { StrategyContext } from '../resource.ts';
import { keepStatus, statusView } from '../status.ts';
import { ageCell } from '../tables/cells.ts';
import { cidrErrors, parseNetwork } from '../validation/ip.ts';
import { quantityErrors } from '../validation/resources.ts';
import { taintErrors } from '../validation/taints.ts';
import { featureErrors, nodeAnnotationErrors } from './node-annotations.ts';

const NOT_READY_TAINT = { key: NOT_READY, effect: 'NoSchedule' } as const;
const ROLE_PREFIX = 'node-role.kubernetes.io/';

function applyDefaults(node: Node): void {
  node.spec ??= {};
  const { spec, status } = node;
  if (spec.podCIDR && spec.podCIDRs?.[0] !== spec.podCIDR) spec.podCIDRs = [spec.podCIDR];
  else if (!spec.podCIDR && spec.podCIDRs?.[0]) spec.podCIDR = spec.podCIDRs[0];
  if (status?.capacity && status.allocatable === undefined) status.allocatable = { ...status.capacity };
}

/** Configuration by ConfigMap is gone. */
function dropConfig(node: Node): void {
  delete node.spec?.configSource;
  delete node.status?.config;
}

/** A node takes pods only once it has been seen ready (TaintNodesByCondition). */
function taintNew(node: Node): void {
  const taints = node.spec?.taints ?? [];
  if (taints.some((t) => t.key === NOT_READY_TAINT.key && t.effect === NOT_READY_TAINT.effect)) return;
  node.spec = { ...node.spec, taints: [...taints, { ...NOT_READY_TAINT }] };
}

function validate(node: Node): FieldError[] {
  const errors: FieldError[] = [];
  nodeAnnotationErrors(node.metadata.annotations, errors);
  if (node.spec?.taints) taintErrors(node.spec.taints, 'metadata.taints', errors);
  resourceErrors(node.status ?? {}, errors);
  const swap = node.status?.nodeInfo?.swap?.capacity;
  if (swap !== undefined && swap <= 0) errors.push(invalidValue('metadata.nodeSwapStatus.capacity', swap, 'must be greater than zero'));
  featureErrors(node.status?.declaredFeatures ?? [], errors);
  podCidrErrors(node.spec ?? {}, errors);
  return errors;
}

function resourceErrors(status: NodeStatus, errors: FieldError[]): void {
  for (const member of ['capacity', 'allocatable'] as const) {
    for (const name of Object.keys(status[member] ?? {}).sort())
      quantityErrors(name, status[member]![name]!, `status.${member}.${name}`, errors);
  }
}

function podCidrErrors(spec: NodeSpec, errors: FieldError[]): void {
  const cidrs = spec.podCIDRs ?? [];
  cidrs.forEach((cidr, i) => {
    cidrErrors(cidr, `spec.podCIDRs[${i}]`, errors);
  });
  if (cidrs.length < 2) return;
  const families = cidrs.map((cidr) => parseNetwork(cidr)?.family);
  const odd = families.indexOf(undefined);
  if (odd >= 0) {
    const why = `failed to parse cidr value:${quoteGo(cidrs[odd]!)} with error:invalid CIDR address: ${cidrs[odd]}`;
    errors.push(internalFieldError('spec.podCIDRs', `invalid PodCIDRs. failed to check with dual stack with error:${why}`));
  }
  if (odd >= 0 || cidrs.length > 2 || families[0] === families[1]) {
    errors.push(invalidValue('spec.podCIDRs', cidrs, 'may specify no more than one CIDR for each IP family'));
  }
}

/** Of fields that are kept for those who still send them. */
function warnings({ spec }: Node): string[] {
  const texts: string[] = [];
  if (spec?.configSource) texts.push('spec.configSource: the feature is removed');
  if (spec?.externalID) texts.push('spec.externalID: this field is deprecated, and is unused by Kubernetes');
  return texts;
}

function validateUpdate(node: Node, old: Node, context: StrategyContext): FieldError[] {
  // Upstream checks an updated node as a new one first.
  const errors = context.subresource === '' ? validate(node) : [];
  const { spec = {}, status = {} } = node;
  const before = old.spec ?? {};
  nodeAnnotationErrors(node.metadata.annotations, errors);
  resourceErrors(status, errors);
  featureErrors(status.declaredFeatures ?? [], errors);
  const addresses = (status.addresses ?? []).map((a) => JSON.stringify([a.type, a.address]));
  status.addresses?.forEach((address, i) => {
    if (addresses.indexOf(addresses[i]!) < i) {
      errors.push(duplicate(`status.addresses[${i}]`, { Type: address.type, Address: address.address }));
    }
  });
  const fixed = before.podCIDRs ?? [];
  if (fixed.length > 0) {
    const detail = 'node updates may not change podCIDR except from "" to valid';
    const next = spec.podCIDRs ?? [];
    if (next.length !== fixed.length) errors.push(forbiddenField('spec.podCIDRs', detail));
    else for (const [i, cidr] of fixed.entries()) if (cidr !== next[i]) errors.push(forbiddenField('spec.podCIDRs', detail));
  }
  if (before.providerID && before.providerID !== spec.providerID) {
    errors.push(forbiddenField('spec.providerID', 'node updates may not change providerID except from "" to valid'));
  }
  if (spec.taints) taintErrors(spec.taints, 'metadata.taints', errors);
  if ((spec.externalID ?? '') !== (before.externalID ?? '')) errors.push(forbiddenField('spec.externalID', 'may not be updated'));
  return errors;
}

function statusCell({ spec, status }: Node): string {
  const ready = status?.conditions?.find((c) => c.type === 'Ready');
  const text = ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady';
  return spec?.unschedulable === true ? `${text},SchedulingDisabled` : text;
}

function rolesCell(labels: Record<string, string> = {}): string {
  const roles = new Set<string>();
  for (const [key, value] of Object.entries(labels)) {
    if (key.startsWith(ROLE_PREFIX) && key.length > ROLE_PREFIX.length) roles.add(key.slice(ROLE_PREFIX.length));
    else if (key === 'kubernetes.io/role' && value !== '') roles.add(value);
  }
  return [...roles].sort().join(',') || '<none>';
}

const addressOf = (status: NodeStatus | undefined, type: string): string =>
  status?.addresses?.find((a) => a.type === type)?.address ?? '<none>';

const kernelCell = (info: NodeStatus['nodeInfo']): string =>
  !info?.kernelVersion ? '<unknown>' : info.architecture ? `${info.kernelVersion} (${info.architecture})` : info.kernelVersion;

export const node = defineKind<Node>({
  resource: 'nodes',
  kind: 'Node',
  noNamespaceField: true,
  fieldLabelError: 'notSupported',
  selectableFields: { 'spec.unschedulable': ({ spec }) => String(spec?.unschedulable === true) },
  strategy: {
    default: applyDefaults,
    admit: taintNew,
    prepareForCreate: dropConfig,
    prepareForUpdate: (object, old) => {
      keepStatus(object, old);
      if (old.spec?.configSource === undefined) delete object.spec?.configSource;
    },
    validate,
    validateUpdate,
    warnings,
  },
  status: statusView({
    prepare: (object, old) => {
      if (old.status?.config === undefined) delete object.status?.config;
    },
    validate: validateUpdate,
  }),
  cells: (object, now) => {
    const { metadata, status } = object;
    const info = status?.nodeInfo;
    return [
      metadata.name,
      statusCell(object),
      rolesCell(metadata.labels),
      ageCell(metadata.creationTimestamp, now),
      info?.kubeletVersion ?? '',
      addressOf(status, 'InternalIP'),
      addressOf(status, 'ExternalIP'),
      info?.osImage || '<unknown>',
      kernelCell(info),
      info?.containerRuntimeVersion || '<unknown>',
    ];
  },
});
