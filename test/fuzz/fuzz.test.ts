/** Every fuzz property for a moment, from a seed of its own that the name shows. `npm run fuzz` runs the same for minutes. */
import { test } from 'node:test';
import { fuzzProperties } from './properties.ts';

const seed = Number(process.hrtime.bigint() % 1_000_000_000n);

for (const { name, check, runs } of fuzzProperties) test(`${name} (seed ${seed})`, () => check(seed, runs));
