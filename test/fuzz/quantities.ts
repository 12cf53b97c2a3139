/** Quantities against exact arithmetic, and against any text. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  addQuantities,
  canonicalQuantity,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  quantityMilli,
  quantityValue,
  roundUpToMilli,
  subtractQuantities,
} from '../../machinery/api/quantity.ts';
import { textOf } from './arbitraries.ts';
import { accepted, type FuzzProperty, property } from './property.ts';

/** What one unit of a suffix is, in millionths. */
const MICRO: Readonly<Record<string, bigint>> = {
  u: 1n,
  m: 1_000n,
  '': 1_000_000n,
  k: 1_000_000_000n,
  M: 10n ** 12n,
  G: 10n ** 15n,
  e3: 1_000_000_000n,
  Ki: 1024n * 1_000_000n,
  Mi: 1024n ** 2n * 1_000_000n,
  Gi: 1024n ** 3n * 1_000_000n,
};

const amount = fc.tuple(fc.integer({ min: -1_000_000, max: 1_000_000 }), fc.constantFrom(...Object.keys(MICRO)));
const exact = ([n, suffix]: readonly [number, string]): bigint => BigInt(n) * MICRO[suffix]!;
const read = ([n, suffix]: readonly [number, string]): ReturnType<typeof parseQuantity> => parseQuantity(`${n}${suffix}`);
const sign = (n: bigint): number => (n > 0n ? 1 : n < 0n ? -1 : 0);
const ceil = (n: bigint, by: bigint): bigint => n / by + (n > 0n && n % by !== 0n ? 1n : 0n);
const floor = (n: bigint, by: bigint): bigint => n / by - (n < 0n && n % by !== 0n ? 1n : 0n);
/** Away from zero, as Go's ScaledValue rounds. */
const awayFromZero = (n: bigint, by: bigint): bigint => (n < 0n ? floor(n, by) : ceil(n, by));

const text = fc.oneof(
  textOf('1', '0', '9', '.', '-', '+', 'e', 'E', 'n', 'u', 'm', 'k', 'K', 'i', 'M', 'G', 'T', 'P', ' '),
  fc
    .tuple(fc.stringMatching(/^[-+]?[0-9]{0,30}\.?[0-9]{0,30}$/), fc.stringMatching(/^([eE][-+]?[0-9]{1,12}|[numkMGTPE]?|[KMGTPE]i)$/))
    .map((parts) => parts.join('')),
);

export const quantityProperties: readonly FuzzProperty[] = [
  property('printing a quantity and reading it again changes neither the amount nor the text', amount, ([n, suffix]) => {
    const once = canonicalQuantity(`${n}${suffix}`);
    assert.equal(compareQuantities(parseQuantity(once), parseQuantity(`${n}${suffix}`)), 0);
    assert.equal(canonicalQuantity(once), once);
  }),
  property('quantities add, subtract and compare as exact numbers do', fc.tuple(amount, amount), ([a, b]) => {
    const [x, y] = [read(a), read(b)];
    assert.equal(compareQuantities(x, y), sign(exact(a) - exact(b)));
    const [plus, minus] = [exact(a) + exact(b), exact(a) - exact(b)];
    assert.equal(compareQuantities(addQuantities(x, y), parseQuantity(`${plus}u`)), 0);
    assert.equal(compareQuantities(subtractQuantities(x, y), parseQuantity(`${minus}u`)), 0);
    assert.equal(compareQuantities(subtractQuantities(addQuantities(x, y), y), x), 0);
  }),
  property('values and thousandths of quantities are rounded away from zero', amount, (a) => {
    assert.equal(BigInt(quantityValue(read(a))), awayFromZero(exact(a), 1_000_000n));
    assert.equal(BigInt(quantityMilli(read(a))), awayFromZero(exact(a), 1_000n));
    const rounded = roundUpToMilli(read(a));
    assert.ok(exact(a) < 0n || compareQuantities(rounded, read(a)) >= 0);
  }),
  property(
    'any text is a quantity that prints and reads again, or is refused in one of two sentences',
    text,
    (input) => {
      const parsed = accepted(() => parseQuantity(input), Error);
      if (parsed === undefined) {
        assert.throws(
          () => parseQuantity(input),
          /^Error: (quantities must match the regular expression|unable to parse quantity's suffix)/,
        );
        return;
      }
      const again = parseQuantity(formatQuantity(parsed));
      assert.equal(compareQuantities(again, parsed), 0, `${input} → ${formatQuantity(parsed)}`);
      quantityValue(parsed);
      quantityMilli(parsed);
      formatQuantity(roundUpToMilli(addQuantities(parsed, parseQuantity('1m'))));
    },
    { runs: 500 },
  ),
];
