/** Seeded bugs of the store: what is acknowledged, shown and kept (D1 to D4, W9). */
import { readdirSync, readFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { Level } from 'level';
import type { Store } from '../../../apiserver/storage/interface.ts';
import { decodeRecord, encodeRecord, hashOf, objectOf, recordKey } from '../../../apiserver/storage/level/record.ts';
import { openLevelStore } from '../../../apiserver/storage/level/store.ts';
import { writeBackup } from '../../../apiserver/storage/tool/backup-file.ts';
import { restoreBackup } from '../../../apiserver/storage/tool/restore.ts';
import { systemClock, turnEnd } from '../../../machinery/process/clock.ts';
import { armFailpoints } from '../../../machinery/process/failpoints.ts';
import { systemRandom } from '../../../machinery/process/random.ts';
import type { Scenario } from './scenario.ts';
import { StoreScene } from './store-scene.ts';

/** A disk so slow that everything else has happened before it answers. */
const SLOW_DISK = 'store.before-batch=sleep(40)';

/** Writes, and cuts the power in the turn in which `isTime`. */
async function cutWhen(isTime: (scene: StoreScene, answered: () => boolean) => boolean): Promise<string[]> {
  const scene = await StoreScene.open();
  await scene.put('before');
  armFailpoints(SLOW_DISK);
  let answered = false;
  const writing = scene.put('a').then(() => {
    answered = true;
  });
  while (!isTime(scene, () => answered)) await turnEnd();
  armFailpoints('');
  await scene.crash('off');
  await writing;
  scene.get('a');
  await scene.put('after');
  return scene.violations();
}

async function afterRestart(mutilate: (scene: StoreScene) => Promise<unknown>): Promise<string[]> {
  const scene = await StoreScene.open();
  await scene.put('a');
  await scene.put('b');
  await mutilate(scene);
  await scene.restart();
  await scene.put('c');
  scene.get('a');
  return scene.violations();
}

/** Damages a store that was closed, and opens it again: it must refuse. */
async function damaged(damage: (directory: string) => Promise<void>): Promise<string[]> {
  const scene = await StoreScene.open();
  for (const name of ['a', 'b', 'c', 'd', 'e']) await scene.put(name);
  const { live } = scene;
  await scene.store.close();
  scene.stopJournal();
  await damage(live);
  let store: Store | undefined;
  try {
    store = await openLevelStore(live);
    return ['D5: a damaged store was opened as if nothing were'];
  } catch {
    return [];
  } finally {
    await store?.close();
  }
}

/** Of the five records that `damaged` writes. */
const NEWEST = 6;

async function rewriteRecord(directory: string, revision: number, change: (record: Buffer) => Buffer): Promise<void> {
  const database = new Level<Buffer, Buffer>(join(directory, 'db'), { keyEncoding: 'buffer', valueEncoding: 'buffer' });
  await database.open();
  const record = Buffer.from((await database.get(recordKey(revision)))!);
  await database.put(recordKey(revision), change(record));
  // the log ends with the newest record, as it did
  await database.put(recordKey(NEWEST), (await database.get(recordKey(NEWEST)))!);
  await database.close();
}

/** Another object under the same revision, itself whole. */
function exchanged(record: Buffer): Buffer {
  const { revision, key, previousRevision, previousHash } = decodeRecord(record);
  const bytes = Buffer.from(objectOf(record).toString().replace('"red"', '"tan"'));
  return encodeRecord({ revision, type: 'put', key, previousRevision, bytes }, previousHash);
}

function withFlippedByte(record: Buffer): Buffer {
  const flipped = Buffer.from(record);
  flipped[record.indexOf('"red"') + 1]! ^= 1;
  hashOf(record).copy(flipped, flipped.length - hashOf(record).length);
  return flipped;
}

function cutLog(directory: string): void {
  const database = join(directory, 'db');
  const log = readdirSync(database)
    .filter((name) => name.endsWith('.log'))
    .sort()
    .at(-1)!;
  truncateSync(join(database, log), readFileSync(join(database, log)).length - 3);
}

export const storeMutants: readonly Scenario[] = [
  { mutant: 'store.no-fsync', guarantee: 'D1', run: () => cutWhen((_scene, answered) => answered()) },
  { mutant: 'store.ack-before-fsync', guarantee: 'D1', run: () => cutWhen((_scene, answered) => answered()) },
  { mutant: 'store.publish-before-fsync', guarantee: 'D2', run: () => cutWhen((scene) => scene.get('a')) },
  { mutant: 'store.read-pending', guarantee: 'D2', run: () => cutWhen((scene) => scene.get('a')) },
  { mutant: 'store.revision-in-memory', guarantee: 'D4', run: () => afterRestart((scene) => scene.remove('b')) },
  { mutant: 'store.revision-reset', guarantee: 'D4', run: () => afterRestart(async () => {}) },
  {
    mutant: 'store.compaction-eats-live',
    guarantee: 'D1',
    run: () => afterRestart((scene) => scene.store.compact(scene.store.revision)),
  },
  {
    mutant: 'store.delete-lost-at-compaction',
    guarantee: 'W9',
    run: async () => {
      const scene = await StoreScene.open();
      await scene.put('a');
      const { answer } = await scene.put('b');
      await scene.remove('b');
      await scene.put('c');
      await scene.store.compact(answer!.revision!);
      scene.watch(answer!.revision!);
      for (let i = 0; i < 5; i++) await turnEnd();
      return scene.violations(true);
    },
  },
  {
    mutant: 'store.chain-unchecked',
    guarantee: 'D5',
    run: () => damaged((directory) => rewriteRecord(directory, 3, exchanged)),
  },
  {
    mutant: 'store.hash-unchecked',
    guarantee: 'D5',
    run: () => damaged((directory) => rewriteRecord(directory, 3, withFlippedByte)),
  },
  { mutant: 'store.tail-unchecked', guarantee: 'D1', run: () => damaged(async (directory) => cutLog(directory)) },
  {
    mutant: 'store.order-swapped',
    guarantee: 'W1',
    run: async () => {
      const scene = await StoreScene.open();
      scene.watch(scene.store.revision);
      await Promise.all(['a', 'b', 'c'].map((name) => scene.put(name)));
      return scene.violations();
    },
  },
  {
    mutant: 'store.not-fenced',
    guarantee: 'D1',
    run: async () => {
      const scene = await StoreScene.open();
      await scene.put('a');
      armFailpoints('store.before-batch=1*error(IO error: No space left on device)');
      await scene.put('b');
      await scene.put('c');
      await scene.put('a');
      await scene.crash('on');
      scene.get('a');
      return scene.violations();
    },
  },
  {
    mutant: 'store.quota-ignored',
    guarantee: 'O4',
    run: async () => {
      const scene = await StoreScene.open({ quotaBytes: 4_000 });
      for (let i = 0; i < 40; i++) await scene.put(`o${i}`);
      const { used } = scene.store.size();
      const deletion = await scene.remove('o0');
      const grown = used > 5_000 ? [`O4: the store has grown to ${used} bytes`] : [];
      const stuck = deletion.status === 200 && scene.get('o1') ? [] : ['O4: a full store takes no deletion or read'];
      return [...grown, ...stuck, ...(await scene.violations())];
    },
  },
  {
    mutant: 'restore.revision-kept',
    guarantee: 'D7',
    run: async () => {
      const scene = await StoreScene.open();
      await scene.put('a');
      const file = join(scene.live, 'backup');
      await writeBackup(scene.store, file);
      const { answer } = await scene.put('b');
      const restored = join(scene.live, 'restored');
      await restoreBackup(file, restored, { bumpRevision: 0, random: systemRandom, clock: systemClock });
      const store = await openLevelStore(restored);
      try {
        const { revision } = await store.create('/core/configmaps/default/c', (at) =>
          Buffer.from(`{"metadata":{"resourceVersion":"${at}"}}`),
        );
        return revision > answer!.revision! ? [] : [`D7: revision ${revision} is given, ${answer!.revision} was`];
      } finally {
        await store.close();
      }
    },
  },
  {
    mutant: 'store.cas-skipped',
    guarantee: 'C2',
    run: async () => {
      const scene = await StoreScene.open();
      const { answer } = await scene.put('a', { count: 0 });
      // four have read the counter at 0
      await Promise.all([1, 1, 1, 1].map((count) => scene.put('a', { count, expected: answer!.revision! })));
      return scene.violations();
    },
  },
];
