/**
 * In which form an answer is written: media type, pretty printing, and the transformation a client may ask for (Table, metadata only).
 * Mirrors apiserver `handlers/negotiation`: clauses are tried by q, then as written; `application/*` fits nothing.
 */
import { StatusError } from '../../machinery/api/status.ts';
import type { RequestContext } from './context.ts';
import { header } from './context.ts';

export type MediaType = 'application/json' | 'application/yaml' | 'application/vnd.kubernetes.protobuf';
export type Transform = 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList';

export interface Negotiated {
  readonly mediaType: MediaType;
  readonly pretty: boolean;
  readonly transform: Transform | undefined;
  /** The version of the transformation: v1 or v1beta1. */
  readonly transformVersion: string;
  /** The media type was asked for with `stream=watch`. */
  readonly stream: boolean;
}

const PLAIN: readonly MediaType[] = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];
const STREAMS = ['application/json;stream=watch', 'application/vnd.kubernetes.protobuf;stream=watch'];
const TRANSFORMS = new Set<string>(['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList']);

export interface AcceptClause {
  readonly type: string;
  readonly parameters: Readonly<Record<string, string>>;
}

const parsed = new Map<string, readonly AcceptClause[]>();
const MAX_CACHED_ACCEPTS = 256;

export function parseAccept(text: string): readonly AcceptClause[] {
  const known = parsed.get(text);
  if (known !== undefined) return known;
  const clauses = text
    .split(',')
    .map((clause) => {
      const [type, ...rest] = clause.split(';').map((part) => part.trim());
      const parameters: Record<string, string> = Object.create(null);
      for (const part of rest) {
        const equals = part.indexOf('=');
        if (equals > 0) parameters[part.slice(0, equals).trim()] = part.slice(equals + 1).trim();
      }
      return { type: type!, parameters };
    })
    .filter((clause) => clause.type !== '');
  inOrder(clauses);
  if (parsed.size >= MAX_CACHED_ACCEPTS) parsed.clear();
  parsed.set(text, clauses);
  return clauses;
}

/**
 * Go's order (goautoneg), by insertion as Go sorts few elements: what is worth more comes first, and a type that is named comes before a wildcard,
 * even one worth more. Such a comparison is no order, so no other way of sorting gives the same.
 */
function inOrder(clauses: AcceptClause[]): void {
  for (let i = 1; i < clauses.length; i++) {
    for (let j = i; j > 0 && comesBefore(clauses[j]!, clauses[j - 1]!); j--) {
      [clauses[j], clauses[j - 1]] = [clauses[j - 1]!, clauses[j]!];
    }
  }
}

function comesBefore(a: AcceptClause, b: AcceptClause): boolean {
  if (quality(a) > quality(b)) return true;
  return (!a.type.startsWith('*') && b.type.startsWith('*')) || (!a.type.endsWith('/*') && b.type.endsWith('/*'));
}

/** A q of 0 still accepts; one that is no number is 1. */
function quality(clause: AcceptClause): number {
  const q = Number(clause.parameters['q'] ?? '1');
  return Number.isNaN(q) ? 1 : q;
}

/** The 406 of a route that cannot produce any accepted type. `routes` is what the route offers. */
export function routeNotAcceptable(routes: readonly string[]): StatusError {
  const message = `406: Not Acceptable\n\nAvailable representations: ${routes.join(', ')}`;
  return new StatusError({ status: 'Failure', message, reason: 'NotAcceptable', details: {}, code: 406 });
}

function onlyThese(types: readonly string[]): StatusError {
  return new StatusError({
    status: 'Failure',
    message: `only the following media types are accepted: ${types.join(', ')}`,
    reason: 'NotAcceptable',
    code: 406,
  });
}

export interface NegotiationRules {
  /** Which transformations the endpoint can make. */
  readonly transforms: boolean;
  /** The endpoint is a list or watch: its route also produces streams. */
  readonly list: boolean;
  /** The answer is a stream of watch events: no YAML. */
  readonly watch: boolean;
}

/** Chooses the form of the answer or throws one of upstream's two 406 texts. */
export function negotiate(context: RequestContext, rules: NegotiationRules): Negotiated {
  const accept = header(context, 'accept') ?? '';
  const pretty = wantsPretty(context);
  const base = { pretty, transform: undefined, transformVersion: 'v1', stream: false };
  if (accept === '' || accept === '*/*' || accept === 'application/json') return { mediaType: 'application/json', ...base };
  const clauses = parseAccept(accept);
  const offered: readonly string[] = rules.watch ? ['application/json', 'application/vnd.kubernetes.protobuf'] : PLAIN;
  let routed = false;
  for (const clause of clauses) {
    if (clause.type !== '*/*' && !PLAIN.includes(clause.type as MediaType)) continue;
    routed = true;
    const mediaType = clause.type === '*/*' ? 'application/json' : (clause.type as MediaType);
    if (!offered.includes(mediaType)) continue;
    const choice = transformOf(clause.parameters, rules);
    // A Table has no protobuf form.
    if (choice === false || (choice.transform === 'Table' && mediaType === 'application/vnd.kubernetes.protobuf')) continue;
    return {
      mediaType,
      pretty: pretty || clause.parameters['pretty'] === '1',
      ...choice,
      stream: clause.parameters['stream'] === 'watch',
    };
  }
  if (!routed) throw routeNotAcceptable(rules.list ? [...PLAIN, ...STREAMS] : PLAIN);
  throw onlyThese(rules.watch ? STREAMS : PLAIN);
}

function transformOf(
  parameters: Readonly<Record<string, string>>,
  rules: NegotiationRules,
): { transform: Transform | undefined; transformVersion: string } | false {
  const as = parameters['as'] ?? '';
  if (as === '') return { transform: undefined, transformVersion: 'v1' };
  const version = parameters['v'] ?? '';
  if (!rules.transforms || parameters['g'] !== 'meta.k8s.io' || !TRANSFORMS.has(as) || (version !== 'v1' && version !== 'v1beta1'))
    return false;
  return { transform: as as Transform, transformVersion: version };
}

/** Agents of people get indented JSON, and so does whoever asks. */
export function wantsPretty(context: RequestContext): boolean {
  const asked = context.info.query.get('pretty');
  if (asked !== undefined) return ['1', 't', 'T', 'true', 'TRUE', 'True'].includes(asked);
  const agent = header(context, 'user-agent') ?? '';
  return agent.startsWith('curl') || agent.startsWith('Wget') || agent.startsWith('Mozilla/5.0');
}

/** The media type of an error: what the client accepts if we know it, else JSON. */
export function errorMediaType(accept: string | undefined): MediaType {
  for (const clause of parseAccept(accept ?? '')) {
    if (clause.type === '*/*') return 'application/json';
    if (PLAIN.includes(clause.type as MediaType) && !clause.parameters['as']) return clause.type as MediaType;
  }
  return 'application/json';
}
