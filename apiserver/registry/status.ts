/**
 * The split of an object between its two writers: who asks (spec, the main resource) and who reports (status, the subresource). Mirrors the
 * PrepareForCreate and PrepareForUpdate that nearly all strategies of kubernetes `pkg/registry` share.
 */
import type { FieldError } from '../../machinery/api/field-error.ts';
import type { AnyObject, KubeObject } from '../../machinery/api/object.ts';
import type { StrategyContext, SubresourceStrategy } from './resource.ts';

/** A new object has no status. */
export function dropStatus(object: KubeObject): void {
  delete (object as AnyObject)['status'];
}

/** An update of the main resource leaves status as it was. */
export function keepStatus(object: KubeObject, old: KubeObject): void {
  setOrDelete(object as AnyObject, 'status', (old as AnyObject)['status']);
}

/** Restores every member but `metadata` and those named, from `old`. */
export function keepAllBut(object: KubeObject, old: KubeObject, ...free: string[]): void {
  const target = object as AnyObject;
  for (const key of Object.keys(target)) if (!(key in old) && key !== 'metadata' && !free.includes(key)) delete target[key];
  for (const key of Object.keys(old)) if (key !== 'metadata' && !free.includes(key)) target[key] = (old as AnyObject)[key];
}

function setOrDelete(target: AnyObject, key: string, value: unknown): void {
  if (value === undefined) delete target[key];
  else target[key] = value;
}

export interface StatusViewOptions<T extends KubeObject> {
  /** Members of metadata that a status write may not change; true for all that a client owns. */
  readonly keepMetadata?: true | readonly ('labels' | 'annotations' | 'finalizers' | 'ownerReferences')[];
  prepare?(object: T, old: T, context: StrategyContext): void;
  validate?(object: T, old: T, context: StrategyContext): FieldError[];
}

const CLIENT_METADATA = ['labels', 'annotations', 'finalizers', 'ownerReferences'] as const;

/** The status subresource: everything but status and metadata stays as it was. */
export function statusView<T extends KubeObject>(options: StatusViewOptions<T> = {}): SubresourceStrategy<T> {
  const kept = options.keepMetadata === true ? CLIENT_METADATA : (options.keepMetadata ?? []);
  return {
    prepareForUpdate(object, old, context) {
      keepAllBut(object, old, 'status');
      for (const key of kept) setOrDelete(object.metadata as unknown as AnyObject, key, old.metadata[key]);
      options.prepare?.(object, old, context);
    },
    validateUpdate: options.validate ?? (() => []),
  };
}
