/** The store alone, killed, cut off from power and damaged at every place (guarantees D1 to D5); and that this finds seeded bugs. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { systemRandom } from '../../../machinery/process/random.ts';
import { attackStore, STORE_COUNTS } from './attack.ts';

const seed = Number(process.env['FLYBALL_SEED'] ?? systemRandom.integer(1_000_000));

it('keeps what it acknowledged, through deaths, power cuts and damage at any place', async (t) => {
  t.diagnostic(`seed ${seed}`);
  const verdicts = await attackStore({ seed, counts: STORE_COUNTS.test, tell: (line) => t.diagnostic(line) });
  assert.deepEqual(
    Object.values(verdicts).flatMap(({ violations }) => violations),
    [],
  );
});

describe('the attacks find', () => {
  const found = async (counts: Partial<typeof STORE_COUNTS.test>, mutants: readonly string[]): Promise<string> => {
    const verdicts = await attackStore({ seed, counts: { kills: 0, cuts: 0, sweeps: 0, ...counts } as never, mutants });
    return Object.values(verdicts)
      .flatMap(({ violations }) => violations)
      .join('\n');
  };
  const cases: [mutant: string, counts: Record<string, number>, finding: RegExp][] = [
    ['store.no-fsync', { cuts: 30 }, /\(D1\)|but \d+ was reached/],
    ['store.ack-before-fsync', { cuts: 60 }, /\(D1\)/],
    ['store.publish-before-fsync', { cuts: 60 }, /\(D2, D4\)/],
    ['store.revision-reset', { kills: 30 }, /\(D4\)/],
    ['store.order-swapped', { kills: 3 }, /\(W1\)/],
    ['store.compaction-eats-live', { kills: 30 }, /./],
  ];
  for (const [mutant, counts, finding] of cases) {
    it(mutant, async () => assert.match(await found(counts, [mutant]), finding));
  }
});
