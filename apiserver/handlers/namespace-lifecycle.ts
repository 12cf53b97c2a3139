/**
 * Nothing is created in a namespace that is missing or being deleted. Mirrors the admission plugin NamespaceLifecycle.
 */
import { forbidden, notFound, StatusError } from '../../machinery/api/status.ts';
import type { Api } from './api.ts';
import { groupResource } from './persist.ts';
import type { ServedResource } from './served.ts';

/** Throws 404 or 403; `name` is that of the object about to be created. */
export function requireLiveNamespace(api: Api, served: ServedResource, namespace: string, name: string): void {
  if (!served.namespaced) return;
  const live = api.reader.get('', 'namespaces', '', namespace) as
    | { status?: { phase?: string }; metadata: { deletionTimestamp?: string } }
    | undefined;
  if (live === undefined) throw notFound({ group: '', resource: 'namespaces' }, namespace);
  if (live.metadata.deletionTimestamp === undefined && live.status?.phase !== 'Terminating') return;
  const error = forbidden(
    groupResource(served),
    name,
    `unable to create new content in namespace ${namespace} because it is being terminated`,
  );
  const causes = [{ reason: 'NamespaceTerminating', message: `namespace ${namespace} is being terminated`, field: 'metadata.namespace' }];
  throw new StatusError({ ...error.status, details: { ...error.status.details, causes } });
}

/** What a cluster cannot do without, as its kind says. */
export function requireMortal(served: ServedResource, name: string): void {
  const refusal = served.definition.deleteRefusal?.(name);
  if (refusal !== undefined) throw forbidden(groupResource(served), name, refusal);
}
