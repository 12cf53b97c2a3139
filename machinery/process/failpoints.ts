/**
 * Named places where a test may make a process crash, fail or stall, as etcd's gofail. Off, they cost one comparison.
 *
 * Armed by text: `name=[S+][N*][P%]action[(argument)]`, several separated by `;`. Actions: `crash` (SIGKILL to ourselves: no cleanup, as a real
 * crash), `error(text)`, `sleep(ms)`, `count` (only counted). `7+` lets seven passes go by, `3*` acts in the first three then, `20%` in one of five.
 * Worked example: `replicaset.between-actions=2*sleep(50);gc.before-delete=10%crash`.
 */

import { type Clock, systemClock } from './clock.ts';
import { type Random, systemRandom } from './random.ts';

interface Armed {
  readonly action: 'crash' | 'error' | 'sleep' | 'count';
  readonly argument: string;
  readonly probability: number;
  skipped: number;
  remaining: number;
  passes: number;
}

let armed: Map<string, Armed> | undefined;
let random: Random = systemRandom;
let clock: Clock = systemClock;

/** Replaces everything armed before; '' disarms. Throws on text it cannot read. */
export function armFailpoints(text: string, deps: { random?: Random; clock?: Clock } = {}): void {
  random = deps.random ?? systemRandom;
  clock = deps.clock ?? systemClock;
  const parsed = new Map<string, Armed>();
  for (const term of text.split(';')) {
    if (term.trim() === '') continue;
    const match = /^\s*([\w.<>/-]+)\s*=\s*(?:(\d+)\+)?(?:(\d+)\*)?(?:(\d+(?:\.\d+)?)%)?(crash|error|sleep|count)(?:\(([^)]*)\))?\s*$/.exec(
      term,
    );
    if (!match) throw new Error(`failpoint "${term.trim()}" is not name=[S+][N*][P%]crash|error(text)|sleep(ms)|count`);
    const [, name, skip, count, percent, action, argument] = match;
    parsed.set(name!, {
      action: action as Armed['action'],
      argument: argument ?? '',
      probability: percent === undefined ? 1 : Number(percent) / 100,
      skipped: Number(skip ?? 0),
      remaining: count === undefined ? Number.POSITIVE_INFINITY : Number(count),
      passes: 0,
    });
  }
  armed = parsed.size === 0 ? undefined : parsed;
}

/** How often each armed failpoint was passed. */
export function failpointPasses(): Readonly<Record<string, number>> {
  return Object.fromEntries([...(armed ?? [])].map(([name, point]) => [name, point.passes]));
}

/** A place that may crash or throw. A `sleep` armed here blocks the whole process, as a stop-the-world pause would. */
export function failpoint(name: string): void {
  if (armed === undefined) return;
  const point = strike(name);
  if (point?.action === 'sleep') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(point.argument));
}

/** A place that may also wait without blocking the process: `await asyncFailpoint('x')`. */
export function asyncFailpoint(name: string): Promise<void> | undefined {
  if (armed === undefined) return undefined;
  const point = strike(name);
  return point?.action === 'sleep' ? clock.sleep(Number(point.argument)) : undefined;
}

function strike(name: string): Armed | undefined {
  const point = armed?.get(name);
  if (!point) return undefined;
  point.passes++;
  if (point.passes <= point.skipped) return undefined;
  if (point.remaining <= 0 || (point.probability < 1 && random.next() >= point.probability)) return undefined;
  point.remaining--;
  if (point.action === 'crash') process.kill(process.pid, 'SIGKILL');
  if (point.action === 'error') throw new Error(point.argument || `failpoint ${name}`);
  return point;
}
