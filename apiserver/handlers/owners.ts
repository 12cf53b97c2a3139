/** Owner references that name one owner twice are reduced to the first, with a warning. Mirrors apiserver `handlers/rest.go` dedupOwnerReferences. */
import type { KubeObject, OwnerReference } from '../../machinery/api/object.ts';
import { type RequestContext, warn } from '../http/context.ts';

/** `when` stands between `entries` and the advice. */
export function dedupOwners(context: RequestContext, object: KubeObject, when: '' | ' after mutating admission happens'): void {
  const references = object.metadata.ownerReferences;
  if (references === undefined || references === null || references.length < 2) return;
  const kept: OwnerReference[] = [];
  const duplicates = new Set<string>();
  for (const reference of references) {
    if (kept.some((other) => sameOwner(other, reference))) duplicates.add(reference.uid ?? '');
    else kept.push(reference);
  }
  if (duplicates.size === 0) return;
  object.metadata.ownerReferences = kept;
  const advice = 'API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests';
  warn(
    context,
    `.metadata.ownerReferences contains duplicate entries${when}; ${advice}; duplicate UID(s) observed: ${[...duplicates].join(', ')}`,
  );
}

function sameOwner(a: OwnerReference, b: OwnerReference): boolean {
  return (
    a.uid === b.uid &&
    a.name === b.name &&
    a.kind === b.kind &&
    a.apiVersion === b.apiVersion &&
    a.controller === b.controller &&
    a.blockOwnerDeletion === b.blockOwnerDeletion
  );
}
