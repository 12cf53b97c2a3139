/**
 * The two ranges services draw from. Like upstream, values that nobody asked for come from the upper part of a range, so that the lower part stays
 * likely free for those who choose (KEP-3070, KEP-3668).
 */
import { ipClaim, portClaim, type ServiceClaims } from './service-claims.ts';

const STATIC_MIN = 16;
const STATIC_MAX_IPS = 256;
const STATIC_MAX_PORTS = 128;

/** min(max(16, size / step), max), as upstream cuts the static part off. */
const staticPart = (size: number, step: number, max: number): number =>
  Math.min(Math.max(STATIC_MIN, Math.floor(size / step)), max, Math.max(0, size - 1));

export interface IpRange {
  readonly cidr: string;
  /** Why an address cannot be taken, or undefined when it could. */
  refusal(ip: string): string | undefined;
  /** A free address, or undefined when the range is full. */
  next(claims: ServiceClaims): string | undefined;
}

const toNumber = (ip: string): number => ip.split('.').reduce((n, part) => n * 256 + Number(part), 0);
const toText = (n: number): string => [24, 16, 8, 0].map((shift) => Math.floor(n / 2 ** shift) % 256).join('.');

/** IPv4 only: the service range of this server is a single IPv4 network. */
export function createIpRange(cidr: string): IpRange {
  const [network = '', bits = '32'] = cidr.split('/');
  const total = 2 ** (32 - Number(bits));
  const base = toNumber(network) - (toNumber(network) % total);
  const first = base + 1;
  const size = Math.max(0, total - 2);
  const offset = size <= STATIC_MIN ? 0 : staticPart(size, 16, STATIC_MAX_IPS);
  const search = cursor(size, offset);
  return {
    cidr,
    refusal(ip) {
      const n = toNumber(ip);
      return n >= first && n < first + size ? undefined : 'the provided network does not match the current range';
    },
    next(claims) {
      const index = search((i) => claims.isFree(ipClaim(toText(first + i))));
      return index === undefined ? undefined : toText(first + index);
    },
  };
}

export interface PortRange {
  refusal(port: number): string | undefined;
  next(claims: ServiceClaims): number | undefined;
}

export function createPortRange([min, max]: readonly [number, number]): PortRange {
  const size = max - min + 1;
  const offset = size <= STATIC_MIN ? 0 : staticPart(size, 32, STATIC_MAX_PORTS);
  const search = cursor(size, offset);
  return {
    refusal: (port) =>
      port >= min && port <= max ? undefined : `provided port is not in the valid range. The range of valid ports is ${min}-${max}`,
    next(claims) {
      const index = search((i) => claims.isFree(portClaim(min + i)));
      return index === undefined ? undefined : min + index;
    },
  };
}

/** Walks the upper part round and round, so that what was freed is not taken again at once; the lower part when the upper is full. */
function cursor(size: number, offset: number): (isFree: (index: number) => boolean) => number | undefined {
  const upper = size - offset;
  let at = 0;
  return (isFree) => {
    for (let step = 0; step < upper; step++) {
      const index = offset + ((at + step) % upper);
      if (!isFree(index)) continue;
      at = (at + step + 1) % upper;
      return index;
    }
    for (let index = 0; index < offset; index++) if (isFree(index)) return index;
    return undefined;
  };
}
