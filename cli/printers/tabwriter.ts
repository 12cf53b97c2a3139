/**
 * Aligns columns as Go's text/tabwriter does: a column is a run of neighbouring lines that have a tab-ended cell at that place; each run has its own width.
 * The last cell of a line is never padded. kubectl's tables use minimum width 6 and padding 3, its descriptions 0 and 2.
 *
 * Worked example, padding 2: lines "a\tb", "ccc\td", "", "e\tf" → "a    b", "ccc  d", "", "e  f": the empty line ends the first run.
 */
export interface TabOptions {
  readonly minWidth: number;
  readonly padding: number;
}

export const TABLE_TABS: TabOptions = { minWidth: 6, padding: 3 };
export const DESCRIBE_TABS: TabOptions = { minWidth: 0, padding: 2 };

const width = (cell: string): number => {
  let count = 0;
  for (const _ of cell) count++;
  return count;
};

/** `text` has lines of tab-separated cells. */
export function alignTabs(text: string, options: TabOptions): string {
  const endsWithNewline = text.endsWith('\n');
  const lines = (endsWithNewline ? text.slice(0, -1) : text).split('\n').map((line) => line.split('\t'));
  const widths = lines.map((cells) => new Array<number>(cells.length).fill(0));
  layout({ lines, widths, options }, { from: 0, to: lines.length, column: 0 });
  const out = lines.map((cells, l) => cells.map((cell, c) => (c === cells.length - 1 ? cell : pad(cell, widths[l][c]))).join(''));
  return out.join('\n') + (endsWithNewline ? '\n' : '');
}

const pad = (cell: string, to: number): string => cell + ' '.repeat(Math.max(0, to - width(cell)));

interface Grid {
  readonly lines: readonly string[][];
  readonly widths: number[][];
  readonly options: TabOptions;
}

/** Sets the widths of `column` and those right of it for the lines [from, to). */
function layout(grid: Grid, range: { from: number; to: number; column: number }): void {
  const { lines, widths, options } = grid;
  const { column } = range;
  for (let start = range.from; start < range.to; start++) {
    if (column >= lines[start].length - 1) continue;
    let end = start;
    let widest = options.minWidth;
    for (; end < range.to && column < lines[end].length - 1; end++) {
      const cell = width(lines[end][column]);
      // Columns of nothing but empty cells keep the minimum width plus nothing in Go only when discarded; kubectl does not discard.
      widest = Math.max(widest, cell + options.padding);
    }
    for (let l = start; l < end; l++) widths[l][column] = widest;
    layout(grid, { from: start, to: end, column: column + 1 });
    start = end - 1;
  }
}

/** A table printed in pieces (a watch): widths only grow from piece to piece, as kubectl's writer remembers them. */
export class RememberingTable {
  readonly #widths: number[] = [];
  readonly #options: TabOptions;
  constructor(options: TabOptions = TABLE_TABS) {
    this.#options = options;
  }
  format(rows: readonly (readonly string[])[]): string {
    for (const row of rows) {
      for (let c = 0; c < row.length - 1; c++) {
        this.#widths[c] = Math.max(this.#widths[c] ?? this.#options.minWidth, width(row[c]) + this.#options.padding);
      }
    }
    return rows.map((row) => `${row.map((cell, c) => (c === row.length - 1 ? cell : pad(cell, this.#widths[c]))).join('')}\n`).join('');
  }
}
