/**
 * Validation errors that name a field. Mirrors apimachinery `util/validation/field`: types, wording and the printing of values.
 */

export type FieldErrorType =
  | 'FieldValueNotFound'
  | 'FieldValueRequired'
  | 'FieldValueDuplicate'
  | 'FieldValueInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueForbidden'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'InternalError';

export interface FieldError {
  readonly type: FieldErrorType;
  /** `spec.containers[0].name`; '' prints nothing, `<nil>` is upstream's for a nil path. */
  readonly field: string;
  /** The text without the field, as a Status cause carries it. */
  readonly body: string;
  /** `field: body`, as the Status message carries it. */
  readonly message: string;
}

/** An immutable field path. `new Path('spec').child('containers').index(0).child('name')` → `spec.containers[0].name`. */
export class Path {
  readonly #text: string;
  constructor(text = '') {
    this.#text = text;
  }
  child(...names: string[]): Path {
    return new Path([...(this.#text === '' ? [] : [this.#text]), ...names].join('.'));
  }
  index(i: number): Path {
    return new Path(`${this.#text}[${i}]`);
  }
  key(key: string): Path {
    return new Path(`${this.#text}[${key}]`);
  }
  toString(): string {
    return this.#text;
  }
}

export type FieldPath = Path | string;

const LABEL: Record<FieldErrorType, string> = {
  FieldValueNotFound: 'Not found',
  FieldValueRequired: 'Required value',
  FieldValueDuplicate: 'Duplicate value',
  FieldValueInvalid: 'Invalid value',
  FieldValueNotSupported: 'Unsupported value',
  FieldValueForbidden: 'Forbidden',
  FieldValueTooLong: 'Too long',
  FieldValueTooMany: 'Too many',
  InternalError: 'Internal error',
};

/** How Go prints the offending value: quoted strings, bare numbers and bools, `null` for nothing, JSON for structures. */
export function formatValue(value: unknown): string {
  if (value === undefined || value === null) return 'null';
  if (typeof value === 'string') return quoteGo(value);
  if (typeof value === 'object') return JSON.stringify(value, markLarge).replace(LARGE, '$1');
  return String(value);
}

/** Whole numbers beyond 2^53 are bigints, which JSON.stringify refuses: they pass it as marked text. */
const markLarge = (_key: string, value: unknown): unknown => (typeof value === 'bigint' ? `\u0000${value}` : value);
const LARGE = /"\\u0000(-?\d+)"/g;

/** Go's %q: short escapes, `\x` below the space and for DEL, `\u` and `\U` for what Go does not count as printable. */
export function quoteGo(text: string): string {
  return JSON.stringify(text).replace(UNPRINTABLE, (match) => {
    const code = match.startsWith('\\u') ? Number.parseInt(match.slice(2), 16) : match.codePointAt(0)!;
    if (code === 7) return '\\a';
    if (code === 0x0b) return '\\v';
    if (code < 0x20 || code === 0x7f) return `\\x${code.toString(16).padStart(2, '0')}`;
    if (code >= 0xd800 && code < 0xe000) return '\\ufffd';
    return code > 0xffff ? `\\U${code.toString(16).padStart(8, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}

/** An escape that JSON writes (an odd backslash cannot stand before it), or a character Go escapes. */
const UNPRINTABLE = /(?<=(?:^|[^\\])(?:\\\\)*)\\u[0-9a-f]{4}|[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;

function make(type: FieldErrorType, path: FieldPath, value: string | undefined, detail: string): FieldError {
  const field = String(path);
  const body = `${LABEL[type]}${value === undefined ? '' : `: ${value}`}${detail === '' ? '' : `: ${detail}`}`;
  return { type, field, body, message: field === '' ? body : `${field}: ${body}` };
}

export const required = (path: FieldPath, detail = ''): FieldError => make('FieldValueRequired', path, undefined, detail);
export const invalidValue = (path: FieldPath, value: unknown, detail: string): FieldError =>
  make('FieldValueInvalid', path, formatValue(value), detail);
export const duplicate = (path: FieldPath, value: unknown): FieldError => make('FieldValueDuplicate', path, formatValue(value), '');
export const forbiddenField = (path: FieldPath, detail: string): FieldError => make('FieldValueForbidden', path, undefined, detail);
/** Of a check that could not be made. */
export const internalFieldError = (path: FieldPath, detail: string): FieldError => make('InternalError', path, undefined, detail);
export const notFoundValue = (path: FieldPath, value: unknown): FieldError => make('FieldValueNotFound', path, formatValue(value), '');
export const tooLong = (path: FieldPath, maxLength: number): FieldError =>
  make('FieldValueTooLong', path, undefined, maxLength === 1 ? 'may not be more than 1 byte' : `may not be more than ${maxLength} bytes`);
export const tooMany = (path: FieldPath, actual: number, max: number): FieldError =>
  make('FieldValueTooMany', path, String(actual), `must have at most ${max} item${max === 1 ? '' : 's'}`);
/** `supported` is printed in the given order, quoted. */
export const notSupported = (path: FieldPath, value: unknown, supported: readonly string[]): FieldError =>
  make(
    'FieldValueNotSupported',
    path,
    formatValue(value),
    supported.length === 0 ? '' : `supported values: ${supported.map(quoteGo).join(', ')}`,
  );
