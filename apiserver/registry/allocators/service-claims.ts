/**
 * Who holds which cluster IP and which node port. Mirrors the allocators of kubernetes `pkg/registry/core/service`, without bitmaps of their own in the
 * store: what services hold is what is allocated.
 *
 * Invariant: a value is held by at most one service. Committed holdings follow the store, commit by commit (a commit is published before its writer is
 * answered); a reservation stands between the decision and its commit, and is given back when the write fails. So nothing leaks, whatever dies when.
 */
import type { Service } from '../../../machinery/api/types/core.v1.ts';
import type { Change, Store, Stored } from '../../storage/interface.ts';

const PREFIX = '/core/services/';

export interface ServiceClaims {
  /** Takes `value` for the service; false when another one has it. */
  reserve(value: string, service: string): boolean;
  isFree(value: string): boolean;
  /** Gives reservations of a failed write back. */
  giveBack(values: readonly string[], service: string): void;
  close(): void;
}

/** The claims of a service: `ip/10.96.0.1`, `port/30080`. */
export const ipClaim = (ip: string): string => `ip/${ip}`;
export const portClaim = (port: number): string => `port/${port}`;

export function claimsOf(service: Service): string[] {
  const { spec } = service;
  if (!spec) return [];
  const ports = [...(spec.ports ?? []).map((p) => p.nodePort ?? 0), spec.healthCheckNodePort ?? 0];
  return [
    ...(spec.clusterIPs ?? []).filter((ip) => ip !== 'None' && ip !== '').map(ipClaim),
    ...ports.filter((port) => port > 0).map(portClaim),
  ];
}

/** The key of a service among claims is its storage key. */
export function createServiceClaims(store: Store): ServiceClaims {
  const holders = new Map<string, string>();
  const held = new Map<string, readonly string[]>();
  const reserved = new Map<string, string>();

  const forget = (key: string): void => {
    for (const claim of held.get(key) ?? []) if (holders.get(claim) === key) holders.delete(claim);
    held.delete(key);
  };
  const remember = (stored: Stored): void => {
    forget(stored.key);
    const claims = claimsOf(JSON.parse(stored.bytes.toString()) as Service);
    held.set(stored.key, claims);
    for (const claim of claims) {
      holders.set(claim, stored.key);
      if (reserved.get(claim) === stored.key) reserved.delete(claim);
    }
  };

  const listed = store.list(PREFIX);
  for (const stored of listed.items) remember(stored);
  const subscription = store.watch(PREFIX, listed.revision, (changes: readonly Change[]) => {
    for (const change of changes) {
      if (change.type === 'delete') forget(change.current.key);
      else remember(change.current);
    }
  });

  return {
    isFree: (value) => !holders.has(value) && !reserved.has(value),
    reserve(value, service) {
      const holder = holders.get(value) ?? reserved.get(value);
      if (holder !== undefined && holder !== service) return false;
      if (!holders.has(value)) reserved.set(value, service);
      return true;
    },
    giveBack(values, service) {
      for (const value of values) if (reserved.get(value) === service) reserved.delete(value);
    },
    close: () => subscription.close(),
  };
}
