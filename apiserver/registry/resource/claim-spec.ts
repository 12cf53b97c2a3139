/**
 * What a claim asks for: requests, constraints between them, configuration. Mirrors kubernetes `resource/validation` validateDeviceClaim. CEL expressions
 * are checked for their length only.
 */
import { type FieldError, forbiddenField, invalidValue, notSupported, required, tooLong } from '../../../machinery/api/field-error.ts';
import { dnsSubdomain } from '../../../machinery/api/names.ts';
import type { Namespace } from '../../../machinery/api/types/core.v1.ts';
import type {
  DeviceClaim,
  DeviceClaimConfiguration,
  DeviceConfiguration,
  DeviceConstraint,
  DeviceRequest,
  DeviceSelector,
  DeviceSubRequest,
  DeviceToleration,
  ExactDeviceRequest,
  ResourceClaim,
  ResourceClaimSpec,
} from '../../../machinery/api/types/resource.k8s.io.v1.ts';
import type { StrategyContext } from '../resource.ts';
import { driverNameErrors } from '../validation/driver-names.ts';
import { dnsLabelErrors } from '../validation/ip.ts';
import { type ItemRule, listErrors } from '../validation/lists.ts';
import { DEVICE_TAINT_EFFECTS, fullAttributeNameErrors, labelKeyErrors, labelValueErrors } from './device-names.ts';

const MAX_LIST = 32;
const MAX_ALTERNATIVES = 8;
const MAX_EXPRESSION = 10 * 1024;
const MAX_PARAMETERS = 10 * 1024;
const MODES = ['All', 'ExactCount'];
const OPERATORS = ['Equal', 'Exists'];
const ADMIN_LABEL = 'resource.kubernetes.io/admin-access';

export function claimSpecErrors(spec: Partial<ResourceClaimSpec> | undefined, path: string, errors: FieldError[]): void {
  deviceClaimErrors(spec?.devices ?? {}, `${path}.devices`, errors);
}

/** Only in a namespace that allows it may a claim reach devices that others use; told of the first request that would. */
export function adminAccessErrors(spec: Partial<ResourceClaimSpec> | undefined, namespace: string, context: StrategyContext): FieldError[] {
  const first = spec?.devices?.requests?.findIndex(({ exactly }) => exactly?.adminAccess === true) ?? -1;
  return first < 0 ? [] : adminLabelErrors(`spec.devices.requests[${first}].adminAccess`, namespace, context);
}

/** The same of what is allocated; what had admin access before keeps it. */
export function adminResultErrors(claim: ResourceClaim, old: ResourceClaim, context: StrategyContext): FieldError[] {
  const firstOf = ({ status }: ResourceClaim): number =>
    status?.allocation?.devices?.results?.findIndex(({ adminAccess }) => adminAccess === true) ?? -1;
  const first = firstOf(claim);
  if (first < 0 || firstOf(old) >= 0) return [];
  return adminLabelErrors(`status.allocation.devices.results[${first}].adminAccess`, claim.metadata.namespace ?? '', context);
}

function adminLabelErrors(path: string, namespace: string, context: StrategyContext): FieldError[] {
  const labels = context.reader.get<Namespace>('', 'namespaces', '', namespace)?.metadata.labels ?? {};
  if (labels[ADMIN_LABEL] === 'true') return [];
  return [forbiddenField(path, `admin access to devices requires the \`${ADMIN_LABEL}: true\` label on the containing namespace`)];
}

