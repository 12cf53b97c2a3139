/**
 * The authorizer of `--authorization-mode AlwaysAllow`: whoever has proven a name may do everything, a caller without one may only ask whether
 * the server is well and which version it is. Mirrors what upstream's roles `system:public-info-viewer` and `system:discovery` leave to
 * `system:unauthenticated`.
 *
 * Invariant: nobody reads or writes an object without credentials, whichever way the request came to be anonymous (none sent, or impersonated).
 */
import type { UserInfo } from '../registry/resource.ts';
import { ANONYMOUS_GROUP, ANONYMOUS_NAME } from './authenticate.ts';
import type { Attributes, Authorizer, Decision } from './authorize.ts';

/** Exactly these: `/livez/ping` is not among them. */
const PUBLIC_PATHS = new Set(['/healthz', '/livez', '/readyz', '/version', '/version/']);
const ALLOWED: Decision = { allowed: true, reason: '' };
const NO_OPINION: Decision = { allowed: false, reason: '' };

export const allowNamedUsers: Authorizer = {
  authorize: (attributes) => (!isAnonymous(attributes.user) || isPublicInfo(attributes) ? ALLOWED : NO_OPINION),
};

export const isAnonymous = (user: UserInfo): boolean => user.name === ANONYMOUS_NAME || user.groups.includes(ANONYMOUS_GROUP);

const isPublicInfo = (attributes: Attributes): boolean =>
  !attributes.isResourceRequest && attributes.verb === 'get' && PUBLIC_PATHS.has(attributes.path);

/** What `--authorization-mode` may name. */
const AUTHORIZERS: Readonly<Record<string, Authorizer>> = { AlwaysAllow: allowNamedUsers };

/** The authorizer of the modes of the command line. Throws one sentence for modes that are not known, missing or repeated. */
export function authorizerFor(modes: readonly string[]): Authorizer {
  const known = Object.keys(AUTHORIZERS).join(', ');
  const unknown = modes.filter((mode) => !Object.hasOwn(AUTHORIZERS, mode));
  if (unknown.length > 0)
    throw new Error(`--authorization-mode: ${unknown.join(', ')} ${unknown.length === 1 ? 'is' : 'are'} not known here; known: ${known}`);
  if (modes.length !== 1) throw new Error(`--authorization-mode: exactly one mode must be named; known: ${known}`);
  return AUTHORIZERS[modes[0]!]!;
}
