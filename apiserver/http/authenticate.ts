/**
 * Who asks: a client certificate signed by our CA, a service account token, or nobody (anonymous). Mirrors apiserver
 * `authentication/request`: x509, bearer token, anonymous, in this order.
 */
import type { TLSSocket } from 'node:tls';
import { unauthorized } from '../../machinery/api/status.ts';
import { mutant } from '../../machinery/process/mutants.ts';
import type { UserInfo } from '../registry/resource.ts';
import type { RequestContext } from './context.ts';
import { header } from './context.ts';
import type { ServiceAccountTokens } from './service-account-tokens.ts';
import { protocolToken } from './web-socket.ts';

export const ANONYMOUS_NAME = 'system:anonymous';
export const ANONYMOUS_GROUP = 'system:unauthenticated';
export const ANONYMOUS: UserInfo = { name: ANONYMOUS_NAME, groups: [ANONYMOUS_GROUP] };
const AUTHENTICATED = 'system:authenticated';

/** What a connection's certificate says, read once per connection. */
const byConnection = new WeakMap<object, UserInfo | 'invalid' | 'none'>();

export interface Authentication {
  readonly tokens: ServiceAccountTokens;
  /** Whether a request without credentials is taken, as the anonymous user; else it is 401. */
  readonly anonymousAuth: boolean;
}

/** A promise only for tokens; throws or rejects with 401. */
export function authenticate(context: RequestContext, { tokens, anonymousAuth }: Authentication): UserInfo | Promise<UserInfo> {
  const fromCertificate = certificateUser(context.raw.socket as TLSSocket);
  if (fromCertificate === 'invalid') throw unauthorized();
  if (fromCertificate !== 'none') return fromCertificate;
  const token = bearerToken(header(context, 'authorization')) ?? protocolToken(header(context, 'sec-websocket-protocol'));
  if (token !== undefined) return tokenUser(tokens, token);
  if (!anonymousAuth) throw unauthorized();
  return ANONYMOUS;
}

async function tokenUser(tokens: ServiceAccountTokens, token: string): Promise<UserInfo> {
  const user = await tokens.verify(token);
  if (user === undefined) throw unauthorized();
  return { ...user, groups: [...user.groups, AUTHENTICATED] };
}

/** `Bearer ` without a token, other schemes and nonsense are no credential at all. */
export function bearerToken(value: string | undefined): string | undefined {
  const match = /^bearer +([^ ]+)/i.exec((value ?? '').trim());
  return match?.[1];
}

function certificateUser(socket: TLSSocket): UserInfo | 'invalid' | 'none' {
  const known = byConnection.get(socket);
  if (known !== undefined) return known;
  const user = readCertificate(socket);
  byConnection.set(socket, user);
  return user;
}

/** Invariant: names are read from a certificate only after the TLS layer verified it against our CA. */
function readCertificate(socket: TLSSocket): UserInfo | 'invalid' | 'none' {
  const certificate = socket.getPeerCertificate?.();
  if (certificate === undefined || certificate === null || Object.keys(certificate).length === 0) return 'none';
  if (!socket.authorized && !mutant('auth.certificate-unverified')) return 'invalid';
  const { CN, O } = certificate.subject as unknown as { CN?: string | string[]; O?: string | string[] };
  const name = Array.isArray(CN) ? CN[0] : CN;
  if (!name) return 'invalid';
  const groups = O === undefined ? [] : Array.isArray(O) ? O : [O];
  const extra = {
    'authentication.kubernetes.io/credential-id': [`X509SHA256=${certificate.fingerprint256.replaceAll(':', '').toLowerCase()}`],
  };
  return { name, groups: [...groups, AUTHENTICATED], extra };
}
