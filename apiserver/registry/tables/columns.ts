/**
 * The columns of every built-in resource's Table, as facts: name, type, format, priority, description. The cells are in the kinds' files.
 * Mirrors the TableColumnDefinitions of kubernetes `pkg/printers/internalversion`.
 */
import facts from './columns.json' with { type: 'json' };

export interface Column {
  readonly name: string;
  /** Mostly string, integer, boolean or date. */
  readonly type: string;
  /** OpenAPI format: 'name' marks the name column. */
  readonly format: string;
  readonly description: string;
  /** 0 shows always, 1 only with -o wide. */
  readonly priority: number;
}

type Row = readonly [string, string, string, number, string];
const texts = new Map(Object.entries(facts.texts));
const rows = new Map(Object.entries(facts.columns as unknown as Record<string, readonly Row[]>));

const toColumn = ([name, type, format, priority, description]: Row): Column => ({
  name,
  type,
  format,
  description: texts.get(description) ?? description,
  priority,
});

/** What a resource without columns of its own shows (registry/rest NewDefaultTableConvertor). */
export const DEFAULT_COLUMNS: readonly Column[] = (
  [
    ['Name', 'string', 'name', 0, '@name'],
    ['Created At', 'date', '', 0, '@age'],
  ] as Row[]
).map(toColumn);

export function columnsOf(group: string, resource: string): readonly Column[] {
  return rows.get(group === '' ? resource : `${group}/${resource}`)?.map(toColumn) ?? DEFAULT_COLUMNS;
}
