/**
 * EndpointSlice: a part of the endpoints of a service. Mirrors kubernetes `pkg/registry/discovery/endpointslice`.
 */
import { duplicate, type FieldError, invalidValue, notSupported, required, tooMany } from '../../../machinery/api/field-error.ts';
import { dnsLabel, dnsSubdomain, labelValue, portNumber, qualifiedName } from '../../../machinery/api/names.ts';
import type { Endpoint, EndpointPort, EndpointSlice } from '../../../machinery/api/types/discovery.k8s.io.v1.ts';
import { specialIpErrors } from '../core/service-ips.ts';
import { defineKind } from '../define.ts';
import { ageCell } from '../tables/cells.ts';
import { canonicalIpWarning, dnsLabelErrors, ipErrors, ipFamily } from '../validation/ip.ts';
import { immutableField } from '../validation/numbers.ts';

const TYPES = ['FQDN', 'IPv4', 'IPv6'];
const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];
const MAX_ENDPOINTS = 1000;
const MAX_ADDRESSES = 100;
const MAX_PORTS = 20000;
const MAX_HINTS = 8;
const SHOWN = 3;

function applyDefaults(slice: EndpointSlice): void {
  for (const port of slice.ports ?? []) {
    port.name ??= '';
    port.protocol ??= 'TCP';
  }
}

/** Topology labels are not written any more. */
function dropTopology(slice: EndpointSlice): void {
  for (const endpoint of slice.endpoints ?? []) delete endpoint.deprecatedTopology;
}

function validate(slice: EndpointSlice): FieldError[] {
  const errors: FieldError[] = [];
  const type: string = slice.addressType ?? '';
  if (type === '') errors.push(required('addressType'));
  else if (!TYPES.includes(type)) errors.push(notSupported('addressType', type, TYPES));
  const endpoints = slice.endpoints ?? [];
  if (endpoints.length > MAX_ENDPOINTS) errors.push(tooMany('endpoints', endpoints.length, MAX_ENDPOINTS));
  else {
    endpoints.forEach((endpoint, i) => {
      endpointErrors(endpoint, type, `endpoints[${i}]`, errors);
    });
  }
  portErrors(slice.ports ?? [], errors);
  return errors;
}

function endpointErrors(endpoint: Endpoint, type: string, path: string, errors: FieldError[]): void {
  const addresses = endpoint.addresses ?? [];
  if (addresses.length === 0) errors.push(required(`${path}.addresses`, 'must contain at least 1 address'));
  else if (addresses.length > MAX_ADDRESSES) errors.push(tooMany(`${path}.addresses`, addresses.length, MAX_ADDRESSES));
  addresses.forEach((address, i) => {
    addressErrors(address, type, path, [`${path}.addresses[${i}]`, errors]);
  });
  if (endpoint.nodeName !== undefined) {
    for (const detail of dnsSubdomain(endpoint.nodeName)) errors.push(invalidValue(`${path}.nodeName`, endpoint.nodeName, detail));
  }
  if (endpoint.hostname !== undefined) dnsLabelErrors(endpoint.hostname, `${path}.hostname`, errors);
  hintErrors(endpoint.hints?.forZones ?? [], labelValue, `${path}.hints.forZones`, errors);
  hintErrors(endpoint.hints?.forNodes ?? [], dnsSubdomain, `${path}.hints.forNodes`, errors);
}

function addressErrors(address: string, type: string, path: string, [at, errors]: readonly [string, FieldError[]]): void {
  if (type === 'FQDN') domainNameErrors(address, at, errors);
  if (type !== 'IPv4' && type !== 'IPv6') return;
  const before = errors.length;
  ipErrors(address, at, errors);
  if (errors.length > before) return;
  if (ipFamily(address) !== type) errors.push(invalidValue(`${path}.addresses`, address, `must be an ${type} address`));
  specialIpErrors(address, at, errors);
}

