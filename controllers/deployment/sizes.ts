/**
 * Which size each ReplicaSet of a Deployment should have next: rolling update, Recreate, and scaling in proportion.
 * Mirrors upstream `deployment/{rolling,recreate,sync}.go`, on the counts of bounds.ts instead of sizes and statuses.
 *
 * Invariant: every size in an answer keeps the bounds whichever of the other sizes has been written, because growth is computed as if nothing
 * shrank and shrinking as if nothing grew.
 */

import type { Deployment } from '../../machinery/api/types/apps.v1.ts';
import { DESIRED_REPLICAS, MAX_REPLICAS } from '../../machinery/api/well-known-labels.ts';
import { numberAnnotation } from './annotations.ts';
import {
  isRollingUpdate,
  maxSurge,
  maxUnavailable,
  potential,
  replicasOf,
  type Standing,
  stayAvailable,
  sum,
  surelyAvailable,
} from './bounds.ts';

/** By name of the set; a set that is not named keeps its size. */
export type Sizes = ReadonlyMap<string, number>;

export interface Sets {
  /** The set of the present template; may not exist yet, then of size 0. */
  readonly current: Standing | undefined;
  /** All others, oldest first. */
  readonly old: readonly Standing[];
  /** Active pods that match the Deployment but whose set is gone: they will be collected, until then they count. */
  readonly strays: number;
}

const nameOf = (standing: Standing): string => standing.rs.metadata.name ?? '';
const all = (sets: Sets): readonly Standing[] => (sets.current === undefined ? sets.old : [...sets.old, sets.current]);
const mostPods = (d: Deployment): number => replicasOf(d) + maxSurge(d);
const fewestAvailable = (d: Deployment): number => replicasOf(d) - maxUnavailable(d);

/** `wanted`, or as much of it as there is room for beside what the other sets may have. */
function grown(d: Deployment, set: Standing, wanted: number, sets: Sets): number {
  const others = all(sets).filter((other) => other !== set);
  if (others.some((other) => !other.observed)) return set.size;
  const room = mostPods(d) - sum(others, (other) => potential(other)) - sets.strays;
  return Math.max(set.size, Math.min(wanted, room));
}

/** Available pods that may go when the set is brought down to `size`. */
const costOf = (set: Standing, size: number): number => stayAvailable(set, set.size) - stayAvailable(set, size);

/** The smallest size from `wanted` up that costs at most `slack` pods that are surely available now. */
function lowered(set: Standing, wanted: number, slack: number): number {
  let size = Math.min(wanted, set.size);
  while (size < set.size && costOf(set, size) > Math.max(0, slack)) size++;
  return size;
}

/** One step of a rolling update: the current set takes what room there is, the old ones give what availability allows. */
export function rollingSizes(d: Deployment, sets: Sets): Sizes {
  const sizes = new Map<string, number>();
  const { current } = sets;
  const wanted = replicasOf(d);
  if (current !== undefined && current.size !== wanted)
    sizes.set(nameOf(current), current.size > wanted ? wanted : grown(d, current, wanted, sets));
  const currentSize = Math.min(current?.size ?? 0, wanted);
  const spare = sum(sets.old, (set) => set.size) + Math.min(currentSize, current?.available ?? 0) - fewestAvailable(d);
  const surely = sum(sets.old, (set) => surelyAvailable(set)) + (current === undefined ? 0 : surelyAvailable(current, currentSize));
  for (const [name, size] of shrunk(sets.old, { spare, slack: surely - fewestAvailable(d) })) sizes.set(name, size);
  return sizes;
}

/** First the pods that serve nobody, then available ones, oldest set first; never more than `spare` pods nor `slack` available ones. */
function shrunk(old: readonly Standing[], limits: { spare: number; slack: number }): Map<string, number> {
  const sizes = new Map<string, number>();
  let { spare, slack } = limits;
  const take = (set: Standing, floor: number): void => {
    const before = sizes.get(nameOf(set)) ?? set.size;
    const at = { ...set, size: before };
    const size = lowered(at, Math.max(floor, before - Math.max(0, spare)), slack);
    if (size >= before) return;
    slack -= costOf(at, size);
    spare -= before - size;
    sizes.set(nameOf(set), size);
  };
  for (const set of old) take(set, Math.min(set.size, set.ready));
  for (const set of old) take(set, 0);
  return sizes;
}

/** Recreate: nothing new before the last old pod is gone, terminating ones included. */
export function recreateSizes(d: Deployment, sets: Sets): Sizes {
  const running = sets.old.filter((set) => set.size > 0);
  if (running.length > 0) return new Map(running.map((set) => [nameOf(set), 0]));
  const gone = sets.strays === 0 && sets.old.every((set) => set.observed && set.alive === 0 && (set.rs.status?.replicas ?? 0) === 0);
  const { current } = sets;
  return current !== undefined && (gone || current.size > replicasOf(d)) ? new Map([[nameOf(current), replicasOf(d)]]) : new Map();
}

