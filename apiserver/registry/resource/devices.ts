/**
 * Devices of a resource slice. Mirrors kubernetes `resource/validation` validateDevice.
 */
import { deepEqual } from '../../../machinery/api/equality.ts';
import { type FieldError, invalidValue, notSupported, required, tooLong } from '../../../machinery/api/field-error.ts';
import { dnsSubdomain } from '../../../machinery/api/names.ts';
import type {
  Counter,
  CounterSet,
  Device,
  DeviceAttribute,
  DeviceCapacity,
  DeviceCounterConsumption,
  DeviceTaint,
} from '../../../machinery/api/types/resource.k8s.io.v1.ts';
import { nodeSelectorErrors } from '../validation/affinity.ts';
import { dnsLabelErrors } from '../validation/ip.ts';
import { type ItemRule, listErrors, mapErrors, UNLIMITED } from '../validation/lists.ts';
import { bindingConditionErrors } from './binding-conditions.ts';
import { capacityErrors } from './capacity-policy.ts';
import { attributeNameErrors, DEVICE_TAINT_EFFECTS, labelKeyErrors, labelValueErrors } from './device-names.ts';

const MAX_ATTRIBUTES_AND_CAPACITIES = 32;
const MAX_ATTRIBUTE_VALUE = 64;
const MAX_TAINTS = 16;
const MAX_CONSUMPTIONS = 2;
const MAX_COUNTERS = 32;
/** Keys of attributes and capacities: a domain of 63 bytes, a slash, an identifier of 32. */
const NAMES = { max: UNLIMITED, key: attributeNameErrors, shownKey: 63 + 1 + 32 };
const NUMBER = '(0|[1-9]\\d*)';
const PRERELEASE = '(0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*)';
const BUILD = '[0-9a-zA-Z-]+';
const semver = new RegExp(`^${NUMBER}\\.${NUMBER}\\.${NUMBER}(-${PRERELEASE}(\\.${PRERELEASE})*)?(\\+${BUILD}(\\.${BUILD})*)?$`);

/** `old` is the device of the same name before an update; what did not change in it is not checked again. */
export function deviceErrors(
  device: Device,
  { old, perDevice }: { readonly old: Device | undefined; readonly perDevice: boolean },
  path: string,
  errors: FieldError[],
): void {
  dnsLabelErrors(device.name ?? '', `${path}.name`, errors);
  const count = Object.keys(device.attributes ?? {}).length + Object.keys(device.capacity ?? {}).length;
  if (count > MAX_ATTRIBUTES_AND_CAPACITIES) {
    const detail = `the total number of attributes and capacities must not exceed ${MAX_ATTRIBUTES_AND_CAPACITIES}`;
    errors.push(invalidValue(path, count, detail));
  }
  mapErrors(device.attributes, { ...NAMES, each: attributeErrors }, `${path}.attributes`, errors);
  if (old === undefined || !deepEqual(old.capacity, device.capacity)) {
    const each: ItemRule<DeviceCapacity> = (capacity, at) => capacityErrors(capacity, device.allowMultipleAllocations === true, at, errors);
    mapErrors(device.capacity, { ...NAMES, each }, `${path}.capacity`, errors);
  }
  if (old === undefined || !deepEqual(old.taints, device.taints)) {
    listErrors(device.taints, { max: MAX_TAINTS, each: taintErrors }, `${path}.taints`, errors);
  }
  const consumption = {
    max: MAX_CONSUMPTIONS,
    each: consumptionErrors,
    key: ({ counterSet }: DeviceCounterConsumption) => counterSet ?? '',
  };
  listErrors(device.consumesCounters, consumption, `${path}.consumesCounters`, errors);
  if (perDevice) placeErrors(device, path, errors);
  else if (device.nodeName !== undefined || device.nodeSelector !== undefined || device.allNodes !== undefined) {
    const detail =
      '`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec';
    errors.push(invalidValue(path, null, detail));
  }
  bindingConditionErrors(device, path, errors);
}

