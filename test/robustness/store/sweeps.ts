/**
 * Every place, one after the other: the log of one run cut at each length, and with each bit of its last record flipped; each byte of its tables
 * changed. A store must show all that was acknowledged or refuse to open and leave the files as they are; it must never show less or other.
 */
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Store, StoreDamaged } from '../../../apiserver/storage/interface.ts';
import { openLevelStore } from '../../../apiserver/storage/level/store.ts';
import { newestLog } from '../journal.ts';
import type { CycleOptions, Verdict } from './kills.ts';

const LAST_BYTES = 64 * 1024;

/** About `count` of the places of each sweep, evenly spread from a random one; all of them when `count` is infinite. */
export async function sweeps({ directory, random, count }: Omit<CycleOptions, 'bundle' | 'mutants'>): Promise<Verdict> {
  const live = join(directory, 'live');
  const expected = await write(live);
  const log = join('db', newestLog(join(live, 'db'))!.file);
  const bytes = readFileSync(join(live, log));
  const sweep = new Sweep(live, join(directory, 'image'), expected);
  const places = (from: number, to: number): Iterable<number> => spread(from, to, count, random.integer(1000));
  for (const length of places(Math.max(0, bytes.length - LAST_BYTES), bytes.length)) {
    await sweep.try(`${log} cut to ${length}`, log, bytes.subarray(0, length), 'refuses');
  }
  for (const bit of places(8 * expected.beforeLast, 8 * bytes.length)) {
    await sweep.try(`${log} with bit ${bit} flipped`, log, flipped(bytes, bit), 'refuses');
  }
  for (const bit of places(0, 8 * bytes.length)) await sweep.try(`${log} with bit ${bit} flipped`, log, flipped(bytes, bit), 'refuses');
  const tables = await settled(live);
  for (const table of tables) {
    const whole = readFileSync(join(live, table));
    for (const bit of places(0, 8 * whole.length))
      await sweep.try(`${table} with bit ${bit} flipped`, table, flipped(whole, bit), 'either');
  }
  rmSync(join(directory, 'image'), { recursive: true, force: true });
  return { cycles: sweep.tried, acknowledged: expected.revision - 1, violations: sweep.violations };
}

interface Expected {
  readonly state: string;
  readonly revision: number;
  /** Length of the log before the last group. */
  readonly beforeLast: number;
}

/** Leaves a directory as a killed process does: everything in the log. */
async function write(directory: string): Promise<Expected> {
  const store = await openLevelStore(`${directory}-writing`);
  const encode = (revision: number): Buffer => Buffer.from(`{"revision":${revision},"rest":"${'x'.repeat(revision % 90)}"}`);
  for (let i = 0; i < 500; i++) {
    const key = `/core/pods/x/p${i % 60}`;
    const current = store.get(key);
    await (current === undefined ? store.create(key, encode) : store.update(key, current.revision, encode));
  }
  const log = join(`${directory}-writing`, 'db', newestLog(join(`${directory}-writing`, 'db'))!.file);
  const beforeLast = readFileSync(log).length;
  await Promise.all(Array.from({ length: 3 }, (_, i) => store.create(`/core/pods/y/${i}`, encode)));
  cpSync(`${directory}-writing`, directory, { recursive: true });
  const expected = { state: stateOf(store), revision: store.revision, beforeLast };
  await store.close();
  return expected;
}

/** The same data in tables: opened and closed once. Answers the files that hold it together. */
async function settled(directory: string): Promise<string[]> {
  await (await openLevelStore(directory)).close();
  const files = readdirSync(join(directory, 'db')).filter((name) => /\.ldb$|^MANIFEST-|^CURRENT$/.test(name));
  return ['TAIL', 'READY', ...files.map((name) => join('db', name))];
}

class Sweep {
  readonly #live: string;
  readonly #image: string;
  readonly #expected: Expected;
  readonly violations: string[] = [];
  tried = 0;

  constructor(live: string, image: string, expected: Expected) {
    this.#live = live;
    this.#image = image;
    this.#expected = expected;
  }

  async try(what: string, file: string, content: Buffer, must: 'refuses' | 'either'): Promise<void> {
    this.tried++;
    rmSync(this.#image, { recursive: true, force: true });
    cpSync(this.#live, this.#image, { recursive: true });
    writeFileSync(join(this.#image, file), content);
    try {
      const store = await openLevelStore(this.#image);
      const isSame = stateOf(store) === this.#expected.state && store.revision === this.#expected.revision;
      await store.close();
      if (!isSame) this.violations.push(`${what}: opened with another state (D1)`);
      else if (must === 'refuses') this.violations.push(`${what}: opened as if nothing were`);
    } catch (error) {
      if (!(error instanceof StoreDamaged)) this.violations.push(`${what}: ${String(error)}`);
      else if (must === 'refuses' && !readFileSync(join(this.#image, file)).equals(content))
        this.violations.push(`${what}: the damaged file was changed`);
    }
  }
}

function stateOf(store: Store): string {
  return store
    .changes('/', store.compactedRevision, Number.POSITIVE_INFINITY)
    .changes.map(({ type, current }) => `${type} ${current.key} ${current.bytes.toString()}`)
    .join('\n');
}

function flipped(bytes: Buffer, bit: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[bit >>> 3] ^= 1 << (bit & 7);
  return copy;
}

function* spread(from: number, to: number, count: number, offset: number): Iterable<number> {
  const step = Math.max(1, Math.ceil((to - from) / count));
  for (let place = from + (offset % step); place < to; place += step) yield place;
}
