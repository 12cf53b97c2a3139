/** Whatever the order of steps, however late the copies and wherever the loops are killed: a rollout keeps its bounds and comes to its end. */
import { test } from 'node:test';
import fc from 'fast-check';
import { play, type Scenario } from './testing/rollout.ts';

const scenario: fc.Arbitrary<Scenario> = fc.record({
  seed: fc.integer({ min: 1, max: 2 ** 31 }),
  replicas: fc.integer({ min: 0, max: 7 }),
  surge: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constantFrom('25%', '0%', '50%')),
  unavailable: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constantFrom('25%', '0%')),
  recreate: fc.integer({ min: 0, max: 5 }).map((n) => n === 0),
  together: fc.boolean(),
  scaled: fc.boolean(),
  steps: fc.integer({ min: 50, max: 600 }),
});

/** Lives that showed a wrong count of possible or of surely available pods while this was built, by the loops or by this test. */
const found: readonly Scenario[] = [
  { seed: 1934395814, replicas: 6, surge: 0, unavailable: '25%', recreate: false, together: false, scaled: false, steps: 124 },
  { seed: 24, replicas: 2, surge: 1, unavailable: 0, recreate: false, together: false, scaled: false, steps: 597 },
  { seed: 1416581780, replicas: 3, surge: '25%', unavailable: 0, recreate: true, together: false, scaled: true, steps: 50 },
  { seed: 44933787, replicas: 1, surge: 0, unavailable: 0, recreate: true, together: true, scaled: true, steps: 50 },
];

test('a rollout keeps its bounds and completes, however its loops are interleaved, delayed and killed', () => {
  fc.assert(fc.property(scenario, play), { numRuns: 1000, verbose: 1, examples: found.map((example): [Scenario] => [example]) });
});
