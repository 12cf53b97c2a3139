/** TokenRequest: a signed token for a service account, bound to a pod, node or secret if asked. Mirrors kubernetes `pkg/registry/core/serviceaccount/storage/token.go`. */
import { type FieldError, invalidValue } from '../../machinery/api/field-error.ts';
import { type KubeObject, parseApiVersion } from '../../machinery/api/object.ts';
import { typeSchema } from '../../machinery/api/schema/schema.ts';
import { badRequest, conflict, invalid, notFound } from '../../machinery/api/status.ts';
import { formatTime, quote } from '../../machinery/api/time.ts';
import type { Pod } from '../../machinery/api/types/core.v1.ts';
import type { RequestContext } from '../http/context.ts';
import { API_AUDIENCE, type BoundObject } from '../http/service-account-tokens.ts';
import { writeOptions } from '../http/write-options.ts';
import type { Answer } from './answer.ts';
import { cleanMetadata } from './answered.ts';
import type { Api } from './api.ts';
import { decodeBody } from './decode.ts';
import { recordAnswered } from './field-ownership.ts';
import { requireLiveNamespace } from './namespace-lifecycle.ts';
import { storedVersion } from './persist.ts';
import type { ServedResource } from './served.ts';

const GROUP = 'authentication.k8s.io';
const DEFAULT_SECONDS = 3600;
const MIN_SECONDS = 600;
const MAX_SECONDS = 2 ** 32;

interface BoundObjectReference {
  kind?: string;
  apiVersion?: string;
  name?: string;
  uid?: string;
}

interface TokenSpec {
  audiences?: string[] | null;
  expirationSeconds?: number;
  boundObjectRef?: BoundObjectReference | null;
}
type TokenRequestObject = KubeObject & { spec?: TokenSpec; status?: unknown };

export async function createToken(api: Api, context: RequestContext, served: ServedResource): Promise<Answer> {
  const options = writeOptions(context, 'CreateOptions');
  const schema = typeSchema('authentication.k8s.io.v1.TokenRequest');
  const request = (await decodeBody(
    context,
    { group: GROUP, version: 'v1', kind: 'TokenRequest', schema },
    options.fieldValidation,
  )) as TokenRequestObject;
  const { namespace, name } = context.info;
  cleanMetadata(context, served, request);
  request.spec ??= {};
  request.spec.expirationSeconds ??= DEFAULT_SECONDS;
  recordAnswered(api, { apiVersion: `${GROUP}/v1`, schema, subresource: 'token' }, request, options.fieldManager);
  requireLiveNamespace(api, served, namespace, name);
  requireAccountName(request, name);
  const account = api.cache.read(storedVersion(api.store, served, namespace, name));
  const uid = account.metadata.uid ?? '';
  Object.assign(request.metadata, { name, uid, creationTimestamp: formatTime(api.clock.now()) });
  request.status = issue(api, request as Named, uid);
  return { type: 'value', code: 201, schema, value: request };
}

function requireAccountName({ metadata }: TokenRequestObject, name: string): void {
  if (!metadata.name || metadata.name === name) return;
  const error = invalidValue('metadata.name', metadata.name, 'must match the service account name if specified');
  throw invalid({ group: GROUP, kind: 'TokenRequest' }, name, [error]);
}

type Named = TokenRequestObject & { metadata: { name: string; namespace: string }; spec: TokenSpec & { expirationSeconds: number } };

function issue(api: Api, { metadata, spec }: Named, uid: string): { token: string; expirationTimestamp: string } {
  const { name, namespace } = metadata;
  const { expirationSeconds } = spec;
  const audiences = spec.audiences?.length ? spec.audiences : [API_AUDIENCE];
  spec.audiences = audiences;
  validate(expirationSeconds);
  const bound = spec.boundObjectRef ? boundObject(api, metadata, spec.boundObjectRef) : undefined;
  return api.tokens.issue({ namespace, name, uid, audiences, expirationSeconds, ...(bound && { bound }) });
}

function validate(seconds: number): void {
  const errors: FieldError[] = [];
  if (seconds < MIN_SECONDS)
    errors.push(invalidValue('spec.expirationSeconds', seconds, 'may not specify a duration less than 10 minutes'));
  if (seconds > MAX_SECONDS)
    errors.push(invalidValue('spec.expirationSeconds', seconds, 'may not specify a duration larger than 2^32 seconds'));
  if (errors.length > 0) throw invalid({ group: GROUP, kind: 'TokenRequest' }, '', errors);
}

const BINDABLE: Readonly<Record<string, string>> = { Pod: 'pods', Node: 'nodes', Secret: 'secrets' };

function boundObject(api: Api, account: { name: string; namespace: string }, ref: BoundObjectReference): BoundObject {
  const { kind = '', name = '', apiVersion = '' } = ref;
  const { group, version } = parseApiVersion(apiVersion);
  const resource = group === '' && Object.hasOwn(BINDABLE, kind) ? BINDABLE[kind]! : undefined;
  if (resource === undefined) throw badRequest(`cannot bind token to object of type ${group}/${version}, Kind=${kind}`);
  if (name === '') throw badRequest('Name parameter required.');
  const object = api.reader.get('', resource, kind === 'Node' ? '' : account.namespace, name);
  if (object === undefined) throw notFound({ group: '', resource }, name);
  const uid = object.metadata.uid ?? '';
  const node = kind === 'Pod' ? nodeOf(api, object as Pod, account.name) : undefined;
  if (ref.uid && ref.uid !== uid) {
    const why = `the UID in the bound object reference (${ref.uid}) does not match the UID in record. The object might have been deleted and then recreated`;
    throw conflict({ group: '', resource: kind }, name, why);
  }
  return { kind: kind as BoundObject['kind'], name, uid, ...(node && { node }) };
}

/** Where a pod runs, also when that node is not (or no more) there. */
function nodeOf(api: Api, pod: Pod, account: string): BoundObject['node'] {
  const { nodeName, serviceAccountName = '' } = pod.spec ?? {};
  if (serviceAccountName !== account) {
    throw badRequest(`cannot bind token for serviceaccount ${quote(account)} to pod running with different serviceaccount name.`);
  }
  if (!nodeName) return undefined;
  const uid = api.reader.get('', 'nodes', '', nodeName)?.metadata.uid;
  return { name: nodeName, ...(uid && { uid }) };
}
