/**
 * Seeded bugs that show where two writes meet before either is on the disk, at the very revision up to which history was let go, and in requests
 * that must do nothing (D2, W1, W3, R4, R7, C5, C8).
 */
import { configmaps } from '../../../machinery/client/resource-type.ts';
import { turnEnd } from '../../../machinery/process/clock.ts';
import { armFailpoints } from '../../../machinery/process/failpoints.ts';
import { sleep } from '../../../scripts/chaos/history.ts';
import { TOKEN } from '../history.ts';
import { ApiScene, configMap, target } from './api-scene.ts';
import type { Scenario } from './scenario.ts';
import { StoreScene } from './store-scene.ts';

const ALL = { type: configmaps, namespace: 'default' };
/** All that is sent meanwhile has been decided when the disk answers. */
const SLOW_DISK = 'store.before-batch=sleep(150)';
const A_WHILE_MS = 40;

/** Sends one after the other, each when the one before has been decided; none waits for the answer to another. */
async function inOneGroup(scene: ApiScene, ...writes: (() => Promise<unknown>)[]): Promise<void> {
  armFailpoints(SLOW_DISK);
  const sent: Promise<unknown>[] = [scene.recorded.create(configmaps, configMap('occupies-the-disk'))];
  for (const write of writes) {
    await sleep(A_WHILE_MS);
    sent.push(write());
  }
  await Promise.all(sent);
  armFailpoints('');
}

type Watch = ApiScene['recorded']['watch'];
type Seen = Parameters<NonNullable<Parameters<Watch>[2]['onEvent']>>[0];

/** Watches from an answered write on, until the last event that is waited for. */
function watchUntil(
  { recorded }: ApiScene,
  asked: Parameters<Watch>[0],
  since: { readonly revision?: number | undefined } | undefined,
  isLast: (event: Seen) => boolean,
): ReturnType<Watch> {
  const over = new AbortController();
  const onEvent = (event: Seen): void => {
    if (isLast(event)) over.abort();
  };
  return recorded.watch(asked, since!.revision!, { signal: over.signal, onEvent });
}

/** Watches resume at each revision around the one up to which history was let go. */
async function resumedAroundCompaction(): Promise<string[]> {
  const scene = await StoreScene.open();
  for (const name of ['a', 'b', 'c']) await scene.put(name);
  const { answer } = await scene.put('b');
  for (const name of ['c', 'a']) await scene.put(name);
  const compacted = answer!.revision!;
  await scene.store.compact(compacted);
  for (const from of [compacted - 1, compacted, compacted + 1]) scene.watch(from);
  for (let i = 0; i < 5; i++) await turnEnd();
  return scene.violations(true);
}

export const raceMutants: readonly Scenario[] = [
  { mutant: 'store.resume-below-compaction', guarantee: 'W3', run: resumedAroundCompaction },
  { mutant: 'store.expired-early', guarantee: 'W3', run: resumedAroundCompaction },
  {
    mutant: 'store.delete-overtakes',
    guarantee: 'C5',
    run: async () => {
      const scene = await ApiScene.open();
      const { recorded } = scene;
      const { answer } = await recorded.create(configmaps, configMap('a'));
      const resourceVersion = String(answer?.revision);
      await inOneGroup(
        scene,
        () => recorded.patch(target('a'), { labels: { color: 'blue' } }),
        () => recorded.delete(target('a'), { resourceVersion }),
      );
      return scene.violations();
    },
  },
  {
    mutant: 'store.refused-early',
    guarantee: 'D2',
    run: async () => {
      const scene = await ApiScene.open();
      const { recorded } = scene;
      await inOneGroup(
        scene,
        () => recorded.create(configmaps, configMap('a')),
        async () => {
          await recorded.create(configmaps, configMap('a', { [TOKEN]: 'other' }));
          await recorded.get(target('a'));
        },
      );
      return scene.violations();
    },
  },
  {
    mutant: 'watch.coalesced',
    guarantee: 'W1',
    run: async () => {
      const scene = await ApiScene.open();
      const { recorded } = scene;
      const { answer } = await recorded.create(configmaps, configMap('a'));
      const watching = watchUntil(scene, ALL, answer, (event) => event.type !== 'BOOKMARK' && event.key.endsWith('/last'));
      await inOneGroup(
        scene,
        () => recorded.delete(target('a')),
        () => recorded.create(configmaps, configMap('a', { [TOKEN]: 'again' })),
      );
      await recorded.create(configmaps, configMap('last'));
      await watching;
      return scene.violations();
    },
  },
  {
    mutant: 'watch.name-anywhere',
    guarantee: 'W1',
    run: async () => {
      const scene = await ApiScene.open();
      const { recorded } = scene;
      const { answer } = await recorded.create(configmaps, configMap('a'));
      const watching = watchUntil(scene, { ...ALL, name: 'a' }, answer, (event) => event.type === 'MODIFIED');
      await sleep(A_WHILE_MS * 5);
      const { metadata, ...rest } = configMap('a', { [TOKEN]: 'namesake' });
      await recorded.create(configmaps, { ...rest, metadata: { ...metadata, namespace: 'kube-public' } });
      await recorded.patch(target('a'), { labels: { color: 'blue' } });
      await watching;
      return scene.violations();
    },
  },
  {
    mutant: 'list.exact-ignored',
    guarantee: 'R4',
    run: async () => {
      const scene = await ApiScene.open();
      const { answer } = await scene.recorded.create(configmaps, configMap('a'));
      await scene.recorded.create(configmaps, configMap('b'));
      await scene.recorded.list(ALL, { resourceVersion: String(answer?.revision), exact: true });
      return scene.violations();
    },
  },
  {
    mutant: 'list.restarts-silently',
    guarantee: 'R7',
    run: async () => {
      const scene = await ApiScene.open(undefined, { compactionIntervalMs: 100 });
      const { recorded } = scene;
      for (const name of ['a', 'b', 'c', 'd']) await recorded.create(configmaps, configMap(name));
      const goOn = async (): Promise<void> => {
        for (let i = 0; i < 5; i++) {
          await sleep(110);
          await recorded.patch(target('d'), { labels: { turn: String(i) } });
        }
      };
      await recorded.list(ALL, { limit: 2, betweenPages: goOn });
      return scene.violations(true);
    },
  },
  {
    mutant: 'create.trial-stored',
    guarantee: 'C8',
    run: async () => {
      const scene = await ApiScene.open();
      await scene.recorded.create(configmaps, configMap('a'), { dryRun: true });
      return scene.violations();
    },
  },
];
