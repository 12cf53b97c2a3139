/**
 * Seeded bugs, to prove that the tests for guarantees can fail (docs/guarantees.md). `if (mutant('store.no-fsync'))` at the one place where the bug
 * would live; a test arms it by name and shows that the harness sees what it does.
 *
 * Invariant: what is built has none of them. `scripts/build.ts` puts `false` in the place of every `mutant('…')`, so neither the bugs nor their
 * names are in `dist/`, and there is no option, variable or request that could arm one.
 */

/** Name → what goes wrong. */
export const MUTANTS = {
  'store.no-fsync': 'groups are written without a flush',
  'store.ack-before-fsync': 'callers are answered before their group is on disk',
  'store.publish-before-fsync': 'readers and watchers see a group before it is on disk',
  'store.read-pending': 'a read sees writes that are still waiting for the disk',
  'store.revision-in-memory': 'after a restart revisions go on from the newest object that is left',
  'store.revision-reset': 'after a restart revisions begin anew',
  'store.compaction-eats-live': 'compaction drops versions that are current',
  'store.delete-lost-at-compaction': 'the change just after the compacted revision is forgotten',
  'store.chain-unchecked': 'a record that does not continue the one before is accepted',
  'store.hash-unchecked': 'a record whose bytes have changed is accepted',
  'store.tail-unchecked': 'a log that ends too early is accepted',
  'store.order-swapped': 'the changes of a group are published last first',
  'store.not-fenced': 'after a failed write the store goes on',
  'store.quota-ignored': 'the store grows without bound',
  'restore.revision-kept': 'a restored store goes on from the revision of its backup',
  'store.delete-overtakes': 'a deletion does not compare the revision it was decided for',
  'store.refused-early': 'a write is refused for one that is not on disk yet',
  'store.resume-below-compaction': 'a watch may begin one revision before what history still has',
  'store.expired-early': 'a watch from the compacted revision is taken for too old',
  'store.cas-skipped': 'the expected revision is not compared',
  'watch.resume-inclusive': 'a watch begins with the revision it has seen already',
  'watch.resume-skips-one': 'a watch begins one revision too late',
  'watch.joins-early': 'a watch goes live before it has read all history',
  'watch.bookmark-current': 'a bookmark tells the newest revision, not how far the watch is',
  'watch.coalesced': 'of two changes of one object in one commit only the last is told',
  'watch.name-anywhere': 'who watches a name in one namespace is told of its namesakes in others',
  'watch.slow-skipped': 'a watcher that does not read misses events instead of being cut off',
  'watch.expired-jumps': 'a watch from before the compacted revision goes on from now, without a word',
  'watch.leave-unseen': 'an object that leaves a selector is not told as deleted',
  'watch.state-at-latest': 'the watch that follows a full state begins at the newest revision',
  'list.page-at-latest': 'the second page of a list shows the newest revision',
  'list.exact-ignored': 'a list of exactly one revision shows the newest',
  'list.restarts-silently': 'a page of a revision that was let go shows the newest',
  'list.stale': 'a list without resourceVersion may be old',
  'patch.retry-overwrites': 'a patch that was overtaken is written over what overtook it',
  'create.name-drawn-once': 'a generated name that is taken is not drawn again',
  'create.exists-unchecked': 'a creation replaces what has the name',
  'create.trial-stored': 'what is created as a trial is stored',
  'delete.precondition-ignored': 'a deletion does not compare the uid it was given',
  'informer.first-state-old': 'an informer begins with whatever state the server has at hand',
  'informer.restarts-at-newest': 'an informer whose watch broke goes on from now',
  'lease.wall-clock': 'a leader measures its term by the wall clock',
  'kubelet.uid-ignored': 'a kubelet takes a new pod of an old name for the old one',
  'gc.no-live-check': 'the garbage collector believes its copy that an owner is gone',
  'auth.certificate-unverified': 'a client certificate of any authority is believed',
  'merge-patch.shallow': 'a merge patch replaces whole members',
  'loop.freshness-off': 'a loop compares again before it has seen its own writes',
  'deployment.trusts-sizes': 'a rollout counts with the sizes that were asked for, seen or not',
} as const;

export type MutantName = keyof typeof MUTANTS;

let armed: ReadonlySet<string> | undefined;

export function mutant(name: MutantName): boolean {
  return armed?.has(name) ?? false;
}

/** Replaces all that were armed before; none disarms. Throws on a name that does not exist. */
export function armMutants(...names: readonly string[]): void {
  for (const name of names) if (!Object.hasOwn(MUTANTS, name)) throw new Error(`there is no mutant "${name}"`);
  armed = names.length === 0 ? undefined : new Set(names);
}
