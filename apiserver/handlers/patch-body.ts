/**
 * The body of a PATCH that is no apply: what it holds and what is odd about it. Mirrors the reading half of apiserver `handlers/patch.go`, whose
 * checks are laxer when the client asks to ignore unknown fields.
 */
import { quoteGo } from '../../machinery/api/field-error.ts';
import { parseJson } from '../../machinery/api/json.ts';
import { getOwn, isPlain, type Plain } from '../../machinery/api/plain.ts';
import { badRequest, requestEntityTooLarge } from '../../machinery/api/status.ts';
import type { FieldValidation } from '../http/write-options.ts';

export const JSON_PATCH = 'application/json-patch+json';
export const MERGE_PATCH = 'application/merge-patch+json';
export const STRATEGIC_PATCH = 'application/strategic-merge-patch+json';
const MAX_OPERATIONS = 10_000;
/** Upstream's decoder tells no more than this. */
const MAX_PROBLEMS = 100;

/** A patch body, read once and applied as often as the write is retried. */
export interface Patch {
  readonly type: string;
  readonly body: unknown;
  /** Members that are repeated, or that no operation has, one line each. */
  readonly problems: readonly string[];
}

/** Throws 400 with Go's words for a body that is no patch. */
export function parsePatch(type: string, bytes: Buffer, fieldValidation: FieldValidation): Patch {
  const careful = fieldValidation !== 'Ignore';
  if (type === JSON_PATCH) return operationsOf(bytes, careful);
  const prefix = type === MERGE_PATCH ? 'error decoding patch: ' : '';
  const lax = type === MERGE_PATCH && !careful;
  const { value, duplicates } = read(bytes, (why) => (lax ? 'Invalid JSON Patch' : `${prefix}${why}`));
  const problems = duplicateLines(duplicates);
  if (value === null) {
    if (type === MERGE_PATCH) throw badRequest('Invalid JSON Patch');
    return { type, body: {}, problems };
  }
  if (lax && Array.isArray(value)) return { type, body: value, problems };
  if (!isPlain(value)) {
    throw badRequest(
      lax ? 'Invalid JSON Patch' : `${prefix}json: cannot unmarshal ${shapeOf(value)} into Go value of type map[string]interface {}`,
    );
  }
  return { type, body: value, problems };
}

function operationsOf(bytes: Buffer, careful: boolean): Patch {
  const prefix = careful ? 'error decoding patch: ' : '';
  const { value, duplicates } = read(bytes, (why) => prefix + why);
  const operations = value === null ? [] : value;
  if (!Array.isArray(operations)) {
    const wanted = careful ? '[]handlers.jsonPatchOp' : 'jsonpatch.Patch';
    throw badRequest(`${prefix}json: cannot unmarshal ${shapeOf(value)} into Go value of type ${wanted}`);
  }
  if (operations.length > MAX_OPERATIONS) {
    throw requestEntityTooLarge(`The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${operations.length}`);
  }
  if (!careful) return { type: JSON_PATCH, body: operations.map(asRaw), problems: [] };
  const lines = [...unknownLines(operations), ...duplicateLines(duplicates)];
  return { type: JSON_PATCH, body: operations, problems: lines.slice(0, MAX_PROBLEMS).map((line) => `json patch ${line}`) };
}

const TEXTS = ['op', 'path', 'from'];
const MEMBERS = new Set([...TEXTS, 'value']);

/** Nobody looks at the members before they are used: what is no text there makes an operation that does not apply. */
function asRaw(operation: unknown): unknown {
  if (operation === null) return operation;
  if (!isPlain(operation)) throw badRequest(`json: cannot unmarshal ${shapeOf(operation)} into Go value of type jsonpatch.Operation`);
  const wrong = TEXTS.some((member) => typeof (getOwn(operation, member) ?? '') !== 'string');
  return wrong ? {} : operation;
}

function unknownLines(operations: readonly unknown[]): string[] {
  return operations.flatMap((operation, i) =>
    isPlain(operation)
      ? Object.keys(operation as Plain)
          .filter((member) => !MEMBERS.has(member))
          .map((member) => `unknown field ${quoteGo(`[${i}].${member}`)}`)
      : [],
  );
}

const duplicateLines = (paths: readonly string[]): string[] =>
  paths.slice(0, MAX_PROBLEMS).map((path) => `duplicate field ${quoteGo(path)}`);

function read(bytes: Buffer, words: (why: string) => string): ReturnType<typeof parseJson> {
  try {
    return parseJson(bytes);
  } catch (error) {
    throw badRequest(words((error as Error).message));
  }
}

function shapeOf(value: unknown): string {
  return Array.isArray(value)
    ? 'array'
    : typeof value === 'boolean'
      ? 'bool'
      : typeof value === 'string'
        ? 'string'
        : isPlain(value)
          ? 'object'
          : 'number';
}
