/** Answers that no handler gives: a path that is nothing, a method a path does not take. */
import { StatusError } from '../../machinery/api/status.ts';

/** Plain text, as Go's mux answers an address that nobody registered. */
export class PageNotFound extends Error {}

export const pageNotFound = (): PageNotFound => new PageNotFound('404 page not found');

export const methodNotAllowedPath = (): StatusError =>
  new StatusError({
    status: 'Failure',
    message: 'the server does not allow this method on the requested resource',
    reason: 'MethodNotAllowed',
    details: {},
    code: 405,
  });
