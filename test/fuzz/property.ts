/**
 * A property of the fuzz suite: what must hold for every input of a kind. `npm test` runs each for a moment, `npm run fuzz` for minutes; both print the
 * seed that repeats a failure.
 */
import assert from 'node:assert/strict';
import fc from 'fast-check';

export interface FuzzProperty {
  /** A sentence of behaviour. */
  readonly name: string;
  /** Runs `numRuns` cases drawn from `seed`. Throws with the shrunk counterexample. */
  check(seed: number, numRuns: number): void;
  /** Cases of one round in `npm test`; cheap properties take more. */
  readonly runs: number;
}

export interface PropertyOptions {
  readonly runs?: number;
}

export function property<T>(name: string, input: fc.Arbitrary<T>, holds: (value: T) => void, options: PropertyOptions = {}): FuzzProperty {
  return {
    name,
    runs: options.runs ?? 200,
    check: (seed, numRuns) => {
      fc.assert(
        fc.property(input, (value) => {
          holds(value);
        }),
        { seed, numRuns, includeErrorInReport: true },
      );
    },
  };
}

/** One input may take so long at most, whatever it is: what takes longer would let a small request stop the server. */
const MAX_MS = 2_000;

function timed<T>(run: () => T): T {
  const started = performance.now();
  const inTime = (): void => {
    const took = performance.now() - started;
    if (took > MAX_MS) assert.fail(`took ${Math.round(took)} ms`);
  };
  let result: T;
  try {
    result = run();
  } catch (error) {
    inTime();
    throw error;
  }
  inTime();
  return result;
}

/** The result, or undefined when `run` refuses its input with an error of `expected`; any other error passes through. */
export function accepted<T>(run: () => T, ...expected: readonly (abstract new (...args: never[]) => Error)[]): T | undefined {
  try {
    return timed(run);
  } catch (error) {
    // A TypeError of ours is no refusal.
    if (expected.some((type) => error instanceof type)) return undefined;
    throw error;
  }
}
