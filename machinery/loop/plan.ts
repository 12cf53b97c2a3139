/**
 * What a comparison decides: plain data that the loop then carries out. A plan can be printed, tested and replayed; it does nothing by itself.
 */
import type { KubeObject } from '../api/object.ts';
import type { DeleteParams, ObjectName, PatchType } from '../client/client.ts';
import type { ResourceType } from '../client/resource-type.ts';

export type Action = CreateAction | UpdateAction | PatchAction | DeleteAction | SubresourceAction;

export interface CreateAction {
  readonly do: 'create';
  readonly type: ResourceType;
  readonly object: KubeObject;
  /** Failure reasons that count as done, such as AlreadyExists. */
  readonly tolerate?: readonly string[];
}
/** PUT of the whole object; its metadata.resourceVersion is the precondition. `subresource: 'status'` writes the status only. */
export interface UpdateAction {
  readonly do: 'update';
  readonly type: ResourceType;
  readonly object: KubeObject;
  readonly subresource?: string;
}
/** The patch must carry metadata.uid (or resourceVersion) as its precondition. */
export interface PatchAction {
  readonly do: 'patch';
  readonly type: ResourceType;
  readonly name: ObjectName;
  readonly patchType: PatchType;
  readonly patch: unknown;
  readonly subresource?: string;
  readonly tolerate?: readonly string[];
}
export interface DeleteAction {
  readonly do: 'delete';
  readonly type: ResourceType;
  readonly name: ObjectName;
  /** uid is the precondition: never delete a namesake. */
  readonly uid: string;
  readonly options?: Omit<DeleteParams, 'uid'>;
  /** With a resourceVersion among the options: 'Conflict' when the object may have changed, and its change wakes the key anyway. */
  readonly tolerate?: readonly string[];
}
/** POST to a subresource: binding, eviction. */
export interface SubresourceAction {
  readonly do: 'subresource';
  readonly type: ResourceType;
  readonly name: ObjectName;
  readonly subresource: string;
  readonly body: unknown;
  readonly tolerate?: readonly string[];
}

export interface PlannedEvent {
  readonly about: KubeObject;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  /** Index into `actions`: the event is recorded only when that action succeeded, with `{name}` replaced by the written object's name. */
  readonly after?: number;
  /** Index into `actions`: recorded only when that action failed, with `{error}` replaced by the failure's message. */
  readonly onFailure?: number;
}

export interface Plan {
  /** Carried out in order; consecutive creates or deletes of one type go in upstream's slow-start batches (1, 2, 4 …). The first failure ends the pass and the key is retried with back-off. */
  readonly actions: readonly Action[];
  /** Written after the actions, whether they succeeded or not; `fallback` sees the first failure (a ReplicaFailure condition). */
  readonly status?: UpdateAction | undefined;
  readonly statusOnFailure?: (error: Error) => UpdateAction | undefined;
  readonly events?: readonly PlannedEvent[];
  /** Look again after so many milliseconds even if nothing changes. */
  readonly requeueAfterMs?: number;
}

export const NOTHING: Plan = { actions: [] };
