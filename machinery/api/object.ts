/**
 * What every Kubernetes object has in common, and how its kind and resource are named.
 * Mirrors apimachinery `runtime/schema` (GroupVersionKind) and `metav1.Object`.
 */
import type * as meta from './types/meta.v1.ts';

export type ObjectMeta = meta.ObjectMeta;
export type OwnerReference = meta.OwnerReference;
export type LabelSelector = meta.LabelSelector;

/** Any object of the API. Kind-specific types from `machinery/api/types/` are assignable to it. */
export interface KubeObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
}

/** An object whose members are read by name, for code that serves every kind. */
export type AnyObject = KubeObject & Record<string, unknown>;

export interface GroupVersion {
  /** '' for the core group. */
  readonly group: string;
  readonly version: string;
}
export interface GroupVersionKind extends GroupVersion {
  readonly kind: string;
}

/** `apps/v1` → {group: 'apps', version: 'v1'}; `v1` → {group: '', version: 'v1'}. */
export function parseApiVersion(apiVersion: string): GroupVersion {
  const slash = apiVersion.indexOf('/');
  return slash < 0 ? { group: '', version: apiVersion } : { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) };
}

export function formatApiVersion(gv: GroupVersion): string {
  return gv.group === '' ? gv.version : `${gv.group}/${gv.version}`;
}

/** `deployments.apps`, or `pods` for the core group: how upstream's messages name a resource. */
export function formatGroupResource(gr: { group: string; resource: string }): string {
  return gr.group === '' ? gr.resource : `${gr.resource}.${gr.group}`;
}

/** The cache key of client-go: `namespace/name`, or `name` for a cluster-scoped object. */
export function objectKey(object: { metadata: { namespace?: string; name?: string } }): string {
  const { namespace, name } = object.metadata;
  return namespace ? `${namespace}/${name}` : (name ?? '');
}

export function splitKey(key: string): { namespace: string; name: string } {
  const slash = key.indexOf('/');
  return slash < 0 ? { namespace: '', name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/** The owner reference with `controller: true`, if any (metav1.GetControllerOf). */
export function controllerOf(object: KubeObject): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((ref) => ref.controller === true);
}
