/** Seeded bugs of the watch hub (W1 to W11). Order is the test's: the clock stands, and a slice of history is one turn of the event loop. */
import { turnEnd } from '../../../machinery/process/clock.ts';
import type { Scenario } from './scenario.ts';
import { BOOKMARK_INTERVAL_MS, StoreScene } from './store-scene.ts';

/** More than a watcher reads in one turn. */
const MANY = 400;
/** Above this a watcher that reads history waits for its client. */
const READ_AHEAD_BYTES = 512 * 1024;

const turns = async (count: number): Promise<void> => {
  for (let i = 0; i < count; i++) await turnEnd();
};

async function resumed(): Promise<string[]> {
  const scene = await StoreScene.open();
  await scene.put('a');
  const { answer } = await scene.put('b');
  await scene.put('c');
  await scene.put('d');
  const watch = scene.watch(answer!.revision!);
  await turns(3);
  scene.settled(watch, scene.store.revision);
  return scene.violations();
}

async function many(scene: StoreScene, count = MANY): Promise<void> {
  await Promise.all(Array.from({ length: count }, (_, i) => scene.put(`o${i}`)));
}

export const watchMutants: readonly Scenario[] = [
  { mutant: 'watch.resume-inclusive', guarantee: 'W2', run: resumed },
  { mutant: 'watch.resume-skips-one', guarantee: 'W2', run: resumed },
  {
    mutant: 'watch.joins-early',
    guarantee: 'W1',
    run: async () => {
      const scene = await StoreScene.open();
      await many(scene);
      const watch = scene.watch(1);
      await turns(1);
      await scene.put('last');
      await turns(3);
      scene.settled(watch, scene.store.revision);
      return scene.violations();
    },
  },
  {
    mutant: 'watch.bookmark-current',
    guarantee: 'W4',
    run: async () => {
      const scene = await StoreScene.open();
      await many(scene);
      const { sink } = scene.watch(1);
      sink.pendingBytes = READ_AHEAD_BYTES + 1;
      await turns(3);
      await scene.clock.advance(BOOKMARK_INTERVAL_MS);
      sink.drain();
      await turns(3);
      return scene.violations();
    },
  },
  {
    mutant: 'watch.slow-skipped',
    guarantee: 'W11',
    run: async () => {
      const scene = await StoreScene.open();
      const { sink } = scene.watch(scene.store.revision);
      await scene.put('a');
      sink.pendingBytes = 1000;
      await scene.put('b');
      sink.pendingBytes = 0;
      await scene.put('c');
      return scene.violations();
    },
  },
  {
    mutant: 'watch.expired-jumps',
    guarantee: 'W3',
    run: async () => {
      const scene = await StoreScene.open();
      const { answer } = await scene.put('a');
      await scene.put('b');
      await scene.put('b');
      await scene.store.compact(scene.store.revision);
      scene.watch(answer!.revision!);
      await turns(3);
      await scene.put('c');
      return scene.violations(true);
    },
  },
  {
    mutant: 'watch.leave-unseen',
    guarantee: 'W7',
    run: async () => {
      const scene = await StoreScene.open();
      scene.watch(scene.store.revision, 'red');
      await scene.put('a', { color: 'red' });
      await scene.put('a', { color: 'blue' });
      await scene.put('b', { color: 'red' });
      return scene.violations();
    },
  },
  {
    mutant: 'watch.state-at-latest',
    guarantee: 'W6',
    run: async () => {
      const scene = await StoreScene.open();
      await many(scene);
      const { sink } = scene.watch('state');
      // the first objects have been sent, the others wait for the client
      sink.pendingBytes = READ_AHEAD_BYTES + 1;
      await scene.put('o1', { color: 'blue' });
      sink.drain();
      await turns(4);
      await scene.put('last');
      await turns(2);
      return scene.violations();
    },
  },
];
