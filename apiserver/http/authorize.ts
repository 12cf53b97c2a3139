/** Who may do what. Mirrors apiserver `authorization/authorizer` and the filter before dispatch. */
import type { UserInfo } from '../registry/resource.ts';
import type { RequestInfo } from './request-info.ts';

type Asked = 'verb' | 'isResourceRequest' | 'group' | 'version' | 'namespace' | 'resource' | 'subresource' | 'name' | 'path';

export interface Attributes extends Pick<RequestInfo, Asked> {
  readonly user: UserInfo;
}

export interface Decision {
  readonly allowed: boolean;
  readonly denied?: boolean;
  readonly reason: string;
}

export interface Authorizer {
  authorize(attributes: Attributes): Decision;
}

export function attributesOf(user: UserInfo, info: RequestInfo): Attributes {
  const { verb, isResourceRequest, group, version, namespace, resource, subresource, name, path } = info;
  return { user, verb, isResourceRequest, group, version, namespace, resource, subresource, name, path };
}

/** `User "x" cannot list resource "pods" in API group "" in the namespace "y"`, as a 403 says it. */
export function deniedText(attributes: Attributes, reason: string): string {
  const { user, verb, namespace, subresource } = attributes;
  const who = `User "${user.name}"`;
  const why = reason === '' ? '' : `: ${reason}`;
  if (!attributes.isResourceRequest) return `${who} cannot ${verb} path "${attributes.path}"${why}`;
  const resource = subresource === '' ? attributes.resource : `${attributes.resource}/${subresource}`;
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  return `${who} cannot ${verb} resource "${resource}" in API group "${attributes.group}" ${where}${why}`;
}
