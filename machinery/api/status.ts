/**
 * The error of the API: a `Status` object with upstream's reason, code and wording. Mirrors apimachinery `api/errors/errors.go`.
 * Handlers throw `StatusError`; one place in the API server writes it; the client throws the same class again on the other side.
 */
import { type FieldError, quoteGo } from './field-error.ts';
import type { Status, StatusCause, StatusDetails } from './types/meta.v1.ts';

export type { Status, StatusDetails };

export interface GroupResource {
  readonly group: string;
  readonly resource: string;
}

export class StatusError extends Error {
  readonly status: Status;
  constructor(status: Omit<Status, 'kind' | 'apiVersion' | 'metadata'>, options?: ErrorOptions) {
    super(status.message ?? '', options);
    this.name = 'StatusError';
    this.status = { kind: 'Status', apiVersion: 'v1', metadata: {}, ...status };
  }
  get code(): number {
    return this.status.code ?? 500;
  }
  get reason(): string {
    return this.status.reason ?? '';
  }
}

/** True for a StatusError whose reason is one of `reasons`, such as `isReason(error, 'NotFound')`. */
export function isReason(error: unknown, ...reasons: string[]): error is StatusError {
  return error instanceof StatusError && reasons.includes(error.reason);
}

const failure = (code: number, reason: string, message: string, details?: StatusDetails): StatusError =>
  new StatusError({ status: 'Failure', message, ...(reason && { reason }), ...(details && { details }), code });

const qualified = (gr: GroupResource): string => (gr.group === '' ? gr.resource : `${gr.resource}.${gr.group}`);
const detailsOf = (gr: GroupResource, name: string): StatusDetails => ({
  ...(name && { name }),
  ...(gr.group && { group: gr.group }),
  ...(gr.resource && { kind: gr.resource }),
});

export const notFound = (gr: GroupResource, name: string): StatusError =>
  failure(404, 'NotFound', `${qualified(gr)} ${quoteGo(name)} not found`, detailsOf(gr, name));

/** 404 for a path that names nothing; `details` is present and empty, as upstream's generic answer. */
export const notFoundPath = (): StatusError => failure(404, 'NotFound', 'the server could not find the requested resource', {});

export const alreadyExists = (gr: GroupResource, name: string): StatusError =>
  failure(409, 'AlreadyExists', `${qualified(gr)} ${quoteGo(name)} already exists`, detailsOf(gr, name));

export const conflict = (gr: GroupResource, name: string, why: string): StatusError =>
  failure(409, 'Conflict', `Operation cannot be fulfilled on ${qualified(gr)} ${quoteGo(name)}: ${why}`, detailsOf(gr, name));

export const OBJECT_MODIFIED = 'the object has been modified; please apply your changes to the latest version and try again';

export const badRequest = (message: string): StatusError => failure(400, 'BadRequest', message);

export const unauthorized = (): StatusError => failure(401, 'Unauthorized', 'Unauthorized');

export const forbidden = (gr: GroupResource, name: string, why: string): StatusError => {
  const message =
    gr.resource === ''
      ? `forbidden: ${why}`
      : name === ''
        ? `${qualified(gr)} is forbidden: ${why}`
        : `${qualified(gr)} ${quoteGo(name)} is forbidden: ${why}`;
  return failure(403, 'Forbidden', message, detailsOf(gr, name));
};

export const methodNotAllowed = (gr: GroupResource, action: string): StatusError =>
  failure(405, 'MethodNotAllowed', `${action} is not supported on resources of kind "${qualified(gr)}"`, detailsOf(gr, ''));

export const internalError = (message: string, options?: ErrorOptions): StatusError =>
  new StatusError(
    {
      status: 'Failure',
      message: `Internal error occurred: ${message}`,
      reason: 'InternalError',
      details: { causes: [{ message }] },
      code: 500,
    },
    options,
  );

/** 500 with no reason: how upstream answers an error that it did not classify. */
export const unclassified = (message: string): StatusError => failure(500, '', message);

/** 410 when a resource version or a continue token is older than what is kept. */
export const expired = (message: string): StatusError => failure(410, 'Expired', message);

export const timeout = (message: string, retryAfterSeconds: number): StatusError =>
  failure(504, 'Timeout', `Timeout: ${message}`, retryAfterSeconds > 0 ? { retryAfterSeconds } : {});

export const tooManyRequests = (message: string, retryAfterSeconds: number): StatusError =>
  failure(429, 'TooManyRequests', message, retryAfterSeconds > 0 ? { retryAfterSeconds } : {});

export const requestEntityTooLarge = (message: string): StatusError =>
  failure(413, 'RequestEntityTooLarge', `Request entity too large: ${message}`);

export const unsupportedMediaType = (message: string): StatusError => failure(415, 'UnsupportedMediaType', message);

export const notAcceptable = (message: string): StatusError => failure(406, 'NotAcceptable', message);

/** 422 with every field error as a cause (errors.NewInvalid). `errors` keeps validation order. */
export function invalid(gk: { group: string; kind: string }, name: string, errors: readonly FieldError[]): StatusError {
  const causes: StatusCause[] = errors.map((e) => ({ reason: e.type, message: e.body, field: e.field }));
  const texts = [...new Set(errors.map((e) => e.message))];
  const aggregate = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`;
  const kind = gk.group === '' ? gk.kind : `${gk.kind}.${gk.group}`;
  return failure(422, 'Invalid', `${kind} ${quoteGo(name)} is invalid${errors.length > 0 ? `: ${aggregate}` : ''}`, {
    ...(name && { name }),
    ...(gk.group && { group: gk.group }),
    ...(gk.kind && { kind: gk.kind }),
    ...(causes.length > 0 && { causes }),
  });
}
