/**
 * What a claim got: allocated devices, who may use them, what drivers say of them. Mirrors kubernetes `resource/validation`
 * validateResourceClaimStatusUpdate.
 */
import {
  type FieldError,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
  tooLong,
  tooMany,
} from '../../../machinery/api/field-error.ts';
import type {
  AllocatedDeviceStatus,
  AllocationResult,
  DeviceAllocationConfiguration,
  DeviceRequestAllocationResult,
  NetworkDeviceData,
  ResourceClaim,
  ResourceClaimConsumerReference,
} from '../../../machinery/api/types/resource.k8s.io.v1.ts';
import type { StrategyContext } from '../resource.ts';
import { nodeSelectorErrors } from '../validation/affinity.ts';
import { conditionErrors } from '../validation/conditions.ts';
import { driverNameErrors } from '../validation/driver-names.ts';
import { dnsLabelErrors, interfaceAddressErrors } from '../validation/ip.ts';
import { type ItemRule, listErrors, UNLIMITED } from '../validation/lists.ts';
import { immutableField } from '../validation/numbers.ts';
import { bindingConditionErrors } from './binding-conditions.ts';
import {
  adminResultErrors,
  configurationErrors,
  rawObjectErrors,
  requestNameRule,
  requestRefsErrors,
  tolerationsErrors,
} from './claim-spec.ts';
import { poolNameErrors, uuidErrors } from './device-names.ts';

const MAX_CONSUMERS = 256;
const MAX_RESULTS = 32;
const MAX_CONFIGURATIONS = 64;
const MAX_CONDITIONS = 8;
const MAX_DATA = 10 * 1024;
const MAX_INTERFACE_NAME = 256;
const MAX_HARDWARE_ADDRESS = 128;
const MAX_IPS = 16;
const CONFIG_SOURCES = ['FromClaim', 'FromClass'];

interface DeviceId {
  readonly driver: string;
  readonly pool: string;
  readonly device: string;
  readonly shareID?: string;
}

export const deviceKey = ({ driver, pool, device, shareID = '' }: DeviceId): string => JSON.stringify([driver, pool, device, shareID]);

export const allocatedKeys = (claim: ResourceClaim): Set<string> =>
  new Set((claim.status?.allocation?.devices?.results ?? []).map(deviceKey));

export function claimStatusErrors(claim: ResourceClaim, old: ResourceClaim, context: StrategyContext): FieldError[] {
  const errors = adminResultErrors(claim, old, context);
  const { reservedFor, devices, allocation } = claim.status ?? {};
  listErrors(reservedFor, { max: MAX_CONSUMERS, each: consumerErrors, key: ({ uid }) => uid ?? '' }, 'status.reservedFor', errors);
  const allocated = allocatedKeys(claim);
  const each: ItemRule<AllocatedDeviceStatus> = (device, path) => {
    deviceStatusErrors(device, allocated, path, errors);
  };
  listErrors(devices, { max: UNLIMITED, each, key: deviceKey }, 'status.devices', errors);
  reservationErrors(claim, old, errors);
  if (allocation && old.status?.allocation) immutableField(allocation, old.status.allocation, 'status.allocation', errors);
  else if (allocation) allocationErrors(allocation, requestNameRule(claim.spec?.devices ?? {}), errors);
  return errors;
}

function consumerErrors(consumer: ResourceClaimConsumerReference, path: string, errors: FieldError[]): void {
  for (const member of ['resource', 'name', 'uid'] as const) if (!consumer[member]) errors.push(required(`${path}.${member}`));
}

const consumerKey = ({ apiGroup = '', resource, name, uid }: ResourceClaimConsumerReference): string =>
  JSON.stringify([apiGroup, resource, name, uid]);

