/**
 * A process that writes through the store as fast as it can and tells, line by line, what was acknowledged and what was flushed. It is killed, or its
 * disk is taken away. No HTTP: a cycle takes a tenth of a second.
 *
 *   open REVISION COMPACTED      at the start
 *   sync FILE LENGTH             a flush returned; the active log file was that long
 *   seen FIRST LAST COUNT        a watcher of everything was shown these revisions
 *   ack REVISION KEY TEXT        a write was acknowledged (TEXT `-` for a deletion)
 *   failed                       the store takes no more writes; the process ends with 3
 */
import { readdirSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { Level } from 'level';
import { openLevelStore } from '../../../apiserver/storage/level/store.ts';
import { systemClock } from '../../../machinery/process/clock.ts';
import { armFailpoints } from '../../../machinery/process/failpoints.ts';
import { armMutants } from '../../../machinery/process/mutants.ts';
import { seededRandom } from '../../../machinery/process/random.ts';
import type { WriterOptions } from './run-writer.ts';

const options = JSON.parse(process.argv[2]) as WriterOptions;
const random = seededRandom(options.seed);

// Synchronous, so that what is told has been told even if the next instruction is the last.
const tell = (line: string): void => void writeSync(1, `${line}\n`);

function tellFlushes(): void {
  const { batch, put } = Level.prototype as unknown as Record<'batch' | 'put', (...args: unknown[]) => Promise<void>>;
  const tellFlush = (database: Level): void => {
    const log = readdirSync(database.location)
      .filter((name) => name.endsWith('.log'))
      .sort()
      .at(-1);
    if (log !== undefined) tell(`sync ${log} ${statSync(join(database.location, log)).size}`);
  };
  const observed = {
    async batch(this: Level, operations: unknown, how: { sync?: boolean }): Promise<void> {
      await batch.call(this, operations, how);
      if (how.sync) tellFlush(this);
    },
    async put(this: Level, key: unknown, value: unknown, how: { sync?: boolean }): Promise<void> {
      await put.call(this, key, value, how);
      if (how.sync) tellFlush(this);
    },
  };
  Object.assign(Level.prototype, observed);
}

tellFlushes();
armMutants(...(options.mutants ?? []));
if (options.failpoints !== undefined) armFailpoints(options.failpoints);
const store = await openLevelStore(options.directory);
tell(`open ${store.revision} ${store.compactedRevision}`);
store.watch('/', store.revision, (changes) => {
  if (changes.length > 0) tell(`seen ${changes[0].current.revision} ${changes[changes.length - 1].current.revision} ${changes.length}`);
});
void store.failed.then(() => {
  tell('failed');
  process.exit(3);
});

async function write(): Promise<void> {
  const key = `/core/pods/x/p${random.integer(options.keys)}`;
  const text = `${random.uuid()}${'x'.repeat(random.integer(options.textBytes))}`;
  const encode = (revision: number): Buffer => Buffer.from(`{"v":"${text}","revision":${revision}}`);
  const current = store.get(key);
  if (current === undefined) tell(`ack ${(await store.create(key, encode)).revision} ${key} ${text}`);
  else if (random.integer(5) > 0) tell(`ack ${(await store.update(key, current.revision, encode)).revision} ${key} ${text}`);
  else tell(`ack ${(await store.delete(key, current.revision, encode)).revision} ${key} -`);
}

for (let i = 0; i < options.writers; i++) {
  void (async () => {
    for (;;) await write().catch(() => {});
  })();
}
for (;;) {
  await systemClock.sleep(options.compactEveryMs ?? 20);
  if (options.compactEveryMs !== undefined) await store.compact(store.revision - 100);
}
