/**
 * The live watchers of one resource, in groups that get the same bytes: equal namespace, selector and form. A change finds its groups through
 * an index (by name, by node, else by namespace), so a thousand kubelets that each watch their own node cost one of them an event, not all.
 */
import { internalError } from '../../machinery/api/status.ts';
import { failpoint } from '../../machinery/process/failpoints.ts';
import { mutant } from '../../machinery/process/mutants.ts';
import type { ChangeView, WatchEvent } from './event.ts';
import type { WatchForm, WatchSelector } from './form.ts';
import type { Watcher } from './watcher.ts';

export interface GroupKey {
  /** '' for all namespaces. */
  readonly namespace: string;
  readonly selector: WatchSelector | undefined;
  readonly form: WatchForm;
}

const CHUNK_BYTES = 64 * 1024;

class Group {
  readonly key: GroupKey;
  readonly watchers = new Set<Watcher>();
  #frames: Buffer[] = [];
  #first: WatchEvent | undefined;

  constructor(key: GroupKey) {
    this.key = key;
  }

  take(view: ChangeView): void {
    const event = view.eventFor(this.key.selector);
    if (event === undefined) return;
    if (this.#frames.length === 0) this.#first = event;
    this.#frames.push(view.frame(event, this.key.form));
  }

  /** Hands what the commit brought to all watchers, as one chunk, or several where it is much. */
  flush(revision: number): void {
    const frames = this.#frames;
    const first = this.#first;
    if (frames.length === 0 || first === undefined) return;
    this.#frames = [];
    this.#first = undefined;
    const chunks = chunksOf(frames);
    const { form } = this.key;
    let opening: readonly Buffer[] | undefined;
    for (const watcher of this.watchers) {
      if (form.firstDiffers && watcher.fresh) {
        opening ??= chunksOf([form.event(first.type, first.object, true), ...frames.slice(1)]);
        for (const chunk of opening) watcher.deliver(chunk, revision);
      } else for (const chunk of chunks) watcher.deliver(chunk, revision);
    }
  }
}

/** What is written at once: small frames together, large ones by themselves. */
function chunksOf(frames: readonly Buffer[]): readonly Buffer[] {
  if (frames.length === 1) return frames;
  const chunks: Buffer[] = [];
  for (let from = 0; from < frames.length; ) {
    let bytes = frames[from]!.length;
    let to = from + 1;
    while (to < frames.length && bytes + frames[to]!.length <= CHUNK_BYTES) bytes += frames[to++]!.length;
    chunks.push(to - from === 1 ? frames[from]! : Buffer.concat(frames.slice(from, to), bytes));
    from = to;
  }
  return chunks;
}

export class ResourceGroups {
  readonly #report: (error: unknown) => void;
  readonly #groups = new Map<string, Group>();
  readonly #byNamespace = new Map<string, Set<Group>>();
  readonly #byName = new Map<string, Set<Group>>();
  readonly #byNode = new Map<string, Set<Group>>();
  readonly #touched = new Set<Group>();

  /** `report` is told what a form or selector threw. */
  constructor(report: (error: unknown) => void) {
    this.#report = report;
  }

  add(watcher: Watcher, key: GroupKey): void {
    const id = idOf(key);
    let group = this.#groups.get(id);
    if (group === undefined) {
      group = new Group(key);
      this.#groups.set(id, group);
      const { index, value } = this.#placeOf(key);
      const set = index.get(value);
      if (set === undefined) index.set(value, new Set([group]));
      else set.add(group);
    }
    group.watchers.add(watcher);
  }

  remove(watcher: Watcher, key: GroupKey): void {
    const id = idOf(key);
    const group = this.#groups.get(id);
    if (group === undefined || !group.watchers.delete(watcher) || group.watchers.size > 0) return;
    this.#groups.delete(id);
    this.#touched.delete(group);
    const { index, value } = this.#placeOf(key);
    const set = index.get(value);
    set?.delete(group);
    if (set?.size === 0) index.delete(value);
  }

  /** Collects the events of a change; `flush` sends them. */
  take(view: ChangeView): void {
    const { key } = view.change.current;
    const nameAt = key.lastIndexOf('/') + 1;
    const name = key.slice(nameAt);
    const resourceEnd = key.indexOf('/', key.indexOf('/', 1) + 1) + 1;
    const namespace = nameAt > resourceEnd ? key.slice(resourceEnd, nameAt - 1) : '';
    this.#give(this.#byNamespace.get(''), namespace, view);
    if (namespace !== '') this.#give(this.#byNamespace.get(namespace), namespace, view);
    if (this.#byName.size > 0) this.#give(this.#byName.get(name), namespace, view);
    if (this.#byNode.size > 0) for (const node of view.nodeNames) this.#give(this.#byNode.get(node), namespace, view);
  }

  flush(revision: number): void {
    for (const group of this.#touched) {
      this.#guard(group, () => group.flush(revision));
      failpoint('watch.mid-fanout');
    }
    this.#touched.clear();
  }

  *watchers(): Iterable<Watcher> {
    for (const group of [...this.#groups.values()]) yield* [...group.watchers];
  }

  #give(groups: Set<Group> | undefined, namespace: string, view: ChangeView): void {
    if (groups === undefined) return;
    for (const group of groups) {
      const isForeign = group.key.namespace !== '' && group.key.namespace !== namespace;
      if (isForeign && !(mutant('watch.name-anywhere') && group.key.selector?.name !== undefined)) continue;
      this.#touched.add(group);
      this.#guard(group, () => group.take(view));
    }
  }

  /** A form or selector that throws ends the watches it was made for, nothing else: a commit must reach everyone. */
  #guard(group: Group, step: () => void): void {
    try {
      step();
    } catch (error) {
      this.#report(error);
      for (const watcher of group.watchers) watcher.end('failed', internalError('the watch could not be served', { cause: error }));
    }
  }

  #placeOf({ namespace, selector }: GroupKey): { index: Map<string, Set<Group>>; value: string } {
    if (selector?.name !== undefined) return { index: this.#byName, value: selector.name };
    if (selector?.nodeName !== undefined) return { index: this.#byNode, value: selector.nodeName };
    return { index: this.#byNamespace, value: namespace };
  }
}

function idOf({ namespace, selector, form }: GroupKey): string {
  return `${namespace}\n${selector?.id ?? ''}\n${form.id}`;
}