function reservationErrors(claim: ResourceClaim, old: ResourceClaim, errors: FieldError[]): void {
  const consumers = claim.status?.reservedFor ?? [];
  if (consumers.length === 0) return;
  const path = 'status.reservedFor';
  if (!claim.status?.allocation) {
    errors.push(forbiddenField(path, 'may not be specified when `allocated` is not set'));
    return;
  }
  if (claim.metadata.deletionTimestamp === undefined) return;
  const before = new Set(old.status?.reservedFor?.map(consumerKey));
  if (consumers.every((consumer) => before.has(consumerKey(consumer)))) return;
  errors.push(forbiddenField(path, 'new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set'));
}

function deviceStatusErrors(device: AllocatedDeviceStatus, allocated: ReadonlySet<string>, path: string, errors: FieldError[]): void {
  deviceIdErrors(device, path, errors);
  uuidErrors(device.shareID, `${path}.shareID`, errors);
  if (!allocated.has(deviceKey(device))) {
    const shown = { Driver: device.driver, Pool: device.pool, Device: device.device, ShareID: device.shareID ?? '' };
    errors.push(invalidValue(path, shown, 'must be an allocated device in the claim'));
  }
  const conditions = device.conditions ?? [];
  if (conditions.length > MAX_CONDITIONS) errors.push(tooMany(`${path}.conditions`, conditions.length, MAX_CONDITIONS));
  conditionErrors(conditions, `${path}.conditions`, errors);
  if (device.data !== undefined) rawObjectErrors(device.data, MAX_DATA, `${path}.data`, errors);
  if (device.networkData) networkDataErrors(device.networkData, `${path}.networkData`, errors);
}

function deviceIdErrors(device: DeviceId, path: string, errors: FieldError[]): void {
  driverNameErrors(device.driver, `${path}.driver`, errors);
  poolNameErrors(device.pool, `${path}.pool`, errors);
  dnsLabelErrors(device.device ?? '', `${path}.device`, errors);
}

function networkDataErrors(data: NetworkDeviceData, path: string, errors: FieldError[]): void {
  const { interfaceName = '', hardwareAddress = '' } = data;
  if (Buffer.byteLength(interfaceName) > MAX_INTERFACE_NAME) errors.push(tooLong(`${path}.interfaceName`, MAX_INTERFACE_NAME));
  if (Buffer.byteLength(hardwareAddress) > MAX_HARDWARE_ADDRESS) errors.push(tooLong(`${path}.hardwareAddress`, MAX_HARDWARE_ADDRESS));
  listErrors(data.ips, { max: MAX_IPS, each: interfaceAddressErrors, key: (ip) => ip }, `${path}.ips`, errors);
}

function allocationErrors(allocation: AllocationResult, nameRef: ItemRule<string>, errors: FieldError[]): void {
  const path = 'status.allocation';
  const result: ItemRule<DeviceRequestAllocationResult> = (item, at) => {
    nameRef(item.request ?? '', `${at}.request`, errors);
    deviceIdErrors(item, at, errors);
    bindingConditionErrors(item, at, errors);
    tolerationsErrors(item.tolerations, `${at}.tolerations`, errors);
    uuidErrors(item.shareID, `${at}.shareID`, errors);
  };
  listErrors(allocation.devices?.results, { max: MAX_RESULTS, each: result }, `${path}.devices.results`, errors);
  const config: ItemRule<DeviceAllocationConfiguration> = (item, at) => {
    const source: string = item.source ?? '';
    if (source === '') errors.push(required(`${at}.source`));
    else if (!CONFIG_SOURCES.includes(source)) errors.push(notSupported(`${at}.source`, source, ['FromClaim', 'FromClass']));
    requestRefsErrors(item.requests, nameRef, `${at}.requests`, errors);
    configurationErrors(item, at, errors);
  };
  listErrors(allocation.devices?.config, { max: MAX_CONFIGURATIONS, each: config }, `${path}.devices.config`, errors);
  if (allocation.nodeSelector) nodeSelectorErrors(allocation.nodeSelector, `${path}.nodeSelector`, errors);
}
