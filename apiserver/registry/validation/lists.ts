/**
 * Lists with a limit, sets with keys, maps with checked keys: the frame of many rules. Mirrors validateSlice, validateSet and validateMap of kubernetes
 * `resource/validation`. A list that is too long is not looked into.
 */
import { duplicate, type FieldError, tooMany } from '../../../machinery/api/field-error.ts';

/** Adds what is wrong with the item at `path`. */
export type ItemRule<T> = (item: T, path: string, errors: FieldError[]) => void;

/** No limit. */
export const UNLIMITED = Number.POSITIVE_INFINITY;

export interface ListRule<T> {
  readonly max: number;
  readonly each: ItemRule<T>;
  /** Items of one key are duplicates; told after what is wrong with the items. */
  readonly key?: (item: T) => string;
}

export function listErrors<T>(items: readonly T[] | undefined | null, rule: ListRule<T>, path: string, errors: FieldError[]): void {
  if (!items) return;
  if (items.length > rule.max) {
    errors.push(tooMany(path, items.length, rule.max));
    return;
  }
  items.forEach((item, i) => {
    rule.each(item, `${path}[${i}]`, errors);
  });
  const { key } = rule;
  if (key === undefined) return;
  const seen = new Set<string>();
  items.forEach((item, i) => {
    const text = key(item);
    if (seen.has(text)) errors.push(duplicate(`${path}[${i}]`, text));
    seen.add(text);
  });
}

export interface MapRule<T> {
  readonly max: number;
  /** Mistakes of keys are told of the whole map. */
  readonly key: ItemRule<string>;
  readonly each: ItemRule<T>;
  /** Keys that are longer are shown without their middle. */
  readonly shownKey: number;
}

const ELLIPSIS = '...';

function shorten(key: string, max: number): string {
  const bytes = Buffer.from(key);
  if (bytes.length <= max) return key;
  const rest = max - ELLIPSIS.length;
  return bytes.toString('utf8', 0, (rest + 1) >> 1) + ELLIPSIS + bytes.toString('utf8', bytes.length - (rest >> 1));
}

export function mapErrors<T>(map: Record<string, T> | undefined | null, rule: MapRule<T>, path: string, errors: FieldError[]): void {
  const keys = Object.keys(map ?? {}).sort();
  if (keys.length > rule.max) {
    errors.push(tooMany(path, keys.length, rule.max));
    return;
  }
  for (const key of keys) {
    rule.key(key, path, errors);
    rule.each(map![key]!, `${path}[${shorten(key, rule.shownKey)}]`, errors);
  }
}
