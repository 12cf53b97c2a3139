/**
 * Parameters that a class hands to its driver. Mirrors kubernetes `storage/validation` validateParameters.
 */
import { type FieldError, invalidValue, required, tooLong } from '../../../machinery/api/field-error.ts';

const MAX_PARAMETERS = 512;
const MAX_SIZE = 256 * 1024;

export function parameterErrors(parameters: Record<string, string> | undefined, path: string, errors: FieldError[]): void {
  const entries = Object.entries(parameters ?? {});
  if (entries.length > MAX_PARAMETERS) {
    // upstream says it of the number as if it were a length
    errors.push(tooLong(path, MAX_PARAMETERS));
    return;
  }
  let size = 0;
  for (const [key, value] of entries) {
    if (key === '') errors.push(invalidValue(path, key, 'field can not be empty.'));
    size += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (size > MAX_SIZE) errors.push(tooLong(path, MAX_SIZE));
}

/** The same where a class without parameters means nothing. */
export function requiredParameterErrors(parameters: Record<string, string> | undefined, path: string, errors: FieldError[]): void {
  if (Object.keys(parameters ?? {}).length === 0) errors.push(required(path, 'must contain at least one key/value pair'));
  else parameterErrors(parameters, path, errors);
}
