/** Which keys a change makes suspect. Mirrors controller-runtime's event handlers (EnqueueRequestForObject, EnqueueRequestForOwner). */
import { controllerOf, type KubeObject, objectKey, parseApiVersion } from '../api/object.ts';
import type { ResourceType } from '../client/resource-type.ts';
import type { View, Watch } from './controller.ts';

interface Change<T> {
  readonly object: T | undefined;
  readonly old: T | undefined;
}

/** The object itself. */
export function watchFor<T extends KubeObject>(type: ResourceType<T>): Watch<T> {
  return watchMapped(type, ({ object, old }) => {
    const changed = object ?? old;
    return changed ? [objectKey(changed)] : [];
  });
}

/** The controller of the object, before and after the change, when it is an `owner`. */
export function watchOwned<T extends KubeObject>(type: ResourceType<T>, owner: ResourceType): Watch<T> {
  return watchMapped(type, ({ object, old }) => {
    const before = ownerKey(old, owner);
    const after = ownerKey(object, owner);
    return [before, after === before ? undefined : after].filter((key) => key !== undefined);
  });
}

/** Any other relation. */
export function watchMapped<T extends KubeObject>(
  type: ResourceType<T>,
  keysOf: (change: Change<T>, view: View) => Iterable<string>,
): Watch<T> {
  return { type, keysOf };
}

function ownerKey(object: KubeObject | undefined, owner: ResourceType): string | undefined {
  const ref = object && controllerOf(object);
  if (!ref || ref.kind !== owner.kind || parseApiVersion(ref.apiVersion).group !== owner.group) return undefined;
  return owner.namespaced ? `${object.metadata.namespace}/${ref.name}` : ref.name;
}