/** True when the Deployment was scaled since a set in use was last sized (isScalingEvent). */
export function isScaled(d: Deployment, sets: Sets): boolean {
  return all(sets).some((set) => {
    const desired = numberAnnotation(set.rs, DESIRED_REPLICAS);
    return set.size > 0 && desired !== undefined && desired !== replicasOf(d);
  });
}

/** Sizes after the Deployment was scaled, or while it is paused (sync.go scale). `resized` sets get the new size annotations even at the same size. */
export function scaledSizes(d: Deployment, sets: Sets): { sizes: Sizes; resized: readonly Standing[] } {
  const wanted = replicasOf(d);
  const active = all(sets).filter((set) => set.size > 0);
  const only = active.length === 0 ? (sets.current ?? sets.old.at(-1)) : active.length === 1 ? active[0] : undefined;
  if (only !== undefined) {
    const size = only.size > wanted ? wanted : grown(d, only, wanted, sets);
    return { sizes: new Map([[nameOf(only), size]]), resized: active };
  }
  if (isSaturated(d, sets.current)) {
    const old = sets.old.filter((set) => set.size > 0);
    return { sizes: new Map(old.map((set) => [nameOf(set), 0])), resized: [] };
  }
  return isRollingUpdate(d) && active.length > 0
    ? { sizes: proportional(d, active, sets), resized: active }
    : { sizes: new Map(), resized: [] };
}

/** The current set has all its pods and they are available: the old ones are not needed. */
function isSaturated(d: Deployment, current: Standing | undefined): boolean {
  const wanted = replicasOf(d);
  const desired = current && numberAnnotation(current.rs, DESIRED_REPLICAS);
  return current !== undefined && desired === wanted && current.size === wanted && surelyAvailable(current) === wanted;
}

/**
 * Spreads the added or removed replicas over the sets by their size, so that a failing rollout keeps its share of the risk. The largest set takes what rounding leaves.
 * Example: 8 + 5 of 13 (10 and a surge of 3) scaled to 15: 18 in all, 8·18/13 = 11 and 5·18/13 = 7.
 */
function proportional(d: Deployment, active: readonly Standing[], sets: Sets): Sizes {
  const allowed = replicasOf(d) > 0 ? mostPods(d) : 0;
  const toAdd = allowed - sum(active, (set) => set.size);
  const ordered = [...active].sort((a, b) => b.size - a.size || (toAdd > 0 ? newerFirst(a, b) : newerFirst(b, a)));
  const sizes = new Map<string, number>();
  let added = 0;
  for (const set of ordered) {
    const share = toAdd === 0 ? 0 : shareOf(d, set, toAdd, added);
    sizes.set(nameOf(set), set.size + share);
    added += share;
  }
  const first = ordered[0]!;
  sizes.set(nameOf(first), Math.max(0, sizes.get(nameOf(first))! + toAdd - added));
  return toAdd >= 0 ? withinRoom(d, ordered, sizes, sets) : withinAvailability(d, ordered, sizes, sets);
}

function shareOf(d: Deployment, set: Standing, toAdd: number, added: number): number {
  if (set.size === 0 || toAdd === added) return 0;
  const before = numberAnnotation(set.rs, MAX_REPLICAS) || (d.status?.replicas ?? 0);
  const fraction = replicasOf(d) === 0 ? -set.size : before === 0 ? 0 : Math.round((set.size * mostPods(d)) / before) - set.size;
  const left = toAdd - added;
  return toAdd > 0 ? Math.min(fraction, left) : Math.max(fraction, left);
}

function withinRoom(d: Deployment, ordered: readonly Standing[], wanted: Sizes, sets: Sets): Sizes {
  const settled = all(sets).every((set) => set.observed);
  let room = settled ? mostPods(d) - sets.strays - sum(all(sets), (set) => potential(set)) : 0;
  const sizes = new Map<string, number>();
  for (const set of ordered) {
    const most = settled ? potential(set) + Math.max(0, room) : set.size;
    const size = Math.min(wanted.get(nameOf(set)) ?? set.size, Math.max(set.size, most));
    room -= Math.max(0, size - potential(set));
    sizes.set(nameOf(set), size);
  }
  return sizes;
}

function withinAvailability(d: Deployment, ordered: readonly Standing[], wanted: Sizes, sets: Sets): Sizes {
  let slack = sum(all(sets), (set) => surelyAvailable(set)) - fewestAvailable(d);
  const sizes = new Map<string, number>();
  for (const set of ordered) {
    const size = lowered(set, wanted.get(nameOf(set)) ?? set.size, slack);
    slack -= costOf(set, size);
    sizes.set(nameOf(set), size);
  }
  return sizes;
}

function newerFirst(a: Standing, b: Standing): number {
  const [left, right] = [a, b].map((set) => set.rs.metadata.creationTimestamp ?? '');
  return left! > right! ? -1 : left! < right! ? 1 : 0;
}
