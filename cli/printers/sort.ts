/** `--sort-by`: orders objects by what a JSONPath finds in them. Mirrors kubectl `cmd/get/sorter.go`: numbers, quantities and texts (times are texts that sort by themselves). */
import { compareQuantities, parseQuantity } from '../../machinery/api/quantity.ts';
import { CliError } from '../errors.ts';
import { compileJsonPath, relaxedPath } from './jsonpath.ts';

/** Stable; objects without the field come first. Throws when no object has it. */
export function sortObjects<T>(objects: readonly T[], field: string, of: (item: T) => unknown = (item) => item): T[] {
  const path = compileJsonPath(relaxedPath(field), { allowMissing: true });
  const keyed = objects.map((item) => ({ item, key: path.find(of(item)).flat()[0] }));
  if (objects.length > 0 && keyed.every(({ key }) => key === undefined)) {
    throw new CliError(`couldn't find any field with path "${relaxedPath(field)}" in the list of objects`);
  }
  return keyed.sort((a, b) => compareValues(a.key, b.key)).map(({ item }) => item);
}

function compareValues(a: unknown, b: unknown): number {
  if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? -1 : 1;
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a === 'string' && typeof b === 'string') return compareTexts(a, b);
  return 0;
}

function compareTexts(a: string, b: string): number {
  const [left, right] = [quantity(a), quantity(b)];
  if (left !== undefined && right !== undefined) return compareQuantities(left, right);
  return a < b ? -1 : a > b ? 1 : 0;
}

function quantity(text: string): ReturnType<typeof parseQuantity> | undefined {
  if (!/^[-+]?[\d.]+([eE][-+]?\d+|[KMGTPE]i|[numkMGTPE])?$/.test(text)) return undefined;
  try {
    return parseQuantity(text);
  } catch {
    return undefined;
  }
}
