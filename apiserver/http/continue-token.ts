/**
 * Continue tokens: base64url of `{"v":"meta.k8s.io/v1","rv":N,"start":"ns/name\0"}`. Mirrors apiserver `storage/continue.go`: the start key
 * is relative, so a token works on another resource; rv -1 continues at the latest revision.
 */
import { badRequest, type StatusError } from '../../machinery/api/status.ts';

const VERSION = 'meta.k8s.io/v1';

export interface ContinueToken {
  /** -1: no fixed revision. */
  readonly revision: number;
  /** Absolute, inclusive. */
  readonly startKey: string;
}

export function encodeContinue(revision: number, start: string): string {
  return Buffer.from(JSON.stringify({ v: VERSION, rv: revision, start })).toString('base64url');
}

export function decodeContinue(token: string, prefix: string): ContinueToken {
  const bad = token.search(/[^A-Za-z0-9_-]/);
  if (bad >= 0) throw invalidToken(`illegal base64 data at input byte ${bad}`);
  if (token.length % 4 === 1) throw invalidToken(`illegal base64 data at input byte ${token.length - 1}`);
  const text = Buffer.from(token, 'base64url').toString('latin1');
  let value: { v?: unknown; rv?: unknown; start?: unknown };
  try {
    value = JSON.parse(Buffer.from(token, 'base64url').toString('utf8'));
  } catch {
    throw invalidToken(syntax(text));
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalidToken(syntax(text));
  const wrong = MEMBERS.find(([member, fits]) => !fits(value[member] ?? undefined));
  if (wrong !== undefined)
    throw invalidToken(
      `json: cannot unmarshal ${goKind(value[wrong[0]])} into Go struct field continueToken.${wrong[0]} of type ${wrong[2]}`,
    );
  if (value.v !== VERSION) throw invalidToken(`server does not recognize this encoded version ${String(value.v ?? '')}`);
  const revision = (value.rv as number | null | undefined) ?? 0;
  if (revision === 0) throw invalidToken(`incorrect encoded start resourceVersion (version ${VERSION})`);
  const start = (value.start as string | null | undefined) ?? '';
  if (start === '') throw invalidToken(`encoded start key empty (version ${VERSION})`);
  const relative = start.startsWith('/') ? start.slice(1) : start;
  if (relative.split('/').some((part) => part === '..' || part === '.')) throw invalidToken(start);
  return { revision, startKey: prefix + relative };
}

const isText = (value: unknown): boolean => value === undefined || typeof value === 'string';
/** The members of a token: name, what fits, Go's type. */
const MEMBERS: readonly (readonly ['v' | 'rv' | 'start', (value: unknown) => boolean, string])[] = [
  ['v', isText, 'string'],
  ['rv', (value) => value === undefined || Number.isSafeInteger(value), 'int64'],
  ['start', isText, 'string'],
];

function goKind(value: unknown): string {
  if (typeof value === 'number') return `number ${value}`;
  return typeof value === 'boolean' ? 'bool' : Array.isArray(value) ? 'array' : typeof value;
}

const invalidToken = (why: string): StatusError => badRequest(`invalid continue token: continue key is not valid: ${why}`);

/** Go's words for what does not begin like JSON. */
function syntax(text: string): string {
  if (text === '') return 'unexpected end of JSON input';
  const first = text[0]!;
  const code = first.charCodeAt(0);
  const shown = code < 0x20 || code > 0x7e ? `\\u${code.toString(16).padStart(4, '0')}` : first;
  return `invalid character '${shown}' looking for beginning of value`;
}
