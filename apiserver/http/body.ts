/**
 * Request bodies: bytes under a limit, then a plain value by media type. Mirrors apiserver `limitedReadBody` and serializer negotiation.
 *
 * Invariant: no more than the limit is ever buffered for one request.
 */
import { parseJson } from '../../machinery/api/json.ts';
import { decodeProtobuf, type KindReference } from '../../machinery/api/protobuf.ts';
import { badRequest, requestEntityTooLarge, StatusError, unsupportedMediaType } from '../../machinery/api/status.ts';
import { readYaml } from '../../machinery/api/yaml.ts';
import type { RequestContext } from './context.ts';
import { header } from './context.ts';

export const MAX_BODY_BYTES = 3 * 1024 * 1024;
const BODY_TYPES = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];

/** Throws 413 beyond the limit; what is still to come is then discarded, so that the client gets to read the answer. */
export async function readBody(context: RequestContext): Promise<Buffer> {
  const { raw } = context;
  const declared = Number(header(context, 'content-length') ?? '0');
  if (declared > MAX_BODY_BYTES && header(context, 'transfer-encoding') === undefined) {
    raw.resume();
    throw tooLarge();
  }
  const chunks: Buffer[] = [];
  let size = 0;
  return new Promise((resolve, reject) => {
    raw.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > MAX_BODY_BYTES) {
        chunks.length = 0;
        reject(tooLarge());
        return;
      }
      try {
        context.memory?.body(context, size);
        chunks.push(chunk);
      } catch (error) {
        chunks.length = 0;
        reject(error);
      }
    });
    raw.once('end', () => {
      const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
      context.audit?.bodyRead(bytes);
      resolve(bytes);
    });
    const cut = (error?: Error): void =>
      reject(badRequest(`the body of the request could not be read: ${error?.message ?? 'the connection was closed'}`));
    raw.once('error', cut);
    raw.once('aborted', () => cut());
  });
}

const tooLarge = (): StatusError => requestEntityTooLarge(`limit is ${MAX_BODY_BYTES}`);

/** The media type of the body, JSON when it is not named. Throws 415 for a type that is not accepted. */
export function bodyType(context: RequestContext): string {
  const sent = header(context, 'content-type') ?? '';
  if (sent === '') return 'application/json';
  const [type = '', ...parameters] = sent.split(';').map((part) => part.trim());
  if (parameters.some((parameter) => parameter !== '' && !parameter.includes('='))) throw unsupportedBody(BODY_TYPES);
  if (!BODY_TYPES.includes(type.toLowerCase())) throw unsupportedBody(BODY_TYPES);
  return type.toLowerCase();
}

export const unsupportedBody = (types: readonly string[]): StatusError =>
  unsupportedMediaType(`the body of the request was in an unknown format - accepted media types include: ${types.join(', ')}`);

export interface ParsedBody {
  /** null for JSON null; protobuf bodies carry kind and apiVersion as JSON does. */
  readonly value: unknown;
  /** Paths of members that occur twice, as upstream prints them. */
  readonly duplicates: readonly string[];
  /** What a strict YAML reader complains of. */
  readonly problems: readonly string[];
}

/** Reads the bytes of a body. Errors are thrown as `BodySyntaxError`, whose message is the Go parser's. */
export function parseBody(bytes: Buffer, type: string, expected?: KindReference): ParsedBody {
  try {
    if (type === 'application/json') return { ...parseJson(bytes), problems: [] };
    if (type === 'application/yaml') return { ...readYaml(bytes.toString('utf8')), duplicates: [] };
    const message = decodeProtobuf(bytes, expected);
    return { value: { ...(message.object as object), kind: message.kind, apiVersion: message.apiVersion }, duplicates: [], problems: [] };
  } catch (error) {
    if (error instanceof StatusError) throw error;
    throw new BodySyntaxError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

export class BodySyntaxError extends Error {}

/** The first bytes of a body as upstream quotes them: text when it looks like JSON, else hex. */
export function quoteBody(bytes: Buffer): string {
  if (bytes.length === 0) return '<empty>';
  const head = bytes.subarray(0, 30);
  const shown = bytes[0] === 0x7b ? head.toString('utf8') : head.toString('hex');
  return bytes.length > 30 ? `${shown} ...` : shown;
}
