/**
 * Cron schedules as Kubernetes reads them: five fields or a descriptor. The texts are those of the parser that upstream uses (robfig/cron v3).
 */

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
  const zoned = /^(?:TZ|CRON_TZ)=(\S*)\s*/.exec(text);
  if (zoned) {
    if (!isKnownTimeZone(zoned[1]!)) return `provided bad location ${zoned[1]}: unknown time zone ${zoned[1]}`;
    text = text.slice(zoned[0].length);
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
  const every = /^@every (.*)$/.exec(text);
  if (every === null) return `unrecognized descriptor: ${text}`;
  const valid =
    /^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h)(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h))*$/.test(every[1]!) ||
    every[1] === '0';
  return valid ? undefined : `failed to parse duration ${text}: time: invalid duration ${JSON.stringify(every[1])}`;
}

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

function integer(text: string): number | string {
  if (!/^[+-]?[0-9]+$/.test(text)) return `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`;
  const value = Number(text);
  return value < 0 ? `negative number (${value}) not allowed: ${text}` : value;
}

/** Time zone names are case sensitive. */
export function isKnownTimeZone(name: string): boolean {
  if (name === '' || name === 'UTC') return true;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
