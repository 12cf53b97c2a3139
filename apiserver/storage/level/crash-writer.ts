/**
 * For crash.test.ts: a process that writes through the store as fast as it can and tells, line by line, what was acknowledged. It is killed.
 * Arguments: directory, seed.
 */
import { writeSync } from 'node:fs';
import { systemClock } from '../../../machinery/process/clock.ts';
import { seededRandom } from '../../../machinery/process/random.ts';
import { openLevelStore } from './store.ts';

const [directory, seed] = process.argv.slice(2);
const random = seededRandom(Number(seed));
const WRITERS = 16;
const KEYS = 40;

const store = await openLevelStore(directory);
writeSync(1, `open ${store.revision} ${store.compactedRevision}\n`);

async function write(): Promise<void> {
  const key = `/core/pods/x/p${random.integer(KEYS)}`;
  const text = `${random.uuid()}${'x'.repeat(random.integer(2000))}`;
  const encode = (revision: number): Buffer => Buffer.from(`{"v":"${text}","revision":${revision}}`);
  const current = store.get(key);
  const choice = current === undefined ? 'create' : random.integer(5) === 0 ? 'delete' : 'update';
  const stored = await (choice === 'create'
    ? store.create(key, encode)
    : choice === 'delete'
      ? store.delete(key, current!.revision, encode)
      : store.update(key, current!.revision, encode));
  // Synchronous, so that what was acknowledged reaches the parent even if the next instruction is the last.
  writeSync(1, `ack ${stored.revision} ${choice} ${key} ${text}\n`);
}

for (let i = 0; i < WRITERS; i++) {
  void (async () => {
    for (;;) await write().catch(() => {});
  })();
}
for (;;) {
  await systemClock.sleep(20);
  await store.compact(store.revision - 200);
}
