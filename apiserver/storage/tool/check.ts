/**
 * Looks whether a store is whole, without a server and without changing it: files, chain, contiguity, marks, and that every object tells its own
 * revision. It opens a copy, of which only what LevelDB may change takes room.
 */
import { copyFile, link, mkdir, mkdtemp, readdir, readFile, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Store, StoreDamaged } from '../interface.ts';
import { inspectDatabase, type TornEnd } from '../level/inspect.ts';
import { holdLock, reserve } from '../level/lock.ts';
import { sizeOfFiles } from '../level/reclaim.ts';
import { openLevelStore } from '../level/store.ts';

export interface Checked {
  readonly damage: readonly string[];
  /** What a crash left unfinished: no damage. */
  readonly torn: readonly TornEnd[];
  readonly epoch: string | undefined;
  readonly onDisk: number;
  /** Undefined when it is damaged. */
  readonly found: Found | undefined;
}

interface Found {
  readonly revision: number;
  readonly compacted: number;
  readonly objects: number;
  readonly changes: number;
  readonly used: number;
  /** Objects by resource. */
  readonly resources: ReadonlyMap<string, number>;
}

/** Rejects with StoreLocked when a process has it open. */
export async function checkStore(path: string): Promise<Checked> {
  const directory = await realpath(path);
  const giveBack = await reserve(directory);
  try {
    const release = await holdLock(directory);
    try {
      return await checkLocked(directory);
    } finally {
      await release();
    }
  } finally {
    giveBack();
  }
}

async function checkLocked(directory: string): Promise<Checked> {
  const location = join(directory, 'db');
  const { torn, isEmpty } = await inspectDatabase(location);
  if (isEmpty) throw new Error(`${directory} holds no database`);
  const epoch = /"epoch":"([^"]+)"/.exec(await readFile(join(directory, 'READY'), 'utf8').catch(() => ''))?.[1];
  const base = { torn, epoch, onDisk: sizeOfFiles(location) };
  const copy = await mkdtemp(join(directory, 'check-'));
  try {
    await copyStore(directory, copy);
    const store = await openLevelStore(copy);
    try {
      return { ...base, damage: wrongObjects(store), found: foundIn(store) };
    } finally {
      await store.close();
    }
  } catch (error) {
    if (!(error instanceof StoreDamaged)) throw error;
    return { ...base, damage: [error.message.replaceAll(copy, directory)], found: undefined };
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

/** Tables are never changed, only removed: a second name will do. */
async function copyStore(from: string, to: string): Promise<void> {
  for (const name of ['READY', 'TAIL']) await copyFile(join(from, name), join(to, name)).catch(absentIsFine);
  await mkdir(join(to, 'db'));
  for (const name of await readdir(join(from, 'db'))) {
    const [source, target] = [join(from, 'db', name), join(to, 'db', name)];
    if (name === 'LOCK') continue;
    if (name.endsWith('.ldb')) await link(source, target).catch(() => copyFile(source, target));
    else await copyFile(source, target);
  }
}

function absentIsFine(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}

function foundIn(store: Store): Found {
  const resources = new Map<string, number>();
  const { items } = store.list('/');
  for (const { key } of items) {
    const resource = key.split('/').slice(1, 3).join('/');
    resources.set(resource, (resources.get(resource) ?? 0) + 1);
  }
  const changes = store.changes('/', store.compactedRevision, Number.POSITIVE_INFINITY).changes.length;
  const { revision, compactedRevision: compacted } = store;
  return { revision, compacted, objects: items.length, changes, used: store.size().used, resources };
}

/** What the server wrote wrongly, no disk's fault: an object under another's key, or that tells another revision. */
function wrongObjects(store: Store): string[] {
  return store.list('/').items.flatMap(({ key, revision, bytes }) => {
    try {
      const { metadata } = JSON.parse(bytes.toString()) as { metadata?: { name?: string; resourceVersion?: string } };
      const name = key.slice(key.lastIndexOf('/') + 1);
      if (metadata?.resourceVersion === String(revision) && metadata.name === name) return [];
      return [`${key} at revision ${revision} holds ${metadata?.name} at ${metadata?.resourceVersion}`];
    } catch {
      return [`${key} at revision ${revision} is no JSON`];
    }
  });
}
