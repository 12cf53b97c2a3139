/**
 * IP addresses and networks, and labels by field. Mirrors apimachinery `util/validation/ip.go` and core's ValidateDNS1123Label.
 */
import ipaddr from 'ipaddr.js';
import { type FieldError, invalidValue } from '../../../machinery/api/field-error.ts';
import { dnsLabel } from '../../../machinery/api/names.ts';

const NOT_AN_IP = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
const NOT_A_CIDR = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';

const DECIMAL_PART = /^(0|[1-9][0-9]{0,2})$/;

export type IpFamily = 'IPv4' | 'IPv6';

/** The family of a canonical address text, or undefined. IPv4 parts must be plain decimals. */
export function ipFamily(text: string): IpFamily | undefined {
  if (text.includes(':')) return ipaddr.IPv6.isValid(text) && !text.includes('%') ? 'IPv6' : undefined;
  const parts = text.split('.');
  return parts.length === 4 && parts.every((p) => DECIMAL_PART.test(p) && Number(p) < 256) ? 'IPv4' : undefined;
}

const hasLeadingZeros = (text: string): boolean =>
  /^[0-9]+(\.[0-9]+){3}$/.test(text) && text.split('.').some((p) => p.length > 1 && p.startsWith('0'));

export function ipErrors(text: string, path: string, errors: FieldError[]): void {
  if (hasLeadingZeros(text)) errors.push(invalidValue(path, text, 'must not have leading 0s'));
  else if (ipFamily(text) === undefined) errors.push(invalidValue(path, text, NOT_AN_IP));
  else if (text.toLowerCase().startsWith('::ffff:')) errors.push(invalidValue(path, text, 'must not be an IPv4-mapped IPv6 address'));
}

export function cidrErrors(text: string, path: string, errors: FieldError[]): void {
  if (cidrFamily(text) === undefined) errors.push(invalidValue(path, text, NOT_A_CIDR));
}

export function cidrFamily(text: string): IpFamily | undefined {
  const slash = text.indexOf('/');
  const family = slash < 0 ? undefined : ipFamily(text.slice(0, slash));
  const bits = text.slice(slash + 1);
  return family !== undefined && DECIMAL_PART.test(bits) && Number(bits) <= (family === 'IPv4' ? 32 : 128) ? family : undefined;
}

export function dnsLabelErrors(text: string, path: string, errors: FieldError[]): void {
  for (const detail of dnsLabel(text)) errors.push(invalidValue(path, text, detail));
}

/** What is said of an address that is valid but not written in its canonical form. */
export function canonicalIpWarning(text: string, path: string): string | undefined {
  if (ipFamily(text) !== 'IPv6') return undefined;
  const canonical = ipaddr.IPv6.parse(text).toRFC5952String();
  return canonical === text
    ? undefined
    : `${path}: IPv6 address ${JSON.stringify(text)} should be in RFC 5952 canonical format (${JSON.stringify(canonical)})`;
}
