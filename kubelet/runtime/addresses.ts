/**
 * Pod addresses of one node. Mirrors a CNI's host-local IPAM: unique on the node, taken from the node's own range, so unique in the cluster.
 */
export interface Addresses {
  /** Throws when the range is exhausted. */
  allocate(): string;
  /** Marks an address of a former life as taken. */
  reserve(address: string): void;
  release(address: string): void;
}

/** `cidr` is asked again at each allocation: the node may get its range only after the first pods. */
export function createAddresses(cidr: () => string): Addresses {
  const taken = new Set<string>();
  let last = 1;
  return {
    allocate: () => {
      const { base, size } = parseCidr(cidr());
      // The first address is the network, the second the bridge, the last the broadcast.
      const usable = size - 3;
      for (let tries = 0; tries < usable; tries++) {
        last = last + 1 > size - 2 ? 2 : last + 1;
        const address = formatAddress(base + last);
        if (taken.has(address)) continue;
        taken.add(address);
        return address;
      }
      throw new Error(`no free pod address in ${cidr()}`);
    },
    reserve: (address) => {
      taken.add(address);
    },
    release: (address) => {
      taken.delete(address);
    },
  };
}

/**
 * A range for a node that was given none: node `…-7` gets the eighth /22 of 10.128.0.0/10, a name without a number one by its hash.
 */
export function derivedCidr(nodeName: string): string {
  const digits = /(\d{1,4})$/.exec(nodeName)?.[1];
  const slot = (digits ? Number(digits) : hash(nodeName)) % 4096;
  return `${formatAddress(10 * 2 ** 24 + 128 * 2 ** 16 + slot * 1024)}/22`;
}

function parseCidr(cidr: string): { base: number; size: number } {
  const match = /^(\d+)\.(\d+)\.(\d+)\.(\d+)\/(\d+)$/.exec(cidr);
  if (!match) throw new Error(`not an IPv4 range: ${cidr}`);
  const [a, b, c, d, bits] = match.slice(1).map(Number) as [number, number, number, number, number];
  const size = 2 ** (32 - bits);
  const address = a * 2 ** 24 + b * 2 ** 16 + c * 2 ** 8 + d;
  return { base: address - (address % size), size };
}

const formatAddress = (n: number): string => [24, 16, 8, 0].map((shift) => Math.floor(n / 2 ** shift) % 256).join('.');

function hash(text: string): number {
  let value = 2166136261;
  for (const char of text) value = Math.imul(value ^ (char.codePointAt(0) as number), 16777619) >>> 0;
  return value;
}