/** Where one device is, when the slice leaves it to the devices. */
function placeErrors(device: Device, path: string, errors: FieldError[]): void {
  const set: string[] = [];
  const { nodeName, nodeSelector, allNodes } = device;
  if (nodeName === '') errors.push(invalidValue(`${path}.nodeName`, nodeName, 'must not be empty'));
  else if (nodeName !== undefined) {
    set.push('`nodeName`');
    for (const detail of dnsSubdomain(nodeName)) errors.push(invalidValue(`${path}.nodeName`, nodeName, detail));
  }
  if (nodeSelector !== undefined) {
    set.push('`nodeSelector`');
    nodeSelectorErrors(nodeSelector, `${path}.nodeSelector`, errors);
  }
  if (allNodes === true) set.push('`allNodes`');
  else if (allNodes === false) errors.push(invalidValue(`${path}.allNodes`, false, 'must be either unset or set to true'));
  const detail =
    'exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec';
  if (set.length === 0) errors.push(required(path, detail));
  else if (set.length > 1) errors.push(invalidValue(path, `{${set.join(', ')}}`, detail));
}

function attributeErrors(attribute: DeviceAttribute, path: string, errors: FieldError[]): void {
  if (attribute.string !== undefined) stringErrors(attribute.string, `${path}.string`, errors);
  if (attribute.version !== undefined) versionErrors(attribute.version, `${path}.version`, errors);
  for (const member of ['bools', 'ints', 'strings', 'versions'] as const) {
    const values = attribute[member];
    if (values?.length === 0) errors.push(invalidValue(`${path}.${member}`, values, 'must not be empty if specified'));
  }
  attribute.strings?.forEach((value, i) => {
    stringErrors(value, `${path}.strings[${i}]`, errors);
  });
  attribute.versions?.forEach((value, i) => {
    versionErrors(value, `${path}.versions[${i}]`, errors);
  });
  const count = Object.values(attribute).filter((value) => value !== undefined).length;
  if (count !== 1) errors.push(invalidValue(path, count === 0 ? '' : attribute, 'exactly one value must be specified'));
}

function stringErrors(value: string, path: string, errors: FieldError[]): void {
  if (Buffer.byteLength(value) > MAX_ATTRIBUTE_VALUE) errors.push(tooLong(path, MAX_ATTRIBUTE_VALUE));
}

function versionErrors(value: string, path: string, errors: FieldError[]): void {
  if (!semver.test(value)) errors.push(invalidValue(path, value, 'must be a string compatible with semver.org spec 2.0.0'));
  stringErrors(value, path, errors);
}

function taintErrors({ key = '', value = '', effect: given }: DeviceTaint, path: string, errors: FieldError[]): void {
  const effect: string = given ?? '';
  labelKeyErrors(key, `${path}.key`, errors);
  if (value !== '') labelValueErrors(value, `${path}.value`, errors);
  if (effect === '') errors.push(required(`${path}.effect`));
  else if (!DEVICE_TAINT_EFFECTS.includes(effect)) errors.push(notSupported(`${path}.effect`, effect, DEVICE_TAINT_EFFECTS));
}

/** Any quantity counts. */
const anyCounter: ItemRule<Counter> = () => {};

function countersErrors(counters: Record<string, Counter> | undefined, path: string, errors: FieldError[]): void {
  if (Object.keys(counters ?? {}).length === 0) errors.push(required(path));
  else mapErrors(counters, { max: MAX_COUNTERS, key: dnsLabelErrors, each: anyCounter, shownKey: 63 }, path, errors);
}

function consumptionErrors(consumption: DeviceCounterConsumption, path: string, errors: FieldError[]): void {
  if (!consumption.counterSet) errors.push(required(`${path}.counterSet`));
  else dnsLabelErrors(consumption.counterSet, `${path}.counterSet`, errors);
  countersErrors(consumption.counters, `${path}.counters`, errors);
}

export function counterSetErrors(set: CounterSet, path: string, errors: FieldError[]): void {
  if (!set.name) errors.push(required(`${path}.name`));
  else dnsLabelErrors(set.name, `${path}.name`, errors);
  countersErrors(set.counters, `${path}.counters`, errors);
}
