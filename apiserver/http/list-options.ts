/**
 * The options of lists and watches and the rules between them. Mirrors metav1 ListOptions, `internalversion/validation` and the storage
 * layer's reading of resourceVersion.
 */
import { type FieldError, forbiddenField, notSupported } from '../../machinery/api/field-error.ts';
import { badRequest, invalid, StatusError, timeout, unclassified } from '../../machinery/api/status.ts';
import type { Api } from '../handlers/api.ts';
import type { RequestContext } from './context.ts';
import type { Query } from './query.ts';
import { isTrue } from './write-options.ts';

export interface ListOptions {
  readonly resourceVersion: string;
  readonly resourceVersionMatch: string;
  readonly limit: number;
  readonly continue: string;
  readonly timeoutSeconds: number | undefined;
  readonly labelSelector: string;
  readonly fieldSelector: string;
  readonly allowWatchBookmarks: boolean;
  readonly sendInitialEvents: boolean | undefined;
}

const INT64 = 9223372036854775807n;

export function listOptions(query: Query): ListOptions {
  const timeoutSeconds = integer(query.get('timeoutSeconds'));
  const initial = query.get('sendInitialEvents');
  return {
    resourceVersion: query.get('resourceVersion') ?? '',
    resourceVersionMatch: query.get('resourceVersionMatch') ?? '',
    limit: Math.max(integer(query.get('limit')) ?? 0, 0),
    continue: query.get('continue') ?? '',
    timeoutSeconds,
    labelSelector: query.get('labelSelector') ?? '',
    fieldSelector: query.get('fieldSelector') ?? '',
    allowWatchBookmarks: isTrue(query.get('allowWatchBookmarks')),
    sendInitialEvents: initial === undefined ? undefined : isTrue(initial),
  };
}

/** Go's strconv.ParseInt(text, 10, 64) and its errors. */
export function integer(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[+-]?[0-9]+$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  const value = BigInt(text.replace(/^\+/, ''));
  if (value > INT64 || value < -INT64 - 1n) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: value out of range`);
  return Number(value);
}

/** 422 for combinations that make no sense (ValidateListOptions): every rule that is broken, in upstream's order. */
export function validateListOptions(options: ListOptions, isWatch: boolean): void {
  const errors = isWatch ? watchErrors(options) : listErrors(options);
  if (errors.length > 0) throw invalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', errors);
}

const matchForbidden = (why: string): FieldError => forbiddenField('resourceVersionMatch', why);
const WITH_CONTINUE = 'resourceVersionMatch is forbidden when continue is provided';

function listErrors({ resourceVersionMatch: match, resourceVersion, sendInitialEvents, continue: token }: ListOptions): FieldError[] {
  const errors: FieldError[] = [];
  if (match !== '') {
    if (resourceVersion === '') errors.push(matchForbidden('resourceVersionMatch is forbidden unless resourceVersion is provided'));
    if (token !== '') errors.push(matchForbidden(WITH_CONTINUE));
    if (match !== 'Exact' && match !== 'NotOlderThan')
      errors.push(notSupported('resourceVersionMatch', match, ['Exact', 'NotOlderThan', '']));
    if (match === 'Exact' && resourceVersion === '0')
      errors.push(matchForbidden('resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
  }
  if (sendInitialEvents !== undefined) errors.push(forbiddenField('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  return errors;
}

function watchErrors({ resourceVersionMatch: match, sendInitialEvents, continue: token }: ListOptions): FieldError[] {
  const errors: FieldError[] = [];
  if (sendInitialEvents !== undefined && match !== 'NotOlderThan')
    errors.push(matchForbidden('sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'));
  if (match !== '') {
    if (sendInitialEvents === undefined)
      errors.push(matchForbidden('resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'));
    if (match !== 'NotOlderThan') errors.push(notSupported('resourceVersionMatch', match, ['NotOlderThan']));
  }
  if (token !== '') errors.push(matchForbidden(WITH_CONTINUE));
  return errors;
}

/** A revision as text; undefined when it is no unsigned integer. */
export function parseRevision(text: string): number | undefined {
  return /^[0-9]+$/.test(text) && BigInt(text) <= 18446744073709551615n ? Number(text) : undefined;
}

export function invalidVersion(text: string, where: 'get' | 'list' | 'watch'): StatusError {
  const why = /^[0-9]+$/.test(text) ? 'value out of range' : 'invalid syntax';
  const message = `resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: ${why}`;
  return where === 'list' ? badRequest(`invalid resource version: ${message}`) : unclassified(message);
}

/** How long a read waits for a revision that has not been reached. */
const WAIT_MS = 3000;
const POLL_MS = 50;

/** Waits a little for a version of the future, then refuses. */
export async function requireReached(api: Api, context: RequestContext, revision: number): Promise<void> {
  const started = api.clock.monotonicMs();
  while (api.store.revision < revision) {
    if (api.clock.monotonicMs() - started >= WAIT_MS) throw tooLarge(revision, api.store.revision);
    await api.clock.sleep(POLL_MS, context.signal);
  }
}

export function tooLarge(revision: number, current: number): StatusError {
  const error = timeout(`Too large resource version: ${revision}, current: ${current}`, 1);
  const causes = [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }];
  return new StatusError({ ...error.status, details: { causes, retryAfterSeconds: 1 } });
}
