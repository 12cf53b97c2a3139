/**
 * Questions asked by POST that are answered and never stored: who am I, is this token good, may this user do that. Mirrors kubernetes
 * `pkg/registry/authentication` and `pkg/registry/authorization`.
 */
import type { KubeObject } from '../../machinery/api/object.ts';
import { typeSchema } from '../../machinery/api/schema/schema.ts';
import { badRequest, invalid } from '../../machinery/api/status.ts';
import { formatTime, quote } from '../../machinery/api/time.ts';
import type { SubjectAccessReviewSpec } from '../../machinery/api/types/authorization.k8s.io.v1.ts';
import type { Attributes } from '../http/authorize.ts';
import type { RequestContext } from '../http/context.ts';
import { API_AUDIENCE, type ServiceAccountTokens } from '../http/service-account-tokens.ts';
import { writeOptions } from '../http/write-options.ts';
import { type AccessReview, accessReviewErrors, type ReviewForm, selectorComplaint } from '../registry/authorization/access-review.ts';
import type { UserInfo } from '../registry/resource.ts';
import type { Answer } from './answer.ts';
import { cleanMetadata } from './answered.ts';
import type { Api } from './api.ts';
import { decodeBody } from './decode.ts';
import type { Route } from './dispatch.ts';
import { recordCreate } from './field-ownership.ts';
import type { ServedResource } from './served.ts';

type Review = KubeObject & { spec?: Record<string, unknown>; status?: unknown };
/** Makes the answer to a question, mostly out of the question. */
type Reviewer = (api: Api, context: RequestContext, review: Review) => Review | Promise<Review>;

const REVIEWERS: Readonly<Record<string, Reviewer>> = {
  'authentication.k8s.io/selfsubjectreviews': reviewSelf,
  'authentication.k8s.io/tokenreviews': reviewToken,
  'authorization.k8s.io/subjectaccessreviews': reviewerOf('subject'),
  'authorization.k8s.io/localsubjectaccessreviews': reviewerOf('local'),
  'authorization.k8s.io/selfsubjectaccessreviews': reviewerOf('self'),
  'authorization.k8s.io/selfsubjectrulesreviews': reviewRules,
};

export function reviewRoute(served: ServedResource): Route | undefined {
  const reviewer = REVIEWERS[`${served.group}/${served.resource}`];
  if (reviewer === undefined) return undefined;
  return {
    form: 'value',
    handler: async (api: Api, context: RequestContext): Promise<Answer> => {
      const options = writeOptions(context, 'CreateOptions');
      const review = (await decodeBody(context, served, options.fieldValidation)) as Review;
      cleanMetadata(context, served, review);
      recordCreate(api, served, review, options);
      return { type: 'value', code: 201, schema: typeSchema(served.info.type), value: await reviewer(api, context, review) };
    },
  };
}

function userInfo(user: UserInfo): Record<string, unknown> {
  return { username: user.name, ...(user.uid && { uid: user.uid }), groups: user.groups, ...(user.extra && { extra: user.extra }) };
}

/** Of the question nothing is kept. */
function reviewSelf(api: Api, context: RequestContext, { apiVersion, kind }: Review): Review {
  const metadata = { creationTimestamp: formatTime(api.clock.now()) };
  return { apiVersion, kind, metadata, status: { userInfo: userInfo(context.user) } };
}

async function reviewToken(api: Api, _context: RequestContext, review: Review): Promise<Review> {
  const { token, audiences } = (review.spec ?? {}) as { token?: string; audiences?: string[] };
  if (!token) throw badRequest('token is required for TokenReview in authentication');
  return { ...review, status: await tokenStatus(api.tokens, token, audiences?.length ? audiences : [API_AUDIENCE]) };
}

async function tokenStatus(tokens: ServiceAccountTokens, token: string, wanted: readonly string[]): Promise<unknown> {
  const claimed = claimedAudiences(token);
  const user = await tokens.verify(token, claimed);
  if (user === undefined) return { user: {}, error: 'invalid bearer token' };
  const audiences = wanted.filter((audience) => claimed.includes(audience));
  if (audiences.length > 0)
    return { authenticated: true, user: userInfo({ ...user, groups: [...user.groups, 'system:authenticated'] }), audiences };
  const mismatch = `token audiences [${claimed.map(quote).join(' ')}] is invalid for the target audiences [${wanted.map(quote).join(' ')}]`;
  return { user: {}, error: `[invalid bearer token, ${mismatch}]` };
}

/** Whom a token says it is for, not yet verified. */
function claimedAudiences(token: string): readonly string[] {
  try {
    const { aud } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { aud?: unknown };
    return Array.isArray(aud) ? aud.filter((audience) => typeof audience === 'string') : [];
  } catch {
    return [];
  }
}

function reviewerOf(form: ReviewForm): Reviewer {
  return (api, context, review) => {
    const errors = accessReviewErrors(review as AccessReview, form);
    if (errors.length > 0) throw invalid({ group: 'authorization.k8s.io', kind: '' }, '', errors);
    const spec = (review.spec ?? {}) as SubjectAccessReviewSpec;
    return { ...review, status: decide(api, form === 'self' ? context.user : subjectOf(spec), spec) };
  };
}

const subjectOf = (spec: SubjectAccessReviewSpec): UserInfo => ({
  name: spec.user ?? '',
  groups: spec.groups ?? [],
  ...(spec.uid && { uid: spec.uid }),
  ...(spec.extra && { extra: spec.extra }),
});

function decide(api: Api, user: UserInfo, spec: SubjectAccessReviewSpec): unknown {
  const resource = spec.resourceAttributes;
  const attributes: Attributes = {
    user,
    verb: resource?.verb ?? spec.nonResourceAttributes?.verb ?? '',
    isResourceRequest: resource !== undefined,
    group: resource?.group ?? '',
    version: resource?.version ?? '',
    namespace: resource?.namespace ?? '',
    resource: resource?.resource ?? '',
    subresource: resource?.subresource ?? '',
    name: resource?.name ?? '',
    path: spec.nonResourceAttributes?.path ?? '',
  };
  const { allowed, denied, reason } = api.authorizer.authorize(attributes);
  const evaluationError = selectorComplaint(resource);
  return { allowed, ...(denied && { denied }), ...(reason !== '' && { reason }), ...(evaluationError !== '' && { evaluationError }) };
}

/** Of the question nothing is kept. */
function reviewRules(_api: Api, _context: RequestContext, { apiVersion, kind, spec }: Review): Review {
  if (!(spec as { namespace?: string } | undefined)?.namespace) throw badRequest('no namespace on request');
  const everything = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] };
  const status = { resourceRules: [everything], nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }], incomplete: false };
  return { apiVersion, kind, metadata: {}, spec: {}, status };
}
