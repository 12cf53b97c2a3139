/**
 * What may be asked of a log: how much of it and from when. Mirrors kubernetes `core/validation` ValidatePodLogOptions and the reading of
 * PodLogOptions from a query.
 */
import { type FieldError, forbiddenField, invalidValue } from '../../machinery/api/field-error.ts';
import { badRequest, invalid } from '../../machinery/api/status.ts';
import { parseTime } from '../../machinery/api/time.ts';
import { integer } from '../http/list-options.ts';
import type { Query } from '../http/query.ts';

/** Throws 400 for what cannot be read, 422 for what makes no sense. */
export function checkLogOptions(query: Query, pod: string): void {
  const seconds = integer(query.get('sinceSeconds'));
  const time = sinceTime(query.get('sinceTime'));
  const tail = integer(query.get('tailLines'));
  const bytes = integer(query.get('limitBytes'));
  const errors: FieldError[] = [];
  const positive = 'must be greater than 0';
  if (tail !== undefined && tail < 0) errors.push(invalidValue('tailLines', tail, 'must be greater than or equal to 0'));
  if (bytes !== undefined && bytes < 1) errors.push(invalidValue('limitBytes', bytes, positive));
  if (seconds !== undefined && time) errors.push(forbiddenField('[]', 'at most one of `sinceTime` or `sinceSeconds` may be specified'));
  else if (seconds !== undefined && seconds < 1) errors.push(invalidValue('sinceSeconds', seconds, positive));
  if (errors.length > 0) throw invalid({ group: '', kind: 'PodLogOptions' }, pod, errors);
}

/** Whether a moment is given; old clients write `null` for none, which counts as one, as does nothing. */
function sinceTime(text: string | undefined): boolean {
  if (text === undefined) return false;
  if (text === '' || text === 'null') return true;
  try {
    parseTime(text);
  } catch (error) {
    throw badRequest((error as Error).message);
  }
  return true;
}
