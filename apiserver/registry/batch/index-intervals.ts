/**
 * Lists of job indexes as text: `1,3-5,7`. Mirrors kubernetes `batch/validation` validateIndexesFormat.
 */

/** How many indexes the text names, or what is wrong with it. */
export function indexCount(text: string, completions: number): number | string {
  const intervals = parseIndexes(text, completions);
  return typeof intervals === 'string' ? intervals : intervals.reduce((sum, [first, last]) => sum + last - first + 1, 0);
}

export function parseIndexes(text: string, completions: number): [number, number][] | string {
  if (text === '') return [];
  const intervals: [number, number][] = [];
  let previous = -1;
  for (const fragment of text.split(',')) {
    const parts = fragment.split('-');
    if (parts.length > 2) {
      return `the fragment ${JSON.stringify(fragment)} violates the requirement that an index interval can have at most two parts separated by '-'`;
    }
    const bounds: number[] = [];
    for (const part of parts) {
      if (!/^[+-]?[0-9]+$/.test(part)) return `cannot convert string to integer for index: ${JSON.stringify(part)}`;
      const index = Number(part);
      if (index >= completions) return `too large index: ${JSON.stringify(part)}`;
      if (index <= previous) return `non-increasing order, previous: ${previous}, current: ${index}`;
      previous = index;
      bounds.push(index);
    }
    intervals.push([bounds[0]!, bounds.at(-1)!]);
  }
  return intervals;
}
