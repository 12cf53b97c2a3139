/**
 * Namespace: a scope for names that goes in two steps: marked by DELETE, removed when its content and finalizers are gone.
 * Mirrors kubernetes `pkg/registry/core/namespace`.
 */
import type { FieldError } from '../../../machinery/api/field-error.ts';
import { invalidValue } from '../../../machinery/api/field-error.ts';
import { nameIsLabel, qualifiedName } from '../../../machinery/api/names.ts';
import type { Namespace } from '../../../machinery/api/types/core.v1.ts';
import { defineKind } from '../define.ts';
import { keepAllBut, keepStatus, statusView } from '../status.ts';
import { ageCell } from '../tables/cells.ts';
import { isKubeFinalizer } from '../validation/metadata.ts';

const NAME_LABEL = 'kubernetes.io/metadata.name';
const IMMORTAL = new Set(['default', 'kube-system', 'kube-public']);

function applyDefaults(object: Namespace): void {
  object.status ??= {};
  object.status.phase ??= 'Active';
  const name = object.metadata.name;
  if (name) object.metadata.labels = { ...object.metadata.labels, [NAME_LABEL]: name };
}

function prepareForCreate(object: Namespace): void {
  object.status = { phase: 'Active' };
  object.spec ??= {};
  const finalizers = object.spec.finalizers ?? [];
  object.spec.finalizers = finalizers.includes('kubernetes') ? finalizers : [...finalizers, 'kubernetes'];
}

function specFinalizerErrors(object: Namespace, indexed: boolean): FieldError[] {
  const errors: FieldError[] = [];
  object.spec?.finalizers?.forEach((name, i) => {
    const path = indexed ? `spec.finalizers[${i}]` : 'spec.finalizers';
    for (const detail of qualifiedName(name)) errors.push(invalidValue(path, name, detail));
    if (!isKubeFinalizer(name))
      errors.push(invalidValue(path, name, 'name is neither a standard finalizer name nor is it fully qualified'));
  });
  return errors;
}

function statusErrors(object: Namespace): FieldError[] {
  const phase = object.status?.phase;
  if (object.metadata.deletionTimestamp === undefined) {
    return phase === 'Active' ? [] : [invalidValue('status.Phase', phase ?? '', "may only be 'Active' if `deletionTimestamp` is empty")];
  }
  return phase === 'Terminating'
    ? []
    : [invalidValue('status.Phase', phase ?? '', "may only be 'Terminating' if `deletionTimestamp` is not empty")];
}

export const namespace = defineKind<Namespace>({
  resource: 'namespaces',
  kind: 'Namespace',
  nameRule: nameIsLabel,
  noNamespaceField: true,
  fieldLabelError: 'notSupported',
  selectableFields: { 'status.phase': (object) => object.status?.phase ?? '' },
  strategy: {
    default: applyDefaults,
    prepareForCreate,
    prepareForUpdate: (object, old) => {
      object.spec = old.spec;
      keepStatus(object, old);
    },
    validate: (object) => specFinalizerErrors(object, false),
    validateUpdate: () => [],
  },
  status: statusView({ validate: statusErrors }),
  views: {
    finalize: {
      prepareForUpdate: (object, old) => keepAllBut(object, old, 'spec'),
      validateUpdate: (object) => specFinalizerErrors(object, true),
    },
  },
  deleteRefusal: (name) => (IMMORTAL.has(name) ? 'this namespace may not be deleted' : undefined),
  twoStepDelete: {
    begin: (object) => {
      object.status = { ...object.status, phase: 'Terminating' };
    },
    held: (object) => (object.spec?.finalizers?.length ?? 0) > 0,
  },
  cells: (object, now) => [object.metadata.name, object.status?.phase ?? '', ageCell(object.metadata.creationTimestamp, now)],
});
