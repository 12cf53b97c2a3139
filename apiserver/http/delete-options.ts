/** DeleteOptions, from the body when there is one (then the query is not read at all), else from the query. */
import { decodeObject } from '../../machinery/api/decode.ts';
import { type FieldError, invalidValue, notSupported } from '../../machinery/api/field-error.ts';
import { parseApiVersion } from '../../machinery/api/object.ts';
import { kindSchema, typeSchema } from '../../machinery/api/schema/schema.ts';
import { badRequest, invalid } from '../../machinery/api/status.ts';
import { NOT_AN_OBJECT } from '../handlers/decode.ts';
import { BodySyntaxError, bodyType, parseBody, readBody } from './body.ts';
import type { RequestContext } from './context.ts';
import { dryRunErrors, isTrue } from './write-options.ts';

export interface DeleteOptions {
  readonly gracePeriodSeconds?: number;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly orphanDependents?: boolean;
  readonly propagationPolicy?: string;
  readonly dryRun: boolean;
}

type Decoded = Omit<DeleteOptions, 'dryRun'> & { readonly dryRun?: readonly string[] };

export async function deleteOptions(context: RequestContext): Promise<DeleteOptions> {
  const bytes = await readBody(context);
  const decoded = bytes.length > 0 ? fromBody(bytes, bodyType(context)) : fromQuery(context);
  const errors: FieldError[] = [];
  const { propagationPolicy: policy, orphanDependents } = decoded;
  if (policy !== undefined && orphanDependents !== undefined) {
    errors.push(invalidValue('propagationPolicy', policy, 'orphanDependents and deletionPropagation cannot be both set'));
  }
  if (policy !== undefined && !['Foreground', 'Background', 'Orphan'].includes(policy)) {
    errors.push(notSupported('propagationPolicy', policy, ['Foreground', 'Background', 'Orphan', 'nil']));
  }
  errors.push(...dryRunErrors(decoded.dryRun ?? []));
  if (errors.length > 0) throw invalid({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', errors);
  return { ...decoded, dryRun: (decoded.dryRun?.length ?? 0) > 0 };
}

function fromQuery(context: RequestContext): Decoded {
  const { query } = context.info;
  const grace = query.get('gracePeriodSeconds');
  if (grace !== undefined && !/^[+-]?[0-9]+$/.test(grace))
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(grace)}: invalid syntax`);
  if (grace !== undefined && BigInt.asIntN(64, BigInt(grace)) !== BigInt(grace))
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(grace)}: value out of range`);
  const orphan = query.get('orphanDependents');
  const policy = query.get('propagationPolicy');
  return {
    ...(grace !== undefined && { gracePeriodSeconds: Number(grace) }),
    ...(orphan !== undefined && { orphanDependents: isTrue(orphan) }),
    ...(policy !== undefined && { propagationPolicy: policy }),
    dryRun: query.all('dryRun'),
  };
}

function fromBody(bytes: Buffer, type: string): Decoded {
  let value: unknown;
  try {
    value = parseBody(bytes, type).value;
  } catch (error) {
    if (error instanceof BodySyntaxError) throw badRequest(`couldn't get version/kind; json parse error: ${error.message}`);
    throw error;
  }
  if (value === null || value === undefined) return {};
  if (typeof value !== 'object' || Array.isArray(value)) {
    const shape = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
    throw badRequest(`couldn't get version/kind; json parse error: json: cannot unmarshal ${shape} into ${NOT_AN_OBJECT}`);
  }
  const sent = value as { kind?: string; apiVersion?: string };
  if (sent.kind && sent.kind !== 'DeleteOptions') {
    const apiVersion = sent.apiVersion || 'v1';
    void kindSchema({ ...parseApiVersion(apiVersion), kind: sent.kind });
    throw badRequest(`no kind "${sent.kind}" is registered for version "${apiVersion}" in scheme "pkg/runtime/scheme.go:111"`);
  }
  try {
    return decodeObject(typeSchema('meta.v1.DeleteOptions'), value as never, { strict: false }).object as unknown as Decoded;
  } catch (error) {
    throw badRequest((error as Error).message);
  }
}
