/** TokenRequest: a signed token for a service account, bound to a pod, node or secret if asked. Mirrors kubernetes `pkg/registry/core/serviceaccount/storage/token.go`. */
import { type FieldError, invalidValue } from '../../machinery/api/field-error.ts';
import type { KubeObject } from '../../machinery/api/object.ts';
import { typeSchema } from '../../machinery/api/schema/schema.ts';
import { badRequest, conflict, invalid, notFound } from '../../machinery/api/status.ts';
import { formatTime } from '../../machinery/api/time.ts';
import type { RequestContext } from '../http/context.ts';
import { API_AUDIENCE, type BoundObject } from '../http/service-account-tokens.ts';
import { writeOptions } from '../http/write-options.ts';
import type { Answer } from './answer.ts';
import type { Api } from './api.ts';
import { decodeBody } from './decode.ts';
import { storedVersion } from './persist.ts';
import type { ServedResource } from './served.ts';

const GROUP = 'authentication.k8s.io';
const DEFAULT_SECONDS = 3600;
const MIN_SECONDS = 600;
const MAX_SECONDS = 2 ** 32;

interface TokenSpec {
  audiences?: string[] | null;
  expirationSeconds?: number;
  boundObjectRef?: { kind?: string; apiVersion?: string; name?: string; uid?: string } | null;
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
  const account = api.cache.read(storedVersion(api.store, served, namespace, name));
  request.spec ??= {};
  const { spec } = request;
  spec.audiences = spec.audiences?.length ? spec.audiences : [API_AUDIENCE];
  spec.expirationSeconds ??= DEFAULT_SECONDS;
  validate(spec.expirationSeconds);
  const bound = boundObject(api, namespace, spec.boundObjectRef ?? undefined);
  const issued = api.tokens.issue({
    namespace,
    name,
    uid: account.metadata.uid ?? '',
    audiences: spec.audiences,
    expirationSeconds: spec.expirationSeconds,
    ...(bound && { bound }),
  });
  request.metadata = { name, namespace, uid: account.metadata.uid ?? '', creationTimestamp: formatTime(api.clock.now()) };
  request.status = options.dryRun ? { token: '', expirationTimestamp: issued.expirationTimestamp } : issued;
  return { type: 'value', code: 201, schema, value: request };
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

function boundObject(api: Api, namespace: string, ref: TokenSpec['boundObjectRef']): BoundObject | undefined {
  if (ref === undefined || ref === null) return undefined;
  const { kind = '', name = '', apiVersion = '' } = ref;
  const resource = Object.hasOwn(BINDABLE, kind) ? BINDABLE[kind]! : undefined;
  if (resource === undefined)
    throw badRequest(`cannot bind token to object of type ${apiVersion === 'v1' ? '/v1' : apiVersion}, Kind=${kind}`);
  const object = api.reader.get('', resource, kind === 'Node' ? '' : namespace, name);
  if (object === undefined) throw notFound({ group: '', resource }, name);
  const uid = object.metadata.uid ?? '';
  if (ref.uid && ref.uid !== uid) {
    const why = `the UID in the bound object reference (${ref.uid}) does not match the UID in record. The object might have been deleted and then recreated`;
    throw conflict({ group: '', resource: kind }, name, why);
  }
  return { kind: kind as BoundObject['kind'], name, uid };
}
