/**
 * Addresses that cannot be another machine's, and the addresses of load balancers. Mirrors kubernetes `core/validation` ValidateNonSpecialIP and
 * ValidateLoadBalancerStatus.
 */
import ipaddr from 'ipaddr.js';
import { type FieldError, forbiddenField, invalidValue, notSupported, required } from '../../../machinery/api/field-error.ts';
import { dnsSubdomain } from '../../../machinery/api/names.ts';
import type { LoadBalancerIngress, Service } from '../../../machinery/api/types/core.v1.ts';
import { ipErrors, ipFamily, withoutLeadingZeros } from '../validation/ip.ts';

/** For external IPs, endpoints and slices alike. The text is an address, in whatever form; one of IPv4 inside IPv6 counts as what it is. */
export function specialIpErrors(text: string, path: string, errors: FieldError[]): void {
  const ip = ipaddr.process(withoutLeadingZeros(text));
  const range = ip.range();
  const bytes = ip.toByteArray();
  if (bytes.every((byte) => byte === 0)) errors.push(invalidValue(path, text, `may not be unspecified (${text})`));
  if (range === 'loopback') errors.push(invalidValue(path, text, 'may not be in the loopback range (127.0.0.0/8, ::1/128)'));
  if (range === 'linkLocal') errors.push(invalidValue(path, text, 'may not be in the link-local range (169.254.0.0/16, fe80::/10)'));
  if (isLinkLocalMulticast(bytes))
    errors.push(invalidValue(path, text, 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)'));
}

const isLinkLocalMulticast = ([a, b, c, ...others]: readonly number[]): boolean =>
  others.length === 1 ? a === 224 && b === 0 && c === 0 : a === 0xff && (b! & 0x0f) === 2;

const IP_MODES = ['Proxy', 'VIP'];

export function serviceStatusErrors(service: Service): FieldError[] {
  const errors: FieldError[] = [];
  const ingress = service.status?.loadBalancer?.ingress ?? [];
  const path = 'status.loadBalancer.ingress';
  if (ingress.length > 0 && service.spec?.type !== 'LoadBalancer') {
    return [forbiddenField(path, "may only be used when `spec.type` is 'LoadBalancer'")];
  }
  ingress.forEach((entry, i) => {
    ingressErrors(entry, `${path}[${i}]`, errors);
  });
  return errors;
}

function ingressErrors({ ip = '', hostname = '', ipMode }: LoadBalancerIngress, path: string, errors: FieldError[]): void {
  if (ip !== '') ipErrors(ip, `${path}.ip`, errors);
  if (ipMode === undefined) {
    if (ip !== '') errors.push(required(`${path}.ipMode`, 'must be specified when `ip` is set'));
  } else if (ip === '') errors.push(forbiddenField(`${path}.ipMode`, 'may not be specified when `ip` is not set'));
  else if (!IP_MODES.includes(ipMode)) errors.push(notSupported(`${path}.ipMode`, ipMode, ['Proxy', 'VIP']));
  if (hostname === '') return;
  for (const detail of dnsSubdomain(hostname)) errors.push(invalidValue(`${path}.hostname`, hostname, detail));
  if (ipFamily(hostname) !== undefined) errors.push(invalidValue(`${path}.hostname`, hostname, 'must be a DNS name, not an IP address'));
}
