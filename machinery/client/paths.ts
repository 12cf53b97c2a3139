/** Paths and query strings of the API, and the body of a deletion. Mirrors client-go's `rest.Request` URL building. */
import type { DeleteParams, ListParams, WatchParams, WriteParams } from './client.ts';
import type { ResourceType } from './resource-type.ts';

/** `/apis/apps/v1/namespaces/a/deployments/b/status`. Without namespace: all namespaces, or a cluster-scoped resource. */
export function resourcePath(type: ResourceType, namespace?: string, name?: string, subresource?: string): string {
  const root = type.group === '' ? `/api/${type.version}` : `/apis/${type.group}/${type.version}`;
  const scope = type.namespaced && namespace ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  let path = `${root}${scope}/${type.resource}`;
  if (name !== undefined) path += `/${encodeURIComponent(name)}`;
  if (subresource) path += `/${subresource}`;
  return path;
}

export function listQuery(params: ListParams): string {
  return query({
    labelSelector: params.labelSelector,
    fieldSelector: params.fieldSelector,
    resourceVersion: params.resourceVersion,
    resourceVersionMatch: params.resourceVersionMatch,
    limit: params.limit || undefined,
    continue: params.continue,
  });
}

export function watchQuery(params: WatchParams): string {
  return query({
    watch: true,
    labelSelector: params.labelSelector,
    fieldSelector: params.fieldSelector,
    resourceVersion: params.resourceVersion,
    resourceVersionMatch: params.resourceVersionMatch,
    allowWatchBookmarks: params.allowWatchBookmarks || undefined,
    sendInitialEvents: params.sendInitialEvents,
    timeoutSeconds: params.timeoutSeconds,
  });
}

export function writeQuery(params: WriteParams): string {
  return query({
    dryRun: params.dryRun ? 'All' : undefined,
    fieldManager: params.fieldManager,
    force: params.force,
    fieldValidation: params.fieldValidation,
  });
}

export function deleteBody(params: DeleteParams): Record<string, unknown> | undefined {
  const preconditions = {
    ...(params.uid && { uid: params.uid }),
    ...(params.resourceVersion && { resourceVersion: params.resourceVersion }),
  };
  const body = {
    ...(Object.keys(preconditions).length > 0 && { preconditions }),
    ...(params.propagationPolicy && { propagationPolicy: params.propagationPolicy }),
    ...(params.gracePeriodSeconds !== undefined && { gracePeriodSeconds: params.gracePeriodSeconds }),
    ...(params.dryRun && { dryRun: ['All'] }),
  };
  return Object.keys(body).length === 0 ? undefined : { apiVersion: 'v1', kind: 'DeleteOptions', ...body };
}

function query(members: Readonly<Record<string, string | number | boolean | undefined>>): string {
  const parts = Object.entries(members)
    .filter(([, value]) => value !== undefined && value !== '')
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  return parts.length === 0 ? '' : `?${parts.join('&')}`;
}
