/** Durations, ages, times and percentages: what is read, what is printed, what is refused. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatDurationNs, humanDuration, parseDuration } from './duration.ts';
import { IntOrStringError, scaledValue } from './intstr.ts';
import { canonicalMicroTime, canonicalTime, formatMicroTime, formatTime, parseTime } from './time.ts';

test('durations are read and printed as Go does', () => {
  const cases: [string, number, string][] = [
    ['0', 0, '0s'],
    ['1h30m', 5_400_000, '1h30m0s'],
    ['250ms', 250, '250ms'],
    ['1.5s', 1500, '1.5s'],
    ['-2m', -120_000, '-2m0s'],
    ['100us', 0.1, '100µs'],
  ];
  for (const [text, ms, printed] of cases) {
    assert.equal(parseDuration(text), ms);
    assert.equal(formatDurationNs(BigInt(Math.round(ms * 1e6))), printed);
  }
  assert.throws(() => parseDuration('5'), { message: 'time: missing unit in duration "5"' });
  assert.throws(() => parseDuration('x'), { message: 'time: invalid duration "x"' });
  assert.throws(() => parseDuration('5é'), { message: 'time: unknown unit "\\xc3\\xa9" in duration "5\\xc3\\xa9"' });
  assert.throws(() => parseDuration('5x'), { message: 'time: unknown unit "x" in duration "5x"' });
});

test('ages show two units at most', () => {
  const [s, m, h, d] = [1000, 60_000, 3_600_000, 86_400_000];
  const cases: [number, string][] = [
    [-5 * s, '<invalid>'],
    [0, '0s'],
    [119 * s, '119s'],
    [120 * s, '2m'],
    [5 * m + 3 * s, '5m3s'],
    [30 * m, '30m'],
    [7 * h + 5 * m, '7h5m'],
    [30 * h, '30h'],
    [3 * d + 2 * h, '3d2h'],
    [100 * d, '100d'],
    [800 * d, '2y70d'],
    [10 * 365 * d, '10y'],
  ];
  for (const [ms, text] of cases) assert.equal(humanDuration(ms), text);
});

test('times become UTC and whole seconds; micro times need six digits', () => {
  assert.equal(canonicalTime('2026-01-02T03:04:05+02:00'), '2026-01-02T01:04:05Z');
  assert.equal(canonicalTime('2026-01-02T03:04:05.999Z'), '2026-01-02T03:04:05Z');
  assert.equal(canonicalTime('0001-01-01T00:00:00Z'), undefined);
  assert.equal(canonicalMicroTime('2026-01-02T03:04:05.123456Z'), '2026-01-02T03:04:05.123456Z');
  assert.throws(() => canonicalMicroTime('2026-01-02T03:04:05Z'), /cannot parse "Z" as "\.000000"/);
  assert.throws(() => parseTime('yesterday'), {
    message: 'parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"',
  });
  assert.throws(() => parseTime('2026-13-01T00:00:00Z'), { message: 'parsing time "2026-13-01T00:00:00Z": month out of range' });
  assert.throws(() => parseTime('2026-02-30T00:00:00Z'), { message: 'parsing time "2026-02-30T00:00:00Z": day out of range' });
  const date = new Date('2026-01-02T03:04:05.678Z');
  assert.equal(formatTime(date), '2026-01-02T03:04:05Z');
  assert.equal(formatMicroTime(date), '2026-01-02T03:04:05.678000Z');
});

test('percentages are of the total, rounded as asked', () => {
  assert.equal(scaledValue(3, 10, true), 3);
  assert.equal(scaledValue('25%', 10, true), 3);
  assert.equal(scaledValue('25%', 10, false), 2);
  assert.throws(() => scaledValue('x', 10, false), IntOrStringError);
});
