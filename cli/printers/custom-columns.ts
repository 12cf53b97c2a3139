/** `-o custom-columns=NAME:.metadata.name,…` and `-o custom-columns-file=F`. Mirrors kubectl `cmd/get/customcolumn.go`. */
import { CliError } from '../errors.ts';
import { formatGo } from './json.ts';
import { compileJsonPath, type JsonPath, relaxedPath } from './jsonpath.ts';
import { RememberingTable } from './tabwriter.ts';

interface Column {
  readonly header: string;
  readonly path: JsonPath;
}

export class CustomColumns {
  readonly #columns: readonly Column[];
  readonly #table = new RememberingTable();
  #headers: boolean;
  constructor(columns: readonly Column[], headers: boolean) {
    this.#columns = columns;
    this.#headers = headers;
  }

  /** Rows of the objects, with the headers before the first. */
  print(objects: readonly unknown[]): string {
    const rows = objects.map((object) => this.#columns.map((column) => cell(column, object)));
    if (this.#headers) rows.unshift(this.#columns.map((column) => column.header));
    this.#headers = false;
    return this.#table.format(rows);
  }
}

function cell(column: Column, object: unknown): string {
  const values = column.path.find(object).flat();
  return values.length === 0 ? '<none>' : values.map((value) => (value === null ? '<nil>' : formatGo(value))).join(',');
}

/** Throws in kubectl's wording. */
export function parseColumnsSpec(spec: string, headers: boolean): CustomColumns {
  if (spec === '') throw new CliError('custom-columns format specified but no custom columns given');
  const columns = spec.split(',').map((part) => {
    const colon = part.indexOf(':');
    if (colon < 0) throw new CliError(`unexpected custom-columns spec: ${part}, expected <header>:<json-path-expr>`);
    return column(part.slice(0, colon), part.slice(colon + 1));
  });
  return new CustomColumns(columns, headers);
}

/** Two lines of words: the headers, and a path under each. */
export function parseColumnsFile(text: string, headers: boolean): CustomColumns {
  const [names = [], paths = []] = text.split('\n').map((line) => line.split(/\s+/).filter((word) => word !== ''));
  if (names.length === 0 || names.length !== paths.length)
    throw new CliError(`number of headers (${names.length}) and field specifications (${paths.length}) don't match`);
  return new CustomColumns(
    names.map((name, i) => column(name, paths[i])),
    headers,
  );
}

const column = (header: string, path: string): Column => ({ header, path: compileJsonPath(relaxedPath(path), { allowMissing: true }) });
