/**
 * File paths inside volumes: relative, and never upwards. Mirrors kubernetes `core/validation` validateLocalDescendingPath and its kin.
 */
import { type FieldError, invalidValue } from '../../../machinery/api/field-error.ts';

export const hasBacksteps = (path: string): boolean => path.split('/').includes('..');

export function noBackstepErrors(text: string, path: string, errors: FieldError[]): void {
  if (hasBacksteps(text)) errors.push(invalidValue(path, text, "must not contain '..'"));
}

export function localDescendingPathErrors(text: string, path: string, errors: FieldError[]): void {
  if (text.startsWith('/')) errors.push(invalidValue(path, text, 'must be a relative path'));
  noBackstepErrors(text, path, errors);
}

/** The same, and the first part may not begin with two dots, which the volume's own writer uses. */
export function localNonReservedPathErrors(text: string, path: string, errors: FieldError[]): void {
  localDescendingPathErrors(text, path, errors);
  if (text.startsWith('..') && !text.startsWith('../')) errors.push(invalidValue(path, text, "must not start with '..'"));
}
