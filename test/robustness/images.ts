/**
 * Power cuts without a server: one store is written to, and at each moment a copy of it is cut back to what was flushed, opened and compared. Many
 * hundreds of images a minute.
 */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Store } from '../../apiserver/storage/interface.ts';
import { openLevelStore } from '../../apiserver/storage/level/store.ts';
import { turnEnd } from '../../machinery/process/clock.ts';
import { type Random, seededRandom } from '../../machinery/process/random.ts';
import { keepJournal } from './journal.ts';
import { cutPower } from './power-cut.ts';

interface Known {
  readonly key: string;
  readonly text: string;
}

/** Violations, in words. One database at a time: the journal listens to all of the process. */
export async function cutImages(count: number, seed: number): Promise<string[]> {
  const directory = mkdtempSync(join(tmpdir(), 'flyball-images-'));
  const journal = keepJournal(directory);
  const random = seededRandom(seed);
  try {
    const violations: string[] = [];
    const acknowledged = new Map<number, Known>();
    const live = join(directory, 'live');
    const store = await openLevelStore(live);
    for (let i = 0; i < count; i++)
      violations.push(...(await oneCut({ store, live, image: join(directory, `image${i}`) }, acknowledged, random, i)));
    await store.close();
    return violations;
  } finally {
    journal.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

interface Cutting {
  readonly store: Store;
  readonly live: string;
  readonly image: string;
}

async function oneCut({ store, live, image }: Cutting, acknowledged: Map<number, Known>, random: Random, round: number): Promise<string[]> {
  const writing = Array.from({ length: 1 + random.integer(6) }, (_, i) => write(store, acknowledged, random, `${round}-${i}`));
  if (random.integer(2) === 0) await Promise.all(writing);
  else await turnEnd();
  if (random.integer(10) === 0) await store.compact(store.revision - random.integer(20));
  const expected = new Map(acknowledged);
  const synced = join(live, '..', 'synced.jsonl');
  cpSync(live, image, { recursive: true });
  const cut = cutPower(image, synced, random);
  await Promise.all(writing);
  const what = `image ${round} (${JSON.stringify(cut)})`;
  try {
    const again = await openLevelStore(image);
    const violations = [...expected]
      .filter(([revision, known]) => !has(again, revision, known))
      .map(([revision]) => `${what} has lost revision ${revision}`);
    await again.close();
    return violations;
  } catch (error) {
    return [`${what} does not open: ${error}`];
  } finally {
    rmSync(image, { recursive: true, force: true });
  }
}

const KEYS = 30;

async function write(store: Store, acknowledged: Map<number, Known>, random: Random, text: string): Promise<void> {
  const key = `/core/configmaps/x/c${random.integer(KEYS)}`;
  const encode = (revision: number): Buffer =>
    Buffer.from(JSON.stringify({ metadata: { name: text, resourceVersion: String(revision) }, data: 'x'.repeat(random.integer(2000)) }));
  const current = store.get(key);
  const written = current === undefined ? store.create(key, encode) : store.update(key, current.revision, encode);
  // a conflict with a write of the same round is no news
  const stored = await written.catch(() => undefined);
  if (stored !== undefined) acknowledged.set(stored.revision, { key, text });
}

/** The write is there, or a later one of the same key. */
function has(store: Store, revision: number, { key, text }: Known): boolean {
  const current = store.get(key);
  if (store.revision < revision || current === undefined || current.revision < revision) return false;
  return current.revision > revision || JSON.parse(current.bytes.toString()).metadata.name === text;
}
