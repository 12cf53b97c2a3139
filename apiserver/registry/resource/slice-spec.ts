/**
 * What a resource slice offers and to which nodes. Mirrors kubernetes `resource/validation` validateResourceSliceSpec.
 */
import { type FieldError, invalidValue, required } from '../../../machinery/api/field-error.ts';
import { dnsSubdomain } from '../../../machinery/api/names.ts';
import type { Device, ResourcePool, ResourceSliceSpec } from '../../../machinery/api/types/resource.k8s.io.v1.ts';
import { nodeSelectorErrors } from '../validation/affinity.ts';
import { driverNameErrors } from '../validation/driver-names.ts';
import { type ItemRule, listErrors } from '../validation/lists.ts';
import { immutableField } from '../validation/numbers.ts';
import { poolNameErrors } from './device-names.ts';
import { counterSetErrors, deviceErrors } from './devices.ts';

const MAX_DEVICES = 128;
/** The limit when any device has taints, counters or attributes of several values. */
const MAX_ADVANCED_DEVICES = 64;
const MAX_COUNTER_SETS = 8;

export function sliceSpecErrors(spec: Partial<ResourceSliceSpec>, old: ResourceSliceSpec | undefined): FieldError[] {
  const errors: FieldError[] = [];
  driverNameErrors(spec.driver, 'spec.driver', errors);
  poolErrors(spec.pool ?? {}, 'spec.pool', errors);
  if (old) {
    immutableField(spec.pool?.name, old.pool?.name, 'spec.pool.name', errors);
    immutableField(spec.driver, old.driver, 'spec.driver', errors);
    immutableField(spec.nodeName, old.nodeName, 'spec.nodeName', errors);
  }
  placeErrors(spec, errors);
  if (spec.sharedCounters !== undefined && spec.devices !== undefined) {
    errors.push(invalidValue('spec', '', 'only one of `sharedCounters` or `devices` is allowed'));
  }
  const before = new Map(old?.devices?.map((device) => [device.name, device]));
  const each: ItemRule<Device> = (device, path) => {
    const context = { old: before.get(device.name), perDevice: spec.perDeviceNodeSelection === true };
    deviceErrors(device, context, path, errors);
  };
  const max = spec.devices?.some(isAdvanced) ? MAX_ADVANCED_DEVICES : MAX_DEVICES;
  listErrors(spec.devices, { max, each, key: ({ name }) => name ?? '' }, 'spec.devices', errors);
  const sets = { max: MAX_COUNTER_SETS, each: counterSetErrors, key: ({ name }: { name: string }) => name ?? '' };
  listErrors(spec.sharedCounters, sets, 'spec.sharedCounters', errors);
  return errors;
}

function isAdvanced({ taints, consumesCounters, attributes }: Device): boolean {
  return (
    (taints?.length ?? 0) > 0 ||
    (consumesCounters?.length ?? 0) > 0 ||
    Object.values(attributes ?? {}).some(({ bools, ints, strings, versions }) => bools ?? ints ?? strings ?? versions)
  );
}

function poolErrors(pool: Partial<ResourcePool>, path: string, errors: FieldError[]): void {
  poolNameErrors(pool.name, `${path}.name`, errors);
  const { resourceSliceCount: count = 0, generation = 0 } = pool;
  if (count <= 0) errors.push(invalidValue(`${path}.resourceSliceCount`, count, 'must be greater than zero'));
  if (generation < 0) errors.push(invalidValue(`${path}.generation`, generation, 'must be greater than or equal to zero'));
}

/** A slice is for one node, for selected nodes, for all, or its devices say it one by one. */
function placeErrors(spec: Partial<ResourceSliceSpec>, errors: FieldError[]): void {
  const set: string[] = [];
  const { nodeName, nodeSelector } = spec;
  if (nodeName === '') errors.push(invalidValue('spec.nodeName', '', 'must be either unset or set to a non-empty string'));
  else if (nodeName !== undefined) {
    set.push('`nodeName`');
    for (const detail of dnsSubdomain(nodeName)) errors.push(invalidValue('spec.nodeName', nodeName, detail));
  }
  if (nodeSelector !== undefined) {
    set.push('`nodeSelector`');
    nodeSelectorErrors(nodeSelector, 'spec.nodeSelector', errors);
    const terms = nodeSelector.nodeSelectorTerms ?? [];
    if (terms.length !== 1) {
      errors.push(invalidValue('spec.nodeSelector.nodeSelectorTerms', terms, 'must have exactly one node selector term'));
    }
  }
  for (const member of ['allNodes', 'perDeviceNodeSelection'] as const) {
    if (spec[member] === true) set.push(`\`${member}\``);
    else if (spec[member] === false) errors.push(invalidValue(`spec.${member}`, false, 'must be either unset or set to true'));
  }
  const detail = 'exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required';
  if (set.length === 0) errors.push(required('spec', detail));
  else if (set.length > 1) errors.push(invalidValue('spec', `{${set.join(', ')}}`, `${detail}, but multiple fields are set`));
}
