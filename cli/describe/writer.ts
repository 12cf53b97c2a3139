/**
 * Collects the lines of a description and aligns them as kubectl does. Mirrors kubectl `pkg/describe` PrefixWriter: two spaces per level, tabs between
 * columns, runs of lines aligned together until a `flush`.
 */
import type { ObjectMeta } from '../../machinery/api/object.ts';
import { LAST_APPLIED } from '../../machinery/api/well-known-labels.ts';
import { alignTabs, DESCRIBE_TABS } from '../printers/tabwriter.ts';

export class DescriptionWriter {
  #done = '';
  #open = '';

  /** One or more whole lines; `level` indents the first. */
  line(level: number, text: string): void {
    this.#open += `${'  '.repeat(level)}${text}\n`;
  }
  /** `Title:\tvalue`. */
  field(level: number, title: string, value: unknown): void {
    this.line(level, `${title}:\t${String(value)}`);
  }
  /** What follows is aligned by itself. */
  flush(): void {
    this.#done += this.#open === '' ? '' : alignTabs(this.#open, DESCRIBE_TABS);
    this.#open = '';
  }
  /** All lines with their tabs. */
  unaligned(): string {
    return this.#open;
  }
  text(): string {
    this.flush();
    return this.#done;
  }

  scopedName(metadata: ObjectMeta | undefined): void {
    this.field(0, 'Name', metadata?.name);
    this.field(0, 'Namespace', metadata?.namespace ?? '');
  }
  labelsAndAnnotations(metadata: ObjectMeta | undefined): void {
    this.labels('Labels', metadata?.labels);
    this.annotations('Annotations', metadata?.annotations);
  }

  /** One pair per line, the title before the first. */
  labels(title: string, labels: Readonly<Record<string, string>> | undefined): void {
    this.list(title, Object.keys(labels ?? {}).length > 0 ? labelPairs(labels!) : ['<none>']);
  }
  /** One value per line, the title before the first. */
  list(title: string, values: readonly string[]): void {
    values.forEach((value, i) => {
      this.line(0, `${i === 0 ? `${title}:` : ''}\t${value}`);
    });
  }

  annotations(title: string, annotations: Readonly<Record<string, string>> | undefined): void {
    const keys = Object.keys(annotations ?? {})
      .filter((key) => key !== LAST_APPLIED)
      .sort();
    if (keys.length === 0) {
      this.field(0, title, '<none>');
      return;
    }
    for (const [i, key] of keys.entries()) {
      const start = `${i === 0 ? `${title}:` : ''}\t`;
      const value = annotations![key].replace(/\n$/, '');
      if (value.length + key.length + 2 <= MAX_ANNOTATION && !value.includes('\n')) this.line(0, `${start}${key}: ${value}`);
      else {
        this.line(0, `${start}${key}:`);
        for (const part of value.split('\n')) this.line(0, `\t  ${shorten(part, MAX_ANNOTATION - 2)}`);
      }
    }
  }
}

const MAX_ANNOTATION = 140;
const shorten = (text: string, length: number): string => (text.length > length ? `${text.slice(0, length)}...` : text);

export const labelPairs = (labels: Readonly<Record<string, string>>): string[] =>
  Object.keys(labels)
    .sort()
    .map((key) => `${key}=${labels[key]}`);

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const two = (n: number): string => String(n).padStart(2, '0');

/** RFC 1123 with a numeric zone, in the local zone: `Tue, 01 Dec 2026 12:00:00 +0000`. */
export function formatDate(time: string | undefined): string {
  if (!time) return ZERO_DATE;
  const date = new Date(time);
  const offset = -date.getTimezoneOffset();
  const zone = `${offset < 0 ? '-' : '+'}${two(Math.floor(Math.abs(offset) / 60))}${two(Math.abs(offset) % 60)}`;
  const day = `${DAYS[date.getDay()]}, ${two(date.getDate())} ${MONTHS[date.getMonth()]} ${date.getFullYear()}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())} ${zone}`;
}

/** Go's zero time. */
export const ZERO_DATE = 'Mon, 01 Jan 0001 00:00:00 +0000';

export const boolText = (value: boolean | undefined): string => (value ? 'True' : 'False');
export const orNone = (text: string | undefined): string => text || '<none>';
