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
  | 'InternalError'
  | 'FieldValueTypeInvalid';

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
  FieldValueTypeInvalid: 'Invalid value',
};

/** How Go prints the offending value: quoted strings, bare numbers and bools, `null` for nothing, JSON for structures. */
export function formatValue(value: unknown): string {
  if (value === undefined || value === null) return 'null';
  if (typeof value === 'string') return quoteGo(value);
  if (typeof value === 'object') return JSON.stringify(value);
  return String(value);
}

/** Go's %q for the characters that occur in API strings. */
export function quoteGo(text: string): string {
  return JSON.stringify(text)
    .replace(/[\u007f-\u009f\u2028\u2029\ufeff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .replace(/\\u00([01][0-9a-f])/g, '\\x$1');
}

function make(type: FieldErrorType, path: FieldPath, value: string | undefined, detail: string): FieldError {
  const field = String(path);
  const body = `${LABEL[type]}${value === undefined ? '' : `: ${value}`}${detail === '' ? '' : `: ${detail}`}`;
  return { type, field, body, message: field === '' ? body : `${field}: ${body}` };
}

export const required = (path: FieldPath, detail = ''): FieldError => make('FieldValueRequired', path, undefined, detail);
export const invalidValue = (path: FieldPath, value: unknown, detail: string): FieldError =>
  make('FieldValueInvalid', path, formatValue(value), detail);
export const typeInvalid = (path: FieldPath, value: unknown, detail: string): FieldError =>
  make('FieldValueTypeInvalid', path, formatValue(value), detail);
export const duplicate = (path: FieldPath, value: unknown): FieldError => make('FieldValueDuplicate', path, formatValue(value), '');
export const forbiddenField = (path: FieldPath, detail: string): FieldError => make('FieldValueForbidden', path, undefined, detail);
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
export const internalFieldError = (path: FieldPath, message: string): FieldError => make('InternalError', path, undefined, message);
