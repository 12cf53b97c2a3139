/** Names of those who write, in requests and in managedFields. Mirrors apimachinery `meta/v1/validation` ValidateFieldManager. */
import { type FieldError, type FieldPath, invalidValue, tooLong } from '../../../machinery/api/field-error.ts';

/** In bytes. */
export const MAX_FIELD_MANAGER = 128;

/** As Go's unicode.IsPrint: of all blanks only the space. */
export const isPrintable = (character: string): boolean => character === ' ' || !/[\p{C}\p{Z}]/u.test(character);

export function fieldManagerErrors(manager: string, path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  if (Buffer.byteLength(manager) > MAX_FIELD_MANAGER) errors.push(tooLong(path, MAX_FIELD_MANAGER));
  let position = 0;
  for (const character of manager) {
    if (!isPrintable(character)) {
      const code = character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0');
      errors.push(invalidValue(path, manager, `invalid character U+${code} (at position ${position})`));
    }
    position += Buffer.byteLength(character);
  }
  return errors;
}
