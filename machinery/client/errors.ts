/** What can go wrong between a client and its server: no connection (ConnectionError) or an answer that is no success (StatusError). */
import { type Status, StatusError } from '../api/status.ts';

/** The server could not be reached, or the connection broke before the whole answer was there: a write may or may not have happened. */
export class ConnectionError extends Error {
  /** The system's code, such as ECONNREFUSED, or undici's. */
  readonly code: string;
  constructor(server: string, cause: unknown) {
    super(`no answer from ${server}`, { cause });
    this.name = 'ConnectionError';
    this.code = codeOf(cause);
  }
  /** Nobody listens: trying again costs the server nothing. */
  get refused(): boolean {
    return this.code === 'ECONNREFUSED' || this.code === 'ENOENT' || this.code === 'ENOTFOUND' || this.code === 'EAI_AGAIN';
  }
}

function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  const { code, errors } = error as { code?: unknown; errors?: unknown[] };
  if (typeof code === 'string') return code;
  return Array.isArray(errors) && errors.length > 0 ? codeOf(errors[0]) : '';
}

interface Asked {
  readonly method: string;
  /** `pods.apps "a"`-like suffix parts; absent for raw paths. */
  readonly resource?: { readonly group: string; readonly resource: string };
  readonly name?: string;
}

/** Reason and message by code, for answers that are no Status (apimachinery errors.NewGenericServerResponse). */
const GENERIC: Readonly<Record<number, readonly [reason: string, message: string]>> = {
  400: ['BadRequest', 'the server rejected our request for an unknown reason'],
  401: ['Unauthorized', 'the server has asked for the client to provide credentials'],
  403: ['Forbidden', 'the server does not allow access to the requested resource'],
  404: ['NotFound', 'the server could not find the requested resource'],
  405: ['MethodNotAllowed', 'the server does not allow this method on the requested resource'],
  406: ['NotAcceptable', 'the server was unable to respond with a content type that the client supports'],
  409: ['Conflict', 'the server reported a conflict'],
  415: ['UnsupportedMediaType', 'the server was unable to accept the content type of the request'],
  422: ['Invalid', 'the server rejected our request due to an error in our request'],
  429: ['TooManyRequests', 'the server has received too many requests and has asked us to try again later'],
  503: ['ServiceUnavailable', 'the server is currently unable to handle the request'],
  504: ['Timeout', 'the server was unable to return a response in the time allotted, but may still be processing the request'],
};

/** The error behind an answer of 400 and above. */
export function errorFromResponse(code: number, body: Buffer, asked: Asked): StatusError {
  const status = readStatus(body);
  if (status) return new StatusError(status);
  const text = body.toString('utf8').trim();
  const generic =
    GENERIC[code] ??
    (code >= 500
      ? ['InternalError', `an error on the server (${JSON.stringify(text)}) has prevented the request from succeeding`]
      : undefined);
  let [reason, message] = generic ?? ['', `the server responded with the status code ${code} but did not return more information`];
  if (code === 409 && asked.method === 'POST') reason = 'AlreadyExists';
  if (code === 403 && text !== '') message = text;
  if (asked.resource?.resource) {
    const { group, resource } = asked.resource;
    const what = group ? `${resource}.${group}` : resource;
    message += asked.name ? ` (${asked.method.toLowerCase()} ${what} ${asked.name})` : ` (${asked.method.toLowerCase()} ${what})`;
  }
  return new StatusError({
    status: 'Failure',
    message,
    reason,
    code,
    details: {
      ...(asked.name && { name: asked.name }),
      ...(asked.resource?.group && { group: asked.resource.group }),
      ...(asked.resource?.resource && { kind: asked.resource.resource }),
      causes: [{ reason: 'UnexpectedServerResponse', message: text || 'unknown' }],
    },
  });
}

function readStatus(body: Buffer): Status | undefined {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return isStatus(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function isStatus(value: unknown): value is Status {
  return typeof value === 'object' && value !== null && (value as Status).kind === 'Status';
}

/** Reasons with which a server says that it no longer has, or never had, the version we ask to start from. */
export function isExpired(error: unknown): boolean {
  return error instanceof StatusError && (error.code === 410 || error.reason === 'Expired' || error.reason === 'Gone');
}
