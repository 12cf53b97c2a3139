/** Quantities: canonical forms, rounding, arithmetic. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  canonicalQuantity,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  quantityMilli,
  quantityValue,
  roundUpToMilli,
} from './quantity.ts';

test('quantities are stored in the form upstream stores them in', () => {
  const cases: [string | number, string][] = [
    ['1000m', '1'],
    ['1024Mi', '1Gi'],
    [0.5, '500m'],
    ['1000000', '1M'],
    ['1e1', '10'],
    ['1E3', '1E3'],
    ['1.5e0', '1500e-3'],
    ['1.5Gi', '1536Mi'],
    ['0.5Ki', '512'],
    ['0.10Gi', '107374182400m'],
    ['+007', '+007'],
    ['007', '007'],
    ['e3', '0'],
    ['+', '0'],
    ['2048Mi', '2Gi'],
    ['0', '0'],
    ['-1', '-1'],
    ['1048576', '1048576'],
    ['1500m', '1500m'],
    ['.5', '500m'],
    ['1.', '1.'],
    ['1000E', '1e21'],
    ['0.0000000001', '1n'],
    ['9223372036854775808', '9223372036854775808'],
  ];
  for (const [text, canonical] of cases) assert.equal(canonicalQuantity(text), canonical, String(text));
});

test('a resource list rounds to thousandths, upwards', () => {
  for (const text of ['0.0001', '100u']) assert.equal(formatQuantity(roundUpToMilli(parseQuantity(text))), '1m');
  assert.equal(formatQuantity(roundUpToMilli(parseQuantity('+007'))), '+007');
});

test('what is no quantity is refused in upstream words', () => {
  const format = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
  for (const text of ['', 'one', '1gb', '1 Gi', 'true', '1.2.3']) assert.throws(() => parseQuantity(text), { message: format }, text);
  for (const text of ['1e', '1ki', '1mm', '1Ki1'])
    assert.throws(() => parseQuantity(text), { message: "unable to parse quantity's suffix" }, text);
});

test('values and thousandths are rounded up', () => {
  assert.equal(quantityValue(parseQuantity('1500m')), 2);
  assert.equal(quantityMilli(parseQuantity('0.0001')), 1);
  assert.equal(quantityValue(parseQuantity('1Gi')), 1024 ** 3);
  assert.equal(quantityValue(parseQuantity('-1500m')), -2);
});

test('an enormous exponent costs nothing and is capped', () => {
  assert.equal(quantityValue(parseQuantity('1e999999999')), Number(2n ** 63n - 1n));
  assert.equal(compareQuantities(parseQuantity('1e999999999'), parseQuantity('1')), 1);
});