/** At least two labels; a dot at the end is taken. Mirrors IsFullyQualifiedDomainName, which stops at its first complaint. */
function domainNameErrors(text: string, path: string, errors: FieldError[]): void {
  if (text === '') {
    errors.push(required(path));
    return;
  }
  const name = text.endsWith('.') ? text.slice(0, -1) : text;
  const labels = name.split('.');
  const details = dnsSubdomain(name);
  const bad = labels.find((label) => dnsLabel(label).length > 0);
  if (details.length > 0) errors.push(invalidValue(path, name, details.join(',')));
  else if (labels.length < 2) errors.push(invalidValue(path, name, 'should be a domain with at least two segments separated by dots'));
  else if (bad !== undefined) errors.push(invalidValue(path, bad, dnsLabel(bad).join(',')));
}

function hintErrors(hints: readonly { name?: string }[], rule: (name: string) => string[], path: string, errors: FieldError[]): void {
  if (hints.length > MAX_HINTS) {
    errors.push(tooMany(path, hints.length, MAX_HINTS));
    return;
  }
  const seen = new Set<string>();
  hints.forEach((hint, i) => {
    const name = hint.name ?? '';
    if (seen.has(name)) errors.push(duplicate(`${path}[${i}].name`, name));
    seen.add(name);
    for (const detail of rule(name)) errors.push(invalidValue(`${path}[${i}].name`, name, detail));
  });
}

function portErrors(ports: readonly EndpointPort[], errors: FieldError[]): void {
  if (ports.length > MAX_PORTS) {
    errors.push(tooMany('ports', ports.length, MAX_PORTS));
    return;
  }
  const names = new Set<string>();
  ports.forEach((port, i) => {
    const at = `ports[${i}]`;
    const name = port.name ?? '';
    if (name !== '') dnsLabelErrors(name, `${at}.name`, errors);
    if (names.has(name)) errors.push(duplicate(`${at}.name`, name));
    names.add(name);
    const protocol: string = port.protocol ?? '';
    if (protocol === '') errors.push(required(`${at}.protocol`));
    else if (!PROTOCOLS.includes(protocol)) errors.push(notSupported(`${at}.protocol`, protocol, PROTOCOLS));
    if (port.port !== undefined) for (const detail of portNumber(port.port)) errors.push(invalidValue(`${at}.port`, port.port, detail));
    const app = port.appProtocol;
    if (app !== undefined) for (const detail of qualifiedName(app)) errors.push(invalidValue(`${at}.appProtocol`, app, detail));
  });
}

function warnings(slice: EndpointSlice, old: EndpointSlice | undefined): string[] {
  if (slice.addressType === 'FQDN') return old === undefined ? ['spec.addressType: FQDN endpoints are deprecated'] : [];
  const texts: string[] = [];
  slice.endpoints?.forEach((endpoint, i) => {
    endpoint.addresses?.forEach((address, j) => {
      const text = canonicalIpWarning(address, `endpoints[${i}].addresses[${j}]`);
      if (text !== undefined) texts.push(text);
    });
  });
  return texts;
}

function shorten(all: readonly string[]): string {
  const text = all.slice(0, SHOWN).join(',');
  if (all.length > SHOWN) return `${text} + ${all.length - SHOWN} more...`;
  return text || '<unset>';
}

export const endpointslice = defineKind<EndpointSlice>({
  group: 'discovery.k8s.io',
  resource: 'endpointslices',
  kind: 'EndpointSlice',
  generation: 'specAndLabels',
  strategy: {
    default: applyDefaults,
    validate,
    prepareForCreate: dropTopology,
    prepareForUpdate: dropTopology,
    validateUpdate: (slice, old) => {
      const errors: FieldError[] = [];
      immutableField(slice.addressType, old.addressType, 'addressType', errors);
      return errors.length > 0 ? errors : validate(slice);
    },
    warnings,
  },
  cells: (slice, now) => [
    slice.metadata.name,
    slice.addressType ?? '',
    shorten((slice.ports ?? []).map((port) => String(port.port ?? port.name ?? '*'))),
    shorten((slice.endpoints ?? []).flatMap((endpoint) => endpoint.addresses ?? [])),
    ageCell(slice.metadata.creationTimestamp, now),
  ],
});
