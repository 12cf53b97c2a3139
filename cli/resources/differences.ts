/** The JSON merge patch that turns one object into another (RFC 7386): changed members, null for those that are gone. */
import { compactJson } from '../printers/json.ts';

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

export function mergePatchBetween(from: object, to: object): Record<string, unknown> {
  const [old, next] = [from as Record<string, unknown>, to as Record<string, unknown>];
  const changes: [string, unknown][] = Object.keys(old)
    .filter((key) => !Object.hasOwn(next, key))
    .map((key) => [key, null]);
  for (const [key, value] of Object.entries(next)) {
    const before = Object.hasOwn(old, key) ? old[key] : undefined;
    if (isObject(before) && isObject(value)) {
      const inner = mergePatchBetween(before, value);
      if (Object.keys(inner).length > 0) changes.push([key, inner]);
    } else if (before === undefined || compactJson(before) !== compactJson(value)) changes.push([key, value]);
  }
  return Object.fromEntries(changes);
}
