/**
 * JSON patch (RFC 6902) with the habits of upstream's library: `replace` of a missing member adds it, negative and padded positions
 * count, a `test` for null holds where nothing is, a path without a leading slash acts as with one. Mirrors evanphx/json-patch v4.
 *
 * What copies add up to is bounded: a few operations that copy the whole into a part of it would double it each time.
 *
 * Member names are data: a path through `__proto__` finds own members only.
 */
import { deepClone, identical } from '../equality.ts';
import { getOwn, isPlain, type Plain, setOwn } from '../plain.ts';
import { badRequest, StatusError } from '../status.ts';

export interface JsonPatchOperation {
  readonly op?: string;
  readonly path?: string;
  readonly from?: string;
  readonly value?: unknown;
}

/** Bytes of JSON that the copies of one patch may make (upstream's JSONPatchMaxCopyBytes). */
const MAX_COPIED_BYTES = 3 * 1024 * 1024;

type Container = Plain | unknown[];

/** Any operation that fails gives the same answer upstream. `cause` says what it was. */
function rejected(why: string): StatusError {
  return new StatusError(
    {
      status: 'Failure',
      message: 'the server rejected our request due to an error in our request',
      reason: 'Invalid',
      details: {},
      code: 422,
    },
    { cause: new Error(why) },
  );
}

const KIND = (value: unknown): string =>
  Array.isArray(value)
    ? 'array'
    : typeof value === 'boolean'
      ? 'bool'
      : typeof value === 'object'
        ? 'object'
        : typeof value === 'string'
          ? 'string'
          : 'number';

/** The patched copy. Throws StatusError: 400 for what is no operation, 422 for one that does not apply. */
export function jsonPatch(original: unknown, operations: readonly unknown[]): unknown {
  const checked = operations.map(checkOperation);
  let document: unknown = deepClone(original);
  let copied = 0;
  for (const operation of checked) {
    if (operation.op === 'copy') {
      copied += sizeOf(copySource(document, operation), MAX_COPIED_BYTES - copied);
      if (copied > MAX_COPIED_BYTES) throw rejected(`the copies of the patch are larger than ${MAX_COPIED_BYTES} bytes together`);
    }
    document = applyOperation(document, operation);
  }
  return document;
}

const copySource = (document: unknown, operation: JsonPatchOperation): unknown => read(find(document, pathOf(operation.from, 'from')));

/** About the length of the value's JSON; counted no further than just beyond `limit`. */
function sizeOf(value: unknown, limit: number): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return String(value).length;
  let size = 2;
  for (const key of Object.keys(value)) {
    size += (Array.isArray(value) ? 0 : key.length + 3) + 1 + sizeOf((value as Plain)[key], limit - size);
    if (size > limit) break;
  }
  return size;
}

function checkOperation(operation: unknown): JsonPatchOperation {
  if (operation === null) return {};
  const wrong = (kind: string, where: string): StatusError =>
    badRequest(`error decoding patch: json: cannot unmarshal ${kind} into ${where}`);
  if (!isPlain(operation)) throw wrong(KIND(operation), 'Go value of type handlers.jsonPatchOp');
  for (const member of ['op', 'path', 'from']) {
    const value = getOwn(operation, member);
    if (value !== undefined && value !== null && typeof value !== 'string')
      throw wrong(KIND(value), `Go struct field jsonPatchOp.${member} of type string`);
  }
  return operation;
}

function applyOperation(document: unknown, operation: JsonPatchOperation): unknown {
  const path = pathOf(operation.path, 'path');
  switch (operation.op) {
    case 'add':
      add(find(document, path), operation.value ?? null);
      return document;
    case 'remove':
      remove(find(document, path));
      return document;
    case 'replace':
      if (path === '') return wholeDocument(operation.value);
      replace(find(document, path), operation.value ?? null);
      return document;
    case 'move': {
      const source = find(document, pathOf(operation.from, 'from'));
      const value = read(source);
      remove(source);
      add(find(document, path), value ?? null);
      return document;
    }
    case 'copy': {
      add(find(document, path), deepClone(copySource(document, operation) ?? null));
      return document;
    }
    case 'test':
      test(path === '' ? document : read(find(document, path)), operation.value);
      return document;
    default:
      throw rejected(`unknown operation ${String(operation.op)}`);
  }
}

function pathOf(path: string | undefined, member: string): string {
  if (typeof path !== 'string') throw rejected(`operation has no ${member}`);
  return path;
}

function wholeDocument(value: unknown): unknown {
  if (!isPlain(value) && !Array.isArray(value)) throw rejected('the whole document can only be replaced by an object or a list');
  return deepClone(value);
}

interface Place {
  readonly container: Container;
  readonly key: string;
}

const unescapePart = (part: string): string => part.replaceAll('~1', '/').replaceAll('~0', '~');

/** What stands before the first slash is not looked at. */
function find(document: unknown, path: string): Place {
  const parts = path.split('/').map(unescapePart);
  if (parts.length < 2) throw rejected(`path ${JSON.stringify(path)} names nothing`);
  let container = document;
  for (const part of parts.slice(1, -1)) {
    if (!isContainer(container)) break;
    container = read({ container, key: part });
  }
  if (!isContainer(container)) throw rejected(`path ${JSON.stringify(path)} leads nowhere`);
  return { container, key: parts[parts.length - 1]! };
}

const isContainer = (value: unknown): value is Container => Array.isArray(value) || isPlain(value);

/** strconv.Atoi, counted from the end when negative. `limit` is one more than the largest position. */
function position(key: string, limit: number): number {
  if (!/^[-+]?\d{1,9}$/.test(key)) throw rejected(`${JSON.stringify(key)} is no position in a list`);
  const index = Number(key) < 0 ? Number(key) + limit : Number(key);
  if (index < 0 || index >= limit) throw rejected(`position ${key} is outside of the list`);
  return index;
}

function read({ container, key }: Place): unknown {
  return Array.isArray(container) ? container[position(key, container.length)] : getOwn(container, key);
}

function add({ container, key }: Place, value: unknown): void {
  const copy = deepClone(value);
  if (!Array.isArray(container)) setOwn(container, key, copy);
  else if (key === '-') container.push(copy);
  else container.splice(position(key, container.length + 1), 0, copy);
}

function replace({ container, key }: Place, value: unknown): void {
  if (Array.isArray(container)) container[position(key, container.length)] = deepClone(value);
  else setOwn(container, key, deepClone(value));
}

function remove({ container, key }: Place): void {
  if (Array.isArray(container)) container.splice(position(key, container.length), 1);
  else if (Object.hasOwn(container, key)) delete container[key];
  else throw rejected(`nothing to remove at ${JSON.stringify(key)}`);
}

function test(found: unknown, expected: unknown): void {
  if ((found ?? null) === null ? (expected ?? null) !== null : !identical(found, expected)) throw rejected('test failed');
}
