/**
 * Service account tokens: signed JWTs bound to an account, and optionally to a pod, node or secret. Mirrors kubernetes `pkg/serviceaccount`.
 *
 * Invariant: a token is good only while the account, and the object it is bound to, exist with the same uid.
 */
import { createHash, createPrivateKey, createPublicKey, createSign, createVerify, type KeyObject } from 'node:crypto';
import type { Clock } from '../../machinery/process/clock.ts';
import type { Random } from '../../machinery/process/random.ts';
import type { ObjectReader, UserInfo } from '../registry/resource.ts';

const ISSUER = 'https://kubernetes.default.svc.cluster.local';
/** Who tokens are for when a request names nobody: the API server, which goes by the issuer's name. */
export const API_AUDIENCE = ISSUER;

export interface BoundObject {
  readonly kind: 'Pod' | 'Node' | 'Secret';
  readonly name: string;
  readonly uid: string;
  /** Where a pod runs. */
  readonly node?: NodeClaim;
}

/** Without a uid: it was not there when the token was issued. */
interface NodeClaim {
  readonly name: string;
  readonly uid?: string;
}

export interface TokenRequest {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly audiences: readonly string[];
  readonly expirationSeconds: number;
  readonly bound?: BoundObject;
}

export interface ServiceAccountTokens {
  issue(request: TokenRequest): { token: string; expirationTimestamp: string };
  /** The user of a good token for one of `audiences` (the API's own when absent); undefined for any other. */
  verify(token: string, audiences?: readonly string[]): Promise<UserInfo | undefined>;
  /** Who signs, as tokens and the OpenID document name it. */
  readonly issuer: string;
  /** The key that verifies, as a JSON Web Key Set. */
  jwks(): { keys: unknown[] };
}

export interface TokenDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly reader: ObjectReader;
  /** PEM of an EC P-256 key. */
  readonly privateKey: string;
}

interface Claims {
  readonly aud: readonly string[];
  readonly exp: number;
  readonly iss: string;
  readonly jti: string;
  readonly nbf: number;
  readonly sub: string;
  readonly 'kubernetes.io': {
    readonly namespace: string;
    readonly serviceaccount: { readonly name: string; readonly uid: string };
    readonly pod?: { readonly name: string; readonly uid: string };
    readonly node?: NodeClaim;
    readonly secret?: { readonly name: string; readonly uid: string };
  };
}

/** A token that is longer is not looked at. */
const MAX_TOKEN_BYTES = 16 * 1024;

export function createServiceAccountTokens(deps: TokenDeps): ServiceAccountTokens {
  const key = createPrivateKey(deps.privateKey);
  const publicKey = createPublicKey(key);
  const kid = keyId(publicKey);
  return {
    issue: (request) => {
      const now = Math.floor(deps.clock.now().getTime() / 1000);
      const claims = claimsOf(request, now, deps.random.uuid());
      return { token: sign(key, kid, claims), expirationTimestamp: `${new Date(claims.exp * 1000).toISOString().slice(0, 19)}Z` };
    },
    verify: async (token, audiences = [API_AUDIENCE]) => {
      const claims = token.length > MAX_TOKEN_BYTES ? undefined : verifySignature(publicKey, token);
      return claims !== undefined && isLive(deps, claims, audiences) ? userOf(claims) : undefined;
    },
    issuer: ISSUER,
    jwks: () => ({ keys: [{ use: 'sig', kid, alg: 'ES256', ...publicKey.export({ format: 'jwk' }) }] }),
  };
}

function keyId(publicKey: KeyObject): string {
  return createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('base64url');
}

function claimsOf(request: TokenRequest, now: number, jti: string): Claims & { iat: number } {
  const bound = request.bound;
  const { kind = '', name, uid, node } = bound ?? {};
  const boundClaim = bound === undefined ? {} : { ...(node && { node }), [kind.toLowerCase()]: { name, uid } };
  return {
    aud: request.audiences.length > 0 ? request.audiences : [API_AUDIENCE],
    exp: now + request.expirationSeconds,
    iat: now,
    iss: ISSUER,
    jti,
    'kubernetes.io': { namespace: request.namespace, ...boundClaim, serviceaccount: { name: request.name, uid: request.uid } },
    nbf: now,
    sub: `system:serviceaccount:${request.namespace}:${request.name}`,
  };
}

function sign(key: KeyObject, kid: string, claims: object): string {
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${encode({ alg: 'ES256', kid })}.${encode(claims)}`;
  const signature = createSign('sha256').update(signed).sign({ key, dsaEncoding: 'ieee-p1363' });
  return `${signed}.${signature.toString('base64url')}`;
}

/** Only ES256 with our key: the header's algorithm is compared, never followed. */
function verifySignature(publicKey: KeyObject, token: string): Claims | undefined {
  const parts = token.split('.');
  if (parts.length !== 3) return undefined;
  try {
    const head = JSON.parse(Buffer.from(parts[0]!, 'base64url').toString()) as { alg?: string };
    if (head.alg !== 'ES256') return undefined;
    const signature = Buffer.from(parts[2]!, 'base64url');
    const good = createVerify('sha256').update(`${parts[0]}.${parts[1]}`).verify({ key: publicKey, dsaEncoding: 'ieee-p1363' }, signature);
    return good ? (JSON.parse(Buffer.from(parts[1]!, 'base64url').toString()) as Claims) : undefined;
  } catch {
    return undefined;
  }
}

function isLive(deps: TokenDeps, claims: Claims, audiences: readonly string[]): boolean {
  const now = deps.clock.now().getTime() / 1000;
  if (claims.iss !== ISSUER || claims.exp <= now || claims.nbf > now + 60 || !claims.aud.some((a) => audiences.includes(a))) return false;
  const { namespace, serviceaccount, pod, node, secret } = claims['kubernetes.io'];
  const uidOf = (resource: string, ns: string, name: string): string | undefined => deps.reader.get('', resource, ns, name)?.metadata.uid;
  if (uidOf('serviceaccounts', namespace, serviceaccount.name) !== serviceaccount.uid) return false;
  // The node of a pod is only told.
  if (pod !== undefined) return uidOf('pods', namespace, pod.name) === pod.uid;
  if (secret !== undefined && uidOf('secrets', namespace, secret.name) !== secret.uid) return false;
  return node === undefined || uidOf('nodes', '', node.name) === node.uid;
}

function userOf(claims: Claims): UserInfo {
  const { namespace, serviceaccount, pod, node } = claims['kubernetes.io'];
  const extra: Record<string, readonly string[]> = { 'authentication.kubernetes.io/credential-id': [`JTI=${claims.jti}`] };
  if (pod !== undefined) {
    extra['authentication.kubernetes.io/pod-name'] = [pod.name];
    extra['authentication.kubernetes.io/pod-uid'] = [pod.uid];
  }
  if (node !== undefined) {
    extra['authentication.kubernetes.io/node-name'] = [node.name];
    if (node.uid !== undefined) extra['authentication.kubernetes.io/node-uid'] = [node.uid];
  }
  return {
    name: `system:serviceaccount:${namespace}:${serviceaccount.name}`,
    uid: serviceaccount.uid,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
    extra,
  };
}
