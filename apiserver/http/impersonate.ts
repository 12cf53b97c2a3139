/** Acting as somebody else by Impersonate-* headers. Mirrors apiserver `endpoints/filters/impersonation.go`. */
import { quoteGo } from '../../machinery/api/field-error.ts';
import { badRequest } from '../../machinery/api/status.ts';
import type { UserInfo } from '../registry/resource.ts';
import { ANONYMOUS_GROUP, ANONYMOUS_NAME } from './authenticate.ts';
import type { RequestContext } from './context.ts';

const EXTRA = 'impersonate-extra-';

/** The verb that whoever acts as somebody else must hold, on what the request is about (KEP 5284). */
export const impersonationVerb = (verb: string): string => `impersonate-on:user-info:${verb}`;

/** The user to act as; undefined when nothing was asked. Throws 400 for groups, uid or extra without a user. */
export function impersonated(context: RequestContext): UserInfo | undefined {
  const user = values(context, 'impersonate-user')[0] ?? '';
  const groups = values(context, 'impersonate-group');
  const uid = values(context, 'impersonate-uid')[0] ?? '';
  const extra: Record<string, string[]> = Object.create(null);
  for (const name of Object.keys(context.headers)) {
    if (name.startsWith(EXTRA)) extra[unescapeKey(name.slice(EXTRA.length))] = values(context, name);
  }
  if (user === '') {
    if (groups.length === 0 && uid === '' && Object.keys(extra).length === 0) return undefined;
    const list = groups.length === 0 ? '[]string(nil)' : `[]string{${groups.map(quoteGo).join(', ')}}`;
    const map = formatExtra(extra);
    throw badRequest(
      `requested &user.DefaultInfo{Name:"", UID:${quoteGo(uid)}, Groups:${list}, Extra:${map}} without impersonating a user name`,
    );
  }
  return { name: user, groups: groupsOf(user, groups), ...(uid !== '' && { uid }), ...(Object.keys(extra).length > 0 && { extra }) };
}

/** A service account brings its groups; everybody but the anonymous user is authenticated. */
function groupsOf(user: string, asked: readonly string[]): string[] {
  const groups = [...asked];
  const account = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(user);
  if (account !== null && groups.length === 0) groups.push('system:serviceaccounts', `system:serviceaccounts:${account[1]}`);
  const group = user === ANONYMOUS_NAME ? ANONYMOUS_GROUP : 'system:authenticated';
  if (!groups.includes('system:authenticated') && !groups.includes(ANONYMOUS_GROUP)) groups.push(group);
  return groups;
}

/** All values of a header that may be sent several times; Node joins them with a comma. */
function values(context: RequestContext, name: string): string[] {
  const raw = context.raw.rawHeaders;
  const found: string[] = [];
  for (let i = 0; i < raw.length; i += 2) if (raw[i]!.toLowerCase() === name) found.push(raw[i + 1]!);
  return found;
}

function unescapeKey(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}

function formatExtra(extra: Record<string, string[]>): string {
  const keys = Object.keys(extra).sort();
  if (keys.length === 0) return 'map[string][]string(nil)';
  return `map[string][]string{${keys.map((k) => `${quoteGo(k)}:[]string{${extra[k]!.map(quoteGo).join(', ')}}`).join(', ')}}`;
}
