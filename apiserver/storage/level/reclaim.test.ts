/** Compaction gives room on the disk back, and writers do not wait for it. */
import assert from 'node:assert/strict';
import { randomFillSync } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import type { Store } from '../interface.ts';
import { sizeOfFiles } from './reclaim.ts';
import { openLevelStore } from './store.ts';

const KEYS = Array.from({ length: 10 }, (_, i) => `/core/pods/x/${i}`);
/** Does not compress. */
const content = (): Buffer => Buffer.from(`"${randomFillSync(Buffer.alloc(6000)).toString('base64')}"`);

const write = (store: Store, key: string): Promise<unknown> => {
  const current = store.get(key);
  return current === undefined ? store.create(key, content) : store.update(key, current.revision, content);
};

it('shrinks the files to about what is kept, while writes go on between its steps', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'flyball-reclaim-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const store = await openLevelStore(directory);
  t.after(() => store.close());
  for (let i = 0; i < 400; i++) await Promise.all(KEYS.map((key) => write(store, key)));
  const full = store.size();
  assert.ok(full.onDisk > 30_000_000, `${full.onDisk} bytes`);

  let compacting = true;
  let meanwhile = 0;
  const traffic = (async () => {
    for (; compacting; meanwhile++) await write(store, KEYS[0]);
  })();
  const target = store.revision;
  await store.compact(target);
  compacting = false;
  await traffic;
  assert.equal(store.compactedRevision, target);
  // 4,000 revisions are 16 steps; each lets writers go first.
  assert.ok(meanwhile >= 16, `${meanwhile} writes`);
  const { used, onDisk } = store.size();
  assert.ok(used < full.used / 10, `${used} of ${full.used} bytes are kept`);
  assert.ok(onDisk < full.onDisk / 2, `${onDisk} of ${full.onDisk} bytes are on the disk`);

  assert.equal(store.list('/').items.length, KEYS.length);
  await store.close();
  const again = await openLevelStore(directory);
  assert.deepEqual([again.compactedRevision, again.count('/')], [target, KEYS.length]);
  await again.close();
});

it('counts nothing where the directory was taken away, instead of ending whoever measures', () => {
  assert.equal(sizeOfFiles(join(tmpdir(), 'flyball-there-is-no-such-directory')), 0);
});