function deviceClaimErrors(claim: DeviceClaim, path: string, errors: FieldError[]): void {
  const nameRef = requestNameRule(claim);
  listErrors(claim.requests, { max: MAX_LIST, each: requestErrors, key: ({ name }) => name ?? '' }, `${path}.requests`, errors);
  const constraint: ItemRule<DeviceConstraint> = (item, at) => {
    requestRefsErrors(item.requests, nameRef, `${at}.requests`, errors);
    if (item.matchAttribute !== undefined) fullAttributeNameErrors(item.matchAttribute, `${at}.matchAttribute`, errors);
    else if (item.distinctAttribute !== undefined) fullAttributeNameErrors(item.distinctAttribute, `${at}.distinctAttribute`, errors);
    else errors.push(required(at, 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set'));
  };
  listErrors(claim.constraints, { max: MAX_LIST, each: constraint }, `${path}.constraints`, errors);
  const config: ItemRule<DeviceClaimConfiguration> = (item, at) => {
    requestRefsErrors(item.requests, nameRef, `${at}.requests`, errors);
    configurationErrors(item, at, errors);
  };
  listErrors(claim.config, { max: MAX_LIST, each: config }, `${path}.config`, errors);
}

/** A rule for texts that must name a request of the claim, or a request and one of its alternatives. */
export function requestNameRule(claim: DeviceClaim): ItemRule<string> {
  const names = new Set<string>();
  for (const { name, firstAvailable } of claim.requests ?? []) {
    names.add(name ?? '');
    for (const alternative of firstAvailable ?? []) names.add(`${name}/${alternative.name}`);
  }
  const detail = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";
  return (text, path, errors) => {
    const segments = text.split('/');
    if (segments.length <= 2) for (const segment of segments) dnsLabelErrors(segment, path, errors);
    if (!names.has(text)) errors.push(invalidValue(path, text, detail));
  };
}

export function requestRefsErrors(names: readonly string[] | undefined, rule: ItemRule<string>, path: string, errors: FieldError[]): void {
  listErrors(names, { max: MAX_LIST, each: rule, key: (name) => name }, path, errors);
}

function requestErrors(request: DeviceRequest, path: string, errors: FieldError[]): void {
  const { exactly, firstAvailable } = request;
  dnsLabelErrors(request.name ?? '', `${path}.name`, errors);
  const alternatives = firstAvailable?.length ?? 0;
  const detail = 'exactly one of `exactly` or `firstAvailable` is required';
  if (exactly === undefined && alternatives === 0) errors.push(required(path, detail));
  else if (exactly !== undefined && alternatives > 0) {
    errors.push(invalidValue(path, null, `${detail}, but multiple fields are set`));
  } else if (exactly !== undefined) exactErrors(exactly, `${path}.exactly`, errors);
  else {
    const rule = { max: MAX_ALTERNATIVES, each: alternativeErrors, key: ({ name }: DeviceSubRequest) => name ?? '' };
    listErrors(firstAvailable, rule, `${path}.firstAvailable`, errors);
  }
}

function alternativeErrors(request: DeviceSubRequest, path: string, errors: FieldError[]): void {
  dnsLabelErrors(request.name ?? '', `${path}.name`, errors);
  exactErrors(request, path, errors);
}

function exactErrors(request: ExactDeviceRequest | DeviceSubRequest, path: string, errors: FieldError[]): void {
  const name = request.deviceClassName ?? '';
  if (name === '') errors.push(required(`${path}.deviceClassName`));
  else for (const detail of dnsSubdomain(name)) errors.push(invalidValue(`${path}.deviceClassName`, name, detail));
  deviceSelectorsErrors(request.selectors, `${path}.selectors`, errors);
  const mode: string = request.allocationMode ?? '';
  const count = request.count ?? 0;
  if (!MODES.includes(mode)) errors.push(notSupported(`${path}.allocationMode`, mode, MODES));
  else if (mode === 'ExactCount' && count <= 0) errors.push(invalidValue(`${path}.count`, count, 'must be greater than zero'));
  else if (mode === 'All' && count !== 0) {
    errors.push(invalidValue(`${path}.count`, count, "must not be specified when allocationMode is 'All'"));
  }
  tolerationsErrors(request.tolerations, `${path}.tolerations`, errors);
}

export function deviceSelectorsErrors(selectors: readonly DeviceSelector[] | undefined, path: string, errors: FieldError[]): void {
  const each: ItemRule<DeviceSelector> = ({ cel }, at) => {
    if (!cel) errors.push(required(`${at}.cel`));
    else if (Buffer.byteLength(cel.expression ?? '') > MAX_EXPRESSION) errors.push(tooLong(`${at}.cel.expression`, MAX_EXPRESSION));
  };
  listErrors(selectors, { max: MAX_LIST, each }, path, errors);
}

export function tolerationsErrors(tolerations: readonly DeviceToleration[] | undefined, path: string, errors: FieldError[]): void {
  tolerations?.forEach(({ key = '', operator: given, value = '', effect }, i) => {
    const at = `${path}[${i}]`;
    const operator: string = given ?? '';
    if (key !== '') labelKeyErrors(key, `${at}.key`, errors);
    if (operator === 'Exists') {
      if (value !== '') errors.push(invalidValue(`${at}.value`, value, 'must be empty for operator `Exists`'));
    } else if (operator === 'Equal') labelValueErrors(value, `${at}.value`, errors);
    else errors.push(operator === '' ? required(`${at}.operator`) : notSupported(`${at}.operator`, operator, OPERATORS));
    if (effect && !DEVICE_TAINT_EFFECTS.includes(effect)) errors.push(notSupported(`${at}.effect`, effect, DEVICE_TAINT_EFFECTS));
  });
}

export function configurationErrors({ opaque }: DeviceConfiguration, path: string, errors: FieldError[]): void {
  if (!opaque) {
    errors.push(required(`${path}.opaque`));
    return;
  }
  driverNameErrors(opaque.driver, `${path}.opaque.driver`, errors);
  rawObjectErrors(opaque.parameters, MAX_PARAMETERS, `${path}.opaque.parameters`, errors);
}

/** A JSON object of whatever members, as RawExtension carries it. */
export function rawObjectErrors(value: unknown, max: number, path: string, errors: FieldError[]): void {
  if (value === undefined || value === null) errors.push(required(path));
  else if (Buffer.byteLength(JSON.stringify(value)) > max) errors.push(tooLong(path, max));
  else if (typeof value !== 'object' || Array.isArray(value)) {
    errors.push(invalidValue(path, '<value omitted>', 'must be a valid JSON object'));
  }
}
