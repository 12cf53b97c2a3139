/**
 * Turns whatever a verb throws into what kubectl prints: one clear line in its wording, never a stack trace.
 * Mirrors kubectl `cmd/util/helpers.go` (StandardErrorMessage, checkErr, AddSourceToErr).
 */
import { StatusError } from '../machinery/api/status.ts';

/** A mistake of the caller or a refusal by a verb; printed as `error: message`. */
export class CliError extends Error {
  readonly exitCode: number;
  constructor(message: string, options: { exitCode?: number; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = 'CliError';
    this.exitCode = options.exitCode ?? 1;
  }
}

/** Printed as it stands, without `error: ` in front. */
export class PlainError extends CliError {}

/** Ends the verb with this code; everything has been said already. */
export class Quiet extends CliError {
  constructor(exitCode: number) {
    super('', { exitCode });
  }
}

/** Several failures of one verb; each is printed on its own line. */
export class ManyErrors extends Error {
  readonly errors: readonly unknown[];
  constructor(errors: readonly unknown[]) {
    super('several errors');
    this.errors = errors;
  }
}

/** Throws nothing for an empty list, the error itself for one, all of them otherwise. */
export function throwAll(errors: readonly unknown[]): void {
  if (errors.length === 1) throw errors[0];
  if (errors.length > 1) throw new ManyErrors(errors);
}

/** A usage error: the message and where the help is, as cobra's UsageErrorf. */
export const usageError = (verb: string, message: string): CliError => new CliError(`${message}\nSee '${verb} -h' for help and examples`);

/** Says which manifest a failure belongs to: `error when creating "web.yaml": …`. */
export function withSource(error: unknown, doing: string, source: string): unknown {
  if (source === '') return error;
  if (error instanceof StatusError) {
    const { kind: _kind, apiVersion: _apiVersion, metadata: _metadata, ...status } = error.status;
    return new StatusError({ ...status, message: `error when ${doing} "${source}": ${error.status.message ?? ''}` }, { cause: error });
  }
  if (error instanceof CliError) return new CliError(`error when ${doing} "${source}": ${error.message}`, { cause: error });
  return error;
}

export interface Rendered {
  readonly text: string;
  readonly exitCode: number;
}

/** `server` names the API server in messages about reaching it. */
export function renderError(error: unknown, server = ''): Rendered {
  if (error instanceof ManyErrors) {
    const parts = error.errors.map((e) => renderError(e, server));
    return { text: [...new Set(parts.map((p) => p.text))].join('\n'), exitCode: 1 };
  }
  if (error instanceof CliError) return { text: cliText(error), exitCode: error.exitCode };
  if (error instanceof StatusError) return { text: statusText(error), exitCode: 1 };
  const unreachable = connectionText(error, server);
  if (unreachable !== undefined) return { text: unreachable, exitCode: 1 };
  return { text: prefixed(error instanceof Error ? error.message : String(error)), exitCode: 1 };
}

function cliText(error: CliError): string {
  return error instanceof PlainError || error.message === '' ? error.message : prefixed(error.message);
}

const prefixed = (message: string): string => (message.startsWith('error: ') ? message : `error: ${message}`);

/** What a failure means inside a longer sentence, without `error: `. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function statusText(error: StatusError): string {
  const { reason, message, details } = error.status;
  if (reason === 'Invalid') return invalidText(error);
  if (reason === 'Unauthorized') return `error: You must be logged in to the server (${message ?? 'Unauthorized'})`;
  return reason ? `Error from server (${reason}): ${message ?? ''}` : `Error from server: ${message ?? details?.kind ?? ''}`;
}

function invalidText(error: StatusError): string {
  const { message, details } = error.status;
  if (!details) return `The request is invalid: ${message ?? ''}`;
  const causes = [...new Set((details.causes ?? []).map((cause) => `${cause.field ?? ''}: ${cause.message ?? ''}`))];
  let subject = 'The request is invalid';
  if (details.kind || details.name) subject = `The ${details.kind ?? ''} "${details.name ?? ''}" is invalid`;
  else if (message && causes.length === 0) subject = `${subject}: ${message}`;
  if (causes.length === 0) return subject;
  return causes.length === 1 ? `${subject}: ${causes[0]}` : `${subject}: \n${causes.map((cause) => `* ${cause}`).join('\n')}`;
}

/** By name: the other system errors (EEXIST, ENOSPC, EROFS, EADDRINUSE …) are about files and ports of this machine. */
const OF_THE_NETWORK = new RegExp(
  `^(${[
    'ECONNRESET|ECONNABORTED|EPIPE|EPROTO|ETIMEDOUT|EHOSTUNREACH|EHOSTDOWN|ENETUNREACH|ENETDOWN|EADDRNOTAVAIL|ENOTFOUND|EAI_[A-Z]+',
    'UND_ERR_[A-Z_]+|ERR_TLS[A-Z_]*|ERR_SSL[A-Z_]*',
    'DEPTH_ZERO[A-Z_]*|UNABLE_TO[A-Z_]*|CERT_[A-Z_]*|SELF_SIGNED[A-Z_]*',
  ].join('|')})$`,
);

function connectionText(error: unknown, server: string): string | undefined {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 6; at = at.cause, depth++) {
    const code = (at as { code?: string }).code;
    const address = server.replace(/^https?:\/\//, '').replace(/\/$/, '');
    if (code === 'ECONNREFUSED' || code === 'ENOENT_SOCKET') {
      return `The connection to the server ${address} was refused - did you specify the right host or port?`;
    }
    if (code !== undefined && OF_THE_NETWORK.test(code)) return `Unable to connect to the server: ${at.message}`;
  }
  return undefined;
}
