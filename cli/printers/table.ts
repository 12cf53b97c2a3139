/**
 * Prints the server's Tables as kubectl does. Mirrors cli-runtime `printers/tableprinter.go`: columns with a priority only with -o wide, namespace first,
 * kind before the name, label columns last, text cut at the first line break.
 */
import type { AnyObject } from '../../machinery/api/object.ts';
import { formatNumber } from './json.ts';
import { RememberingTable } from './tabwriter.ts';

export interface ServerTable {
  readonly kind: 'Table';
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string };
  readonly columnDefinitions?:
    | readonly { readonly name: string; readonly priority?: number; readonly type?: string; readonly format?: string }[]
    | null;
  readonly rows?: readonly TableRow[] | null;
}
export interface TableRow {
  readonly cells: readonly unknown[];
  readonly object?: AnyObject;
}

export interface TableOptions {
  readonly wide?: boolean;
  readonly noHeaders?: boolean;
  readonly withNamespace?: boolean;
  /** `pod`, put before each name. */
  readonly withKind?: string;
  readonly showLabels?: boolean;
  readonly labelColumns?: readonly string[];
  /** Adds an EVENT column; `event` is its value for this piece. */
  readonly withEvent?: boolean;
}

/** Remembers widths and columns from piece to piece: a watch prints one row at a time. */
export class TablePrinter {
  readonly #options: TableOptions;
  readonly #table = new RememberingTable();
  #columns: NonNullable<ServerTable['columnDefinitions']> = [];
  #headers: boolean;
  constructor(options: TableOptions) {
    this.#options = options;
    this.#headers = options.noHeaders !== true;
  }

  /** A piece of the table. Nothing for a table without rows. */
  print(table: ServerTable, event = ''): string {
    if (table.columnDefinitions && table.columnDefinitions.length > 0) this.#columns = table.columnDefinitions;
    const rows = (table.rows ?? []).map((row) => this.#row(row, event));
    if (rows.length === 0) return '';
    if (this.#headers) rows.unshift(this.#headerRow());
    this.#headers = false;
    return this.#table.format(rows);
  }

  #shown(column: { priority?: number }): boolean {
    return this.#options.wide === true || !column.priority;
  }

  #headerRow(): string[] {
    const { withEvent, withNamespace, showLabels, labelColumns = [] } = this.#options;
    return [
      ...(withEvent ? ['EVENT'] : []),
      ...(withNamespace ? ['NAMESPACE'] : []),
      ...this.#columns.filter((column) => this.#shown(column)).map((column) => column.name.toUpperCase()),
      ...labelColumns.map((label) => label.slice(label.lastIndexOf('/') + 1).toUpperCase()),
      ...(showLabels ? ['LABELS'] : []),
    ];
  }

  #row(row: TableRow, event: string): string[] {
    const { withEvent, withNamespace, withKind, showLabels, labelColumns = [] } = this.#options;
    const metadata = row.object?.metadata;
    const cells = row.cells.slice(0, this.#columns.length).flatMap((value, i) => {
      if (!this.#shown(this.#columns[i])) return [];
      const text = cellText(value);
      return [withKind && this.#columns[i].format === 'name' ? `${withKind}/${text}` : text];
    });
    return [
      ...(withEvent ? [event] : []),
      ...(withNamespace ? [metadata?.namespace ?? ''] : []),
      ...cells,
      ...labelColumns.map((label) => metadata?.labels?.[label] ?? ''),
      ...(showLabels ? [formatLabels(metadata?.labels)] : []),
    ];
  }
}

function cellText(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return formatNumber(value);
  if (typeof value !== 'string') return String(value);
  const end = value.search(/[\f\n\r]/);
  return end < 0 ? value : `${value.slice(0, end)}...`;
}

/** `a=b,c=d` by name, or `<none>`. */
export function formatLabels(labels: Readonly<Record<string, string>> | undefined): string {
  const pairs = Object.entries(labels ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  return pairs.length === 0 ? '<none>' : pairs.map(([key, value]) => `${key}=${value}`).join(',');
}
