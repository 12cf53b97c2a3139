/** Reads one option's text as its type, with pflag's rules. Kept apart from the table so that both stay on one screen. */
import type { OptionSpec } from './options.ts';

type Result = { value: unknown } | { problem: string };

export function parseValue(spec: OptionSpec, texts: readonly string[]): Result {
  const last = texts.at(-1) ?? '';
  switch (spec.type) {
    case 'string':
      if (spec.choices && !spec.choices.includes(last)) return { problem: `"${last}" is not one of ${spec.choices.join(', ')}` };
      return { value: last };
    case 'boolean':
      return parseBoolean(last);
    case 'integer':
    case 'number':
      return parseNumber(spec, last);
    case 'duration': {
      const ms = parseGoDuration(last);
      return ms === undefined ? { problem: `"${last}" is not a duration such as 300ms, 1m30s or 24h` } : { value: ms };
    }
    case 'list':
      return { value: texts.flatMap((text) => text.split(',')).filter((item) => item !== '') };
    case 'map':
      return parseMap(texts);
  }
}

/** Go's strconv.ParseBool. */
function parseBoolean(text: string): Result {
  if (['1', 't', 'T', 'true', 'TRUE', 'True'].includes(text)) return { value: true };
  if (['0', 'f', 'F', 'false', 'FALSE', 'False'].includes(text)) return { value: false };
  return { problem: `"${text}" is neither true nor false` };
}

function parseNumber(spec: { type: string; min?: number; max?: number }, text: string): Result {
  const pattern = spec.type === 'integer' ? /^[+-]?\d+$/ : /^[+-]?(\d+\.?\d*|\.\d+)$/;
  if (!pattern.test(text)) return { problem: `"${text}" is not ${spec.type === 'integer' ? 'a whole number' : 'a number'}` };
  const value = Number(text);
  if (spec.min !== undefined && value < spec.min) return { problem: `${text} is less than ${spec.min}` };
  if (spec.max !== undefined && value > spec.max) return { problem: `${text} is more than ${spec.max}` };
  return { value };
}

function parseMap(texts: readonly string[]): Result {
  const map: Record<string, string> = Object.create(null);
  for (const pair of texts.flatMap((text) => text.split(','))) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    if (equals < 1) return { problem: `"${pair}" is not key=value` };
    map[pair.slice(0, equals)] = pair.slice(equals + 1);
  }
  return { value: map };
}

const UNITS_MS: Readonly<Record<string, number>> = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** `1h15m30.5s` in milliseconds, as Go's time.ParseDuration; undefined when it is none. */
export function parseGoDuration(text: string): number | undefined {
  if (text === '0') return 0;
  if (!/^[+-]?(\d+(\.\d*)?(ns|us|µs|ms|s|m|h))+$/.test(text)) return undefined;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d*)?)(ns|us|µs|ms|s|m|h)/g)) total += Number(amount) * UNITS_MS[unit!]!;
  return text.startsWith('-') ? -total : total;
}

export function formatValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value)
      .map(([key, item]) => `${key}=${item}`)
      .join(',');
  }
  return String(value);
}
