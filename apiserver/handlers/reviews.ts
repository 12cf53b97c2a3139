/**
 * Questions asked by POST that are answered and never stored: who am I, is this token good, may this user do that. Mirrors kubernetes
 * `pkg/registry/authentication` and `pkg/registry/authorization`.
 */
import { type FieldError, invalidValue, required } from '../../machinery/api/field-error.ts';
import type { KubeObject } from '../../machinery/api/object.ts';
import { typeSchema } from '../../machinery/api/schema/schema.ts';
import { badRequest, invalid } from '../../machinery/api/status.ts';
import type { Attributes } from '../http/authorize.ts';
import type { RequestContext } from '../http/context.ts';
import { API_AUDIENCE } from '../http/service-account-tokens.ts';
import { writeOptions } from '../http/write-options.ts';
import type { UserInfo } from '../registry/resource.ts';
import type { Answer } from './answer.ts';
import type { Api } from './api.ts';
import { decodeBody } from './decode.ts';
import type { Route } from './dispatch.ts';
import { recordCreate } from './field-ownership.ts';
import type { ServedResource } from './served.ts';

type Review = KubeObject & { spec?: Record<string, unknown>; status?: unknown };
type Reviewer = (api: Api, context: RequestContext, review: Review) => unknown | Promise<unknown>;

const REVIEWERS: Readonly<Record<string, Reviewer>> = {
  'authentication.k8s.io/selfsubjectreviews': (_api, context) => ({ userInfo: userInfo(context.user) }),
  'authentication.k8s.io/tokenreviews': reviewToken,
  'authorization.k8s.io/subjectaccessreviews': reviewSubject,
  'authorization.k8s.io/localsubjectaccessreviews': reviewLocal,
  'authorization.k8s.io/selfsubjectaccessreviews': (api, context, review) => decide(api, context.user, review.spec ?? {}),
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
      recordCreate(api, served, review, options);
      review.status = await reviewer(api, context, review);
      return { type: 'value', code: 201, schema: typeSchema(served.info.type), value: review };
    },
  };
}

function userInfo(user: UserInfo): Record<string, unknown> {
  return { username: user.name, ...(user.uid && { uid: user.uid }), groups: user.groups, ...(user.extra && { extra: user.extra }) };
}

async function reviewToken(api: Api, _context: RequestContext, review: Review): Promise<unknown> {
  const { token, audiences } = (review.spec ?? {}) as { token?: string; audiences?: string[] };
  if (!token) throw badRequest('token is required for TokenReview in authentication');
  const accepted = audiences?.length ? audiences : [API_AUDIENCE];
  const user = await api.tokens.verify(token, accepted);
  if (user === undefined) return { user: {}, error: 'invalid bearer token' };
  return { authenticated: true, user: userInfo({ ...user, groups: [...user.groups, 'system:authenticated'] }), audiences: accepted };
}

interface AccessSpec {
  resourceAttributes?: Partial<Record<'namespace' | 'verb' | 'group' | 'version' | 'resource' | 'subresource' | 'name', string>>;
  nonResourceAttributes?: { path?: string; verb?: string };
  user?: string;
  groups?: string[];
  uid?: string;
  extra?: Record<string, string[]>;
}

function reviewSubject(api: Api, _context: RequestContext, review: Review): unknown {
  const spec = (review.spec ?? {}) as AccessSpec;
  const errors = attributeErrors(spec);
  if (!spec.user && !spec.groups?.length) errors.push(invalidValue('spec.user', '', 'at least one of user or group must be specified'));
  refuse(errors);
  return decide(api, subjectOf(spec), review.spec ?? {});
}

function reviewLocal(api: Api, context: RequestContext, review: Review): unknown {
  const spec = (review.spec ?? {}) as AccessSpec;
  const { namespace } = context.info;
  if ((spec.resourceAttributes?.namespace ?? '') !== namespace) {
    throw badRequest(`spec.resourceAttributes.namespace must match namespace: ${namespace}`);
  }
  return reviewSubject(api, context, review);
}

const subjectOf = (spec: AccessSpec): UserInfo => ({
  name: spec.user ?? '',
  groups: spec.groups ?? [],
  ...(spec.uid && { uid: spec.uid }),
  ...(spec.extra && { extra: spec.extra }),
});

function attributeErrors(spec: AccessSpec): FieldError[] {
  const both = spec.resourceAttributes !== undefined && spec.nonResourceAttributes !== undefined;
  const neither = spec.resourceAttributes === undefined && spec.nonResourceAttributes === undefined;
  if (both) return [invalidValue('spec.nonResourceAttributes', '', 'cannot be specified in combination with resourceAttributes')];
  return neither
    ? [required('spec.resourceAttributes', 'exactly one of nonResourceAttributes or resourceAttributes must be specified')]
    : [];
}

function refuse(errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalid({ group: 'authorization.k8s.io', kind: '' }, '', errors);
}

function decide(api: Api, user: UserInfo, sent: Record<string, unknown>): unknown {
  const spec = sent as AccessSpec;
  refuse(attributeErrors(spec));
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
  return { allowed, ...(denied && { denied }), ...(reason !== '' && { reason }) };
}

function reviewRules(_api: Api, _context: RequestContext, review: Review): unknown {
  const { namespace } = (review.spec ?? {}) as { namespace?: string };
  if (!namespace) throw badRequest('no namespace on request');
  const everything = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] };
  return { resourceRules: [everything], nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }], incomplete: false };
}
