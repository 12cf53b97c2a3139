/**
 * Which objects belong to a controller: those that name it, and orphans that match its selector. Mirrors upstream `controller_ref_manager.go`.
 *
 * Invariant: an orphan is adopted only while its new owner is known to be exactly as the server has it. A stale owner may already be on its way
 * out with its dependents orphaned on purpose; adopting them again would have them collected. So every adoption is preceded by a write to
 * the owner that changes nothing and carries its resourceVersion: the server refuses it when the owner has moved on.
 */
import {
  controllerOf,
  formatApiVersion,
  type KubeObject,
  type LabelSelector,
  type OwnerReference,
  objectKey,
} from '../machinery/api/object.ts';
import { matches, type Selector, selectorOf } from '../machinery/api/selector.ts';
import type { ResourceType } from '../machinery/client/resource-type.ts';
import type { View, Watch } from '../machinery/loop/controller.ts';
import type { Action, PatchAction } from '../machinery/loop/plan.ts';

export interface Claim<T extends KubeObject> {
  /** Named their controller, and match. */
  readonly owned: readonly T[];
  /** Match, and have no controller. */
  readonly adopt: readonly T[];
  /** Name the controller, and no longer match. */
  readonly release: readonly T[];
}

/** Sorts `objects` into those the controller has, should take and should let go. Nothing is taken or let go by a controller being deleted. */
export function claim<T extends KubeObject>(controller: KubeObject, selector: Selector, objects: Iterable<T>): Claim<T> {
  const owned: T[] = [];
  const adopt: T[] = [];
  const release: T[] = [];
  const leaving = controller.metadata.deletionTimestamp !== undefined;
  for (const object of objects) {
    const ref = controllerOf(object);
    const fits = matches(selector, object.metadata.labels ?? {});
    if (ref === undefined) {
      if (fits && !leaving && object.metadata.deletionTimestamp === undefined) adopt.push(object);
    } else if (ref.uid === controller.metadata.uid) {
      if (fits) owned.push(object);
      else if (!leaving) release.push(object);
    }
  }
  return { owned, adopt, release };
}

/** The owner reference of a controller (metav1.NewControllerRef). */
export function controllerReference(type: ResourceType, owner: KubeObject): OwnerReference {
  return {
    apiVersion: formatApiVersion(type),
    kind: type.kind,
    name: owner.metadata.name ?? '',
    uid: owner.metadata.uid ?? '',
    controller: true,
    blockOwnerDeletion: true,
  };
}

function metadataPatch(type: ResourceType, object: KubeObject, metadata: Record<string, unknown>): PatchAction {
  const name = { namespace: object.metadata.namespace ?? '', name: object.metadata.name ?? '' };
  return {
    do: 'patch',
    type,
    name,
    patchType: 'application/strategic-merge-patch+json',
    patch: { metadata: { uid: object.metadata.uid, ...metadata } },
    tolerate: ['NotFound'],
  };
}

/** The writes that carry out a claim; empty when everything is as it should be. */
export function claimActions<T extends KubeObject>(
  ownerType: ResourceType,
  owner: KubeObject,
  type: ResourceType<T>,
  found: Claim<T>,
): Action[] {
  const actions: Action[] = found.release.map((object) =>
    metadataPatch(type, object, { ownerReferences: [{ $patch: 'delete', uid: owner.metadata.uid }] }),
  );
  if (found.adopt.length > 0) {
    actions.push(stillAsObserved(ownerType, owner));
    const ref = controllerReference(ownerType, owner);
    for (const object of found.adopt) actions.push(metadataPatch(type, object, { ownerReferences: [ref] }));
  }
  return actions;
}

/** Changes nothing; fails with Conflict when the object is not as we know it. */
function stillAsObserved(type: ResourceType, object: KubeObject): PatchAction {
  return {
    do: 'patch',
    type,
    name: { namespace: object.metadata.namespace ?? '', name: object.metadata.name ?? '' },
    patchType: 'application/merge-patch+json',
    patch: { metadata: { uid: object.metadata.uid, resourceVersion: object.metadata.resourceVersion } },
  };
}

/** A controller whose spec selects what it owns. */
export interface Selecting extends KubeObject {
  spec: { selector?: LabelSelector };
}

/** Wakes the controllers that own a changed object and, for an orphan, all those that might adopt it. */
export function watchClaimed<T extends KubeObject, Owner extends Selecting>(
  type: ResourceType<T>,
  ownerType: ResourceType<Owner>,
): Watch<T> {
  return {
    type,
    *keysOf({ object, old }, view: View) {
      for (const state of [object, old]) {
        const ref = state && controllerOf(state);
        if (state && ref?.kind === ownerType.kind)
          yield objectKey({ metadata: { ...(state.metadata.namespace && { namespace: state.metadata.namespace }), name: ref.name } });
      }
      if (object === undefined || controllerOf(object) !== undefined) return;
      for (const owner of view.of(ownerType).list(object.metadata.namespace)) {
        if (matches(selectorOf(owner.spec.selector), object.metadata.labels ?? {})) yield objectKey(owner);
      }
    },
  };
}
