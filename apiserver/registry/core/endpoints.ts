/**
 * Endpoints: the older form of endpoint slices, one object per service. Mirrors kubernetes `pkg/registry/core/endpoint` and ValidateEndpoints.
 */
import { type FieldError, invalidValue, notSupported, required } from '../../../machinery/api/field-error.ts';
import { dnsSubdomain, portNumber, qualifiedName } from '../../../machinery/api/names.ts';
import type { EndpointAddress, EndpointPort, EndpointSubset, Endpoints } from '../../../machinery/api/types/core.v1.ts';
import { defineKind } from '../define.ts';
import { ageCell } from '../tables/cells.ts';
import { canonicalIpWarning, dnsLabelErrors, ipErrors, isAddress } from '../validation/ip.ts';
import { specialIpErrors } from './service-ips.ts';

const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];
const SHOWN = 3;

function applyDefaults(endpoints: Endpoints): void {
  for (const subset of endpoints.subsets ?? []) for (const port of subset.ports ?? []) if (!port.protocol) port.protocol = 'TCP';
}

function validate({ subsets }: Endpoints): FieldError[] {
  const errors: FieldError[] = [];
  subsets?.forEach((subset, i) => {
    subsetErrors(subset, `subsets[${i}]`, errors);
  });
  return errors;
}

function subsetErrors(subset: EndpointSubset, path: string, errors: FieldError[]): void {
  const { addresses = [], notReadyAddresses = [], ports = [] } = subset;
  if (addresses.length + notReadyAddresses.length === 0) errors.push(required(path, 'must specify `addresses` or `notReadyAddresses`'));
  addresses.forEach((address, i) => {
    addressErrors(address, `${path}.addresses[${i}]`, errors);
  });
  notReadyAddresses.forEach((address, i) => {
    addressErrors(address, `${path}.notReadyAddresses[${i}]`, errors);
  });
  ports.forEach((port, i) => {
    portErrors(port, ports.length > 1, `${path}.ports[${i}]`, errors);
  });
}

function addressErrors(address: EndpointAddress, path: string, errors: FieldError[]): void {
  const ip = address.ip ?? '';
  ipErrors(ip, `${path}.ip`, errors);
  if (address.hostname) dnsLabelErrors(address.hostname, `${path}.hostname`, errors);
  if (address.nodeName !== undefined) {
    for (const detail of dnsSubdomain(address.nodeName)) errors.push(invalidValue(`${path}.nodeName`, address.nodeName, detail));
  }
  if (!isAddress(ip)) errors.push(invalidValue(`${path}.ip`, ip, 'must be a valid IP address'));
  else specialIpErrors(ip, `${path}.ip`, errors);
}

function portErrors(port: EndpointPort, named: boolean, path: string, errors: FieldError[]): void {
  if (named && !port.name) errors.push(required(`${path}.name`));
  else if (port.name) dnsLabelErrors(port.name, `${path}.name`, errors);
  for (const detail of portNumber(port.port ?? 0)) errors.push(invalidValue(`${path}.port`, port.port ?? 0, detail));
  const protocol = port.protocol ?? '';
  if (protocol === '') errors.push(required(`${path}.protocol`));
  else if (!PROTOCOLS.includes(protocol)) errors.push(notSupported(`${path}.protocol`, protocol, PROTOCOLS));
  const app = port.appProtocol;
  if (app !== undefined) for (const detail of qualifiedName(app)) errors.push(invalidValue(`${path}.appProtocol`, app, detail));
}

function warnings({ subsets }: Endpoints): string[] {
  const texts: string[] = [];
  subsets?.forEach((subset, i) => {
    for (const member of ['addresses', 'notReadyAddresses'] as const) {
      subset[member]?.forEach((address, j) => {
        const text = canonicalIpWarning(address.ip, `subsets[${i}].${member}[${j}].ip`);
        if (text !== undefined) texts.push(text);
      });
    }
  });
  return texts;
}

function endpointsCell({ subsets }: Endpoints): string {
  if (subsets === undefined || subsets.length === 0) return '<none>';
  const all = subsets.flatMap(({ addresses = [], ports = [] }) =>
    ports.length === 0 ? addresses.map((a) => a.ip) : ports.flatMap((port) => addresses.map((a) => hostPort(a.ip, port.port))),
  );
  return all.length > SHOWN ? `${all.slice(0, SHOWN).join(',')} + ${all.length - SHOWN} more...` : all.join(',');
}

const hostPort = (ip: string, port: number): string => (ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`);

export const endpoints = defineKind<Endpoints>({
  resource: 'endpoints',
  kind: 'Endpoints',
  createOnUpdate: true,
  deprecation: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
  strategy: {
    default: applyDefaults,
    validate,
    validateUpdate: validate,
    warnings,
  },
  cells: (object, now) => [object.metadata.name, endpointsCell(object), ageCell(object.metadata.creationTimestamp, now)],
});
