/**
 * Cron schedules as Kubernetes reads them: five fields or a descriptor. The texts are those of the parser that upstream uses (robfig/cron v3).
 */
import { parseDurationNs } from '../../../machinery/api/duration.ts';
import { quoteGo } from '../../../machinery/api/field-error.ts';

const FIELDS: readonly { readonly min: number; readonly max: number; readonly names?: readonly string[] }[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'] },
  { min: 0, max: 6, names: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] },
];
const DESCRIPTORS = new Set(['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly']);

/** What is wrong with a schedule, or undefined. */
export function scheduleProblem(schedule: string): string | undefined {
  let text = schedule;
  if (text.startsWith('TZ=') || text.startsWith('CRON_TZ=')) {
    const space = text.indexOf(' ');
    // what upstream's parser stumbles over, and the API server catches
    if (space < 0) return 'invalid schedule format: runtime error: slice bounds out of range [:-1]';
    const zone = text.slice(text.indexOf('=') + 1, space);
    const why = locationProblem(zone);
    if (why !== undefined) return `provided bad location ${zone}: ${why}`;
    text = text.slice(space).trim();
  }
  if (text.startsWith('@')) return descriptorProblem(text);
  const fields = text.split(/\s+/).filter((f) => f !== '');
  if (fields.length !== FIELDS.length) return `expected exactly 5 fields, found ${fields.length}: [${fields.join(' ')}]`;
  for (let i = 0; i < FIELDS.length; i++) {
    const why = fieldProblem(fields[i]!, i);
    if (why !== undefined) return why;
  }
  return undefined;
}

function descriptorProblem(text: string): string | undefined {
  if (DESCRIPTORS.has(text)) return undefined;
  if (!text.startsWith(EVERY)) return `unrecognized descriptor: ${text}`;
  try {
    parseDurationNs(text.slice(EVERY.length));
    return undefined;
  } catch (error) {
    return `failed to parse duration ${text}: ${(error as Error).message}`;
  }
}

const EVERY = '@every ';

function fieldProblem(field: string, index: number): string | undefined {
  for (const expression of field.split(',')) {
    const why = expression === '' ? undefined : rangeProblem(expression, index);
    if (why !== undefined) return why;
  }
  return undefined;
}

function rangeProblem(expression: string, index: number): string | undefined {
  const { min, max, names } = FIELDS[index]!;
  const [range = '', step, ...tooManySteps] = expression.split('/');
  const [low = '', high, ...tooManyParts] = range.split('-');
  const number = (text: string): number | string => {
    const named = names?.indexOf(text.toLowerCase()) ?? -1;
    return named >= 0 ? named + min : integer(text);
  };
  let start: number | string = min;
  let end: number | string = max;
  if (low !== '*' && low !== '?') {
    start = number(low);
    if (typeof start === 'string') return start;
    end = high === undefined ? (step === undefined ? start : max) : number(high);
    if (tooManyParts.length > 0) return `too many hyphens: ${expression}`;
    if (typeof end === 'string') return end;
  }
  let every = 1;
  if (step !== undefined) {
    if (tooManySteps.length > 0) return `too many slashes: ${expression}`;
    const parsed = integer(step);
    if (typeof parsed === 'string') return parsed;
    every = parsed;
  }
  if (start < min) return `beginning of range (${start}) below minimum (${min}): ${expression}`;
  if (end > max) return `end of range (${end}) above maximum (${max}): ${expression}`;
  if (start > end) return `beginning of range (${start}) beyond end of range (${end}): ${expression}`;
  return every === 0 ? `step of range should be a positive number: ${expression}` : undefined;
}

const MAX_INT64 = 2n ** 63n;

function integer(text: string): number | string {
  const fail = (why: string): string => `failed to parse int from ${text}: strconv.Atoi: parsing ${quoteGo(text)}: ${why}`;
  if (!/^[+-]?[0-9]+$/.test(text)) return fail('invalid syntax');
  const value = BigInt(text.replace(/^\+/, ''));
  if (value >= MAX_INT64 || value < -MAX_INT64) return fail('value out of range');
  return value < 0n ? `negative number (${value}) not allowed: ${text}` : Number(value);
}

/** The words of Go's time.LoadLocation for a name that it does not take, or undefined. */
export function locationProblem(name: string): string | undefined {
  if (name === '' || name === 'UTC' || name === 'Local') return undefined;
  if (name.includes('..') || name.startsWith('/') || name.startsWith('\\')) return 'time: invalid location name';
  return isZone(name) ? undefined : `unknown time zone ${name}`;
}

let canonical: Map<string, string> | undefined;

/**
 * Zone names are files, so that their case counts; the runtime does not mind it. Of the names it lists the case is known, others (old names of listed
 * ones) have capitals at the beginning of every part.
 */
function isZone(name: string): boolean {
  canonical ??= new Map(Intl.supportedValuesOf('timeZone').map((zone) => [zone.toLowerCase(), zone]));
  const exact = canonical.get(name.toLowerCase());
  if (exact !== undefined) return exact === name;
  if (!/^[A-Z][A-Za-z0-9_+-]*(\/[A-Z][A-Za-z0-9_+-]*)*$/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
