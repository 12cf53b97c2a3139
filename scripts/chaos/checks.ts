/**
 * The verdict's questions about acknowledged writes, watches, the state at the end and the logs. Each check is a pure function from a history to
 * the violations it contains, in words; no violation, no words. The bound of pods has a file of its own.
 */
import type { ObjectFacts, Watched, Write } from './history.ts';

/** The state when all has settled, or when waiting for that was given up. */
export interface State {
  readonly deployments: readonly ObjectFacts[];
  readonly replicasets: readonly ObjectFacts[];
  readonly pods: readonly ObjectFacts[];
  readonly namespaces: readonly ObjectFacts[];
}

const named = ({ namespace, name }: ObjectFacts): string => (namespace === '' ? name : `${namespace}/${name}`);

/** D1: of each name the last acknowledged write is stored as acknowledged, or an unanswered one after it. */
export function lostWrites(writes: readonly Write[], stored: readonly ObjectFacts[]): string[] {
  const byName = new Map(stored.map((object) => [object.name, object]));
  const violations: string[] = [];
  for (const name of new Set(writes.map((write) => write.name))) {
    const ofName = writes.filter((write) => write.name === name);
    const last = ofName.findLastIndex((write) => write.revision !== undefined);
    if (last < 0) continue;
    const { value, revision } = ofName[last]!;
    const found = byName.get(name);
    if (found && found.revision === revision && found.value === value) continue;
    const later = ofName.slice(last + 1).some((write) => write.value === found?.value);
    if (later && found && found.revision > revision!) continue;
    const instead = found ? `value ${found.value} at revision ${found.revision} is stored` : 'it is not there';
    violations.push(`${name}: value ${value} was acknowledged at revision ${revision}, but ${instead}`);
  }
  return violations;
}

/** W1, W2: every acknowledged write was seen at its revision by every watcher. */
export function unseenWrites(writes: readonly Write[], watched: Watched): string[] {
  const seen = new Map(watched.events.map((event) => [event.revision, event]));
  return writes
    .filter(({ revision, name, value }) => {
      if (revision === undefined) return false;
      const event = seen.get(revision);
      return event?.name !== name || event.value !== value;
    })
    .map(({ name, value, revision }) => `${name}: value ${value}, acknowledged at revision ${revision}, was not seen by a watcher`);
}

/** W1, W2: revisions only rise (no duplicate, no reorder), and each object is added, modified, deleted in that order. */
export function disorder({ resource, initial, events, errors }: Watched): string[] {
  const violations = errors.map((error) => `${resource}: a watch answered ${error}`);
  const there = new Set(initial.map(({ uid }) => uid));
  let revision = Math.max(0, ...initial.map((object) => object.revision));
  for (const event of events) {
    const what = `${resource}: ${event.type} ${named(event)} at revision ${event.revision}`;
    if (event.revision === revision) violations.push(`${what} repeats that revision`);
    else if (event.revision < revision) violations.push(`${what} comes after revision ${revision}`);
    if ((event.type === 'ADDED') === there.has(event.uid))
      violations.push(`${what}, but it was ${there.has(event.uid) ? '' : 'not '}there`);
    if (event.type === 'DELETED') there.delete(event.uid);
    else there.add(event.uid);
    revision = Math.max(revision, event.revision);
  }
  return violations;
}

/** W1, W2: what was there at first, with every event applied, is what is there at last. */
export function gaps({ resource, initial, events }: Watched, final: readonly ObjectFacts[]): string[] {
  const replayed = new Map(initial.map((object) => [object.uid, object]));
  for (const event of events) {
    if (event.type === 'DELETED') replayed.delete(event.uid);
    else replayed.set(event.uid, event);
  }
  const violations: string[] = [];
  for (const object of final) {
    const known = replayed.get(object.uid);
    replayed.delete(object.uid);
    if (known?.revision === object.revision) continue;
    const knows = known ? `knows revision ${known.revision}` : 'does not know it';
    violations.push(`${resource}: ${named(object)} is at revision ${object.revision}, a watcher ${knows}`);
  }
  for (const object of replayed.values()) violations.push(`${resource}: ${named(object)} is gone, a watcher does not know`);
  return violations;
}

/** No pod without its ReplicaSet, no ReplicaSet without its Deployment, nothing in a namespace that is gone. */
export function orphans({ deployments, replicasets, pods, namespaces }: State): string[] {
  const without = (objects: readonly ObjectFacts[], owners: readonly ObjectFacts[], what: string): string[] => {
    const uids = new Set(owners.map(({ uid }) => uid));
    return objects.filter(({ owner }) => owner === undefined || !uids.has(owner)).map((object) => `${what} ${named(object)} has no owner`);
  };
  const names = new Set(namespaces.map(({ name }) => name));
  return [
    ...without(pods, replicasets, 'pod'),
    ...without(replicasets, deployments, 'replicaset'),
    ...[...deployments, ...replicasets, ...pods]
      .filter(({ namespace }) => !names.has(namespace))
      .map((object) => `${named(object)} is in a namespace that is gone`),
  ];
}

/** Everything that is to be deleted is gone in the end. */
export function stuckTerminating(state: State): string[] {
  return Object.entries(state).flatMap(([resource, objects]: [string, readonly ObjectFacts[]]) =>
    objects.filter(({ terminating }) => terminating).map((object) => `${resource} ${named(object)} is still terminating`),
  );
}

/** Every deployment is complete, by its status and by its pods. */
export function unfinished({ deployments, replicasets, pods }: State): string[] {
  return deployments.flatMap((deployment) => {
    const { uid, replicas = 1, generation, observedGeneration, updated = 0, ready = 0 } = deployment;
    const sets = new Set(replicasets.filter(({ owner }) => owner === uid).map((set) => set.uid));
    const running = pods.filter((pod) => sets.has(pod.owner ?? '') && pod.ready && !pod.terminating).length;
    const done = observedGeneration === generation && updated === replicas && ready === replicas && running === replicas;
    const status = `${running} pods run, status: ${updated} updated, ${ready} available, generation ${observedGeneration} of ${generation}`;
    return done ? [] : [`deployment ${named(deployment)} wants ${replicas}: ${status}`];
  });
}

/** What a component may log as an error while others are being killed. */
const EXPECTED_ERRORS = ['lost leadership, standing for election again'];
const PINO_ERROR = 50;

/** Lines of a log that are errors, or no log lines at all (what a runtime prints when a process falls over). */
export function errorLines(process: string, log: string): string[] {
  return log
    .split('\n')
    .filter((line) => line.trim() !== '')
    .filter((line) => {
      try {
        const { level, msg } = JSON.parse(line) as { level?: number; msg?: string };
        return level === undefined || (level >= PINO_ERROR && !EXPECTED_ERRORS.includes(msg ?? ''));
      } catch {
        return true;
      }
    })
    .map((line) => `${process}: ${line.slice(0, 300)}`);
}

/** While nobody asks for anything, only leases are renewed. `revisions` were given out, these events account for them. */
export function idleWrites(revisions: number, seen: readonly Pick<Watched, 'resource' | 'events'>[]): string[] {
  const counts = new Map<string, number>();
  let accounted = 0;
  for (const { resource, events } of seen) {
    accounted += events.length;
    if (resource === 'leases') continue;
    for (const event of events) {
      const what = `${resource} ${named(event)} ${event.type}`;
      counts.set(what, (counts.get(what) ?? 0) + 1);
    }
  }
  const violations = [...counts].map(([what, count]) => `${what}, ${count} times`);
  return revisions > accounted ? [...violations, `${revisions - accounted} writes of other resources`] : violations;
}
