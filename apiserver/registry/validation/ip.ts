/**
 * IP addresses and networks, and labels by field. Mirrors apimachinery `util/validation/ip.go` and core's ValidateDNS1123Label.
 */
import ipaddr from 'ipaddr.js';
import { type FieldError, internalFieldError, invalidValue } from '../../../machinery/api/field-error.ts';
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

/** Zeros before the decimals of an IPv4 address or a prefix length, which older parsers skip; those of IPv6 groups are no matter. */
export const withoutLeadingZeros = (text: string): string =>
  text
    .replace(/(^|:)([0-9]+(?:\.[0-9]+){3})/, (_, before: string, ip: string) => before + ip.replace(/(^|\.)0+(?=[0-9])/g, '$1'))
    .replace(/\/0+(?=[0-9])/, '/');

const isMapped = (address: string): boolean =>
  address.includes(':') && ipaddr.IPv6.isValid(address) && ipaddr.IPv6.parse(address).isIPv4MappedAddress();

/** What is wrong with an address in a field that is older than strict parsing: its written form need not be canonical. */
function ipDetail(text: string): string | undefined {
  if (!isAddress(text)) return NOT_AN_IP;
  if (withoutLeadingZeros(text) !== text) return 'must not have leading 0s';
  return isMapped(text) ? 'must not be an IPv4-mapped IPv6 address' : undefined;
}

export function ipErrors(text: string, path: string, errors: FieldError[]): void {
  const detail = ipDetail(text);
  if (detail !== undefined) errors.push(invalidValue(path, text, detail));
}

const canonicalIp = (text: string): string => (text.includes(':') ? ipaddr.IPv6.parse(text).toRFC5952String() : text);

/** The same where only the canonical form will do. */
export function canonicalIpDetails(text: string): string[] {
  const detail = ipDetail(text);
  if (detail !== undefined) return [detail];
  const canonical = canonicalIp(text);
  return canonical === text ? [] : [`must be in canonical form (${JSON.stringify(canonical)})`];
}

/** Whether the text is an address, leading zeros allowed: what a DNS name must not be. */
export const isAddress = (text: string): boolean => ipFamily(withoutLeadingZeros(text)) !== undefined;

/** The family of an address in whatever form; one of IPv4 inside IPv6 counts as what it is. */
function sloppyFamily(text: string): IpFamily | undefined {
  if (!isAddress(text)) return undefined;
  return ipaddr.process(withoutLeadingZeros(text)).kind() === 'ipv4' ? 'IPv4' : 'IPv6';
}

/** Two addresses are of two families, and there are no more; of what is no address that cannot be told. `shown` is how Go prints them. */
export function dualStackErrors(ips: readonly string[], shown: unknown, path: string, errors: FieldError[]): void {
  if (ips.length < 2) return;
  const families = ips.map(sloppyFamily);
  const odd = families.indexOf(undefined);
  if (odd >= 0) errors.push(internalFieldError(path, `failed to check for dual stack with error:invalid IP[${odd}]: <nil>`));
  if (odd >= 0 || ips.length > 2 || families[0] === families[1])
    errors.push(invalidValue(path, shown, 'may specify no more than one IP for each IP family'));
}

/** A network as sloppy parsing takes it, leading zeros and host bits included. */
export interface Network {
  readonly family: IpFamily;
  /** All bytes of the address, host bits too. */
  readonly bytes: readonly number[];
  readonly prefix: number;
}

export function parseNetwork(text: string): Network | undefined {
  const plain = withoutLeadingZeros(text);
  const family = cidrFamily(plain);
  if (family === undefined) return undefined;
  const slash = plain.indexOf('/');
  return { family, bytes: ipaddr.parse(plain.slice(0, slash)).toByteArray(), prefix: Number(plain.slice(slash + 1)) };
}

/** The bytes with everything behind the prefix cleared. */
function masked({ bytes, prefix }: Network, to = prefix): number[] {
  return bytes.map((byte, i) => byte & (0xff00 >> Math.min(8, Math.max(0, to - i * 8))) & 0xff);
}

const hasHostBits = (network: Network): boolean => masked(network).some((byte, i) => byte !== network.bytes[i]);
const isMappedNetwork = (text: string): boolean => isMapped(text.split('/')[0]!);

/** Whether `inner` lies in `outer` and is smaller. */
export function isStrictSubset(inner: Network, outer: Network): boolean {
  if (inner.family !== outer.family || inner.prefix <= outer.prefix) return false;
  const network = masked(outer);
  return masked(inner, outer.prefix).every((byte, i) => byte === network[i]);
}

/** A network in a field that is older than strict parsing: the written form need not be canonical, but must be unambiguous. */
export function cidrErrors(text: string, path: string, errors: FieldError[]): void {
  const network = parseNetwork(text);
  if (network === undefined) errors.push(invalidValue(path, text, NOT_A_CIDR));
  else if (withoutLeadingZeros(text) !== text) errors.push(invalidValue(path, text, 'must not have leading 0s in IP or prefix length'));
  else if (isMappedNetwork(text)) errors.push(invalidValue(path, text, 'must not have an IPv4-mapped IPv6 address'));
  else if (hasHostBits(network)) errors.push(invalidValue(path, text, 'must not have bits set beyond the prefix length'));
}

function canonicalCidr(network: Network): string {
  const address = ipaddr.fromByteArray(masked(network));
  return `${address instanceof ipaddr.IPv6 ? address.toRFC5952String() : address.toString()}/${network.prefix}`;
}

/** A network in a newer field: only the canonical form. */
export function canonicalCidrErrors(text: string, path: string, errors: FieldError[]): void {
  const before = errors.length;
  cidrErrors(text, path, errors);
  if (errors.length > before) return;
  const canonical = canonicalCidr(parseNetwork(text)!);
  if (canonical !== text) errors.push(invalidValue(path, text, `must be in canonical form (${JSON.stringify(canonical)})`));
}

/** An address with the length of its network, host bits and all, as `ip addr` shows it: only the canonical form. */
export function interfaceAddressErrors(text: string, path: string, errors: FieldError[]): void {
  const network = parseNetwork(text);
  if (network === undefined) {
    errors.push(invalidValue(path, text, 'must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)'));
    return;
  }
  const address = ipaddr.fromByteArray([...network.bytes]);
  const plain = address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
  const prefix = plain instanceof ipaddr.IPv4 && network.prefix > 32 ? network.prefix - 96 : network.prefix;
  const canonical = `${plain instanceof ipaddr.IPv6 ? plain.toRFC5952String() : plain.toString()}/${prefix}`;
  if (canonical !== text) errors.push(invalidValue(path, text, `must be in canonical form (${JSON.stringify(canonical)})`));
}

/** What is said of a network that is valid but not written in its canonical form. */
export function canonicalCidrWarning(text: string, path: string): string | undefined {
  const network = parseNetwork(text);
  if (network === undefined || network.family !== 'IPv6' || hasHostBits(network) || isMappedNetwork(text)) return undefined;
  const canonical = canonicalCidr(network);
  return canonical === text
    ? undefined
    : `${path}: IPv6 CIDR value ${JSON.stringify(text)} should be in RFC 5952 canonical format (${JSON.stringify(canonical)})`;
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
  if (ipFamily(text) !== 'IPv6' || isMapped(text)) return undefined;
  const canonical = canonicalIp(text);
  return canonical === text
    ? undefined
    : `${path}: IPv6 address ${JSON.stringify(text)} should be in RFC 5952 canonical format (${JSON.stringify(canonical)})`;
}
