/**
 * The only place that draws. `systemRandom` is cryptographic where it must be (uids, tokens, name suffixes); `seededRandom` repeats itself for tests and simulations.
 */
import { randomBytes, randomUUID } from 'node:crypto';

export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
  /** Uniform integer in [0, below). */
  integer(below: number): number;
  uuid(): string;
  /** `length` characters of upstream's safe alphabet (util/rand): no vowels, no 0, 1 or 3. */
  suffix(length: number): string;
}

const SAFE = 'bcdfghjklmnpqrstvwxz2456789';

/** Random bytes are drawn from the system in pages: a call for each number would cost more than the number. */
const PAGE = 4096;
let page = Buffer.alloc(0);
let used = 0;

function sixBytes(): number {
  if (used + 6 > page.length) {
    page = randomBytes(PAGE);
    used = 0;
  }
  const value = page.readUIntBE(used, 6);
  page.fill(0, used, used + 6);
  used += 6;
  return value;
}

export const systemRandom: Random = {
  next: () => sixBytes() / 2 ** 48,
  integer: (below) => Math.floor(systemRandom.next() * below),
  uuid: () => randomUUID(),
  suffix: (length) => suffixFrom(systemRandom, length),
};

/** mulberry32: small, fast, good enough for schedules of tests; never for secrets. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const random: Random = {
    next: () => {
      state = (state + 0x6d2b79f5) >>> 0;
      let t = state;
      t = Math.imul(t ^ (t >>> 15), t | 1);
      t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
      return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
    },
    integer: (below) => Math.floor(random.next() * below),
    uuid: () => {
      const hex = Array.from({ length: 32 }, () => random.integer(16).toString(16)).join('');
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
    },
    suffix: (length) => suffixFrom(random, length),
  };
  return random;
}

function suffixFrom(random: Random, length: number): string {
  let suffix = '';
  for (let i = 0; i < length; i++) suffix += SAFE[random.integer(SAFE.length)];
  return suffix;
}
