/**
 * Namespace: a scope for names that goes in two steps: marked by DELETE, removed when its content and finalizers are gone.
 * Mirrors kubernetes `pkg/registry/core/namespace`.
 */
import type { FieldError } from '../../../machinery/api/field-error.ts';
import { invalidValue } from '../../../machinery/api/field-error.ts';
import type { Namespace } from '../../../machinery/api/types/core.v1.ts';
import { defineKind } from '../define.ts';
import { keepAllBut, keepStatus, statusView } from '../status.ts';
import { ageCell } from '../tables/cells.ts';
import { kubeFinalizerErrors } from '../validation/metadata.ts';
import { nameIsLabel, qualifiedName } from '../validation/names.ts';

const NAME_LABEL = 'kubernetes.io/metadata.name';

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

function specFinalizerErrors(object: Namespace): FieldError[] {
  const errors: FieldError[] = [];
  object.spec?.finalizers?.forEach((name, i) => {
    for (const detail of qualifiedName(name)) errors.push(invalidValue(`spec.finalizers`, name, detail));
    kubeFinalizerErrors([name], errors, `spec.finalizers[${i}]`);
  });
  return errors.map((e) => ({
    ...e,
    field: e.field.replace(/\]\[0\]$/, ']'),
    message: e.message.replace(/^(spec\.finalizers\[\d+\])\[0\]/, '$1'),
  }));
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
  selectableFields: { name: (object) => object.metadata.name ?? '', 'status.phase': (object) => object.status?.phase ?? '' },
  strategy: {
    default: applyDefaults,
    prepareForCreate,
    prepareForUpdate: (object, old) => {
      object.spec = old.spec;
      keepStatus(object, old);
    },
    validate: specFinalizerErrors,
    validateUpdate: () => [],
  },
  status: statusView({ validate: statusErrors }),
  views: {
    finalize: {
      prepareForUpdate: (object, old) => keepAllBut(object, old, 'spec'),
      validateUpdate: specFinalizerErrors,
    },
  },
  twoStepDelete: {
    begin: (object) => {
      object.status = { ...object.status, phase: 'Terminating' };
    },
    held: (object) => (object.spec?.finalizers?.length ?? 0) > 0,
    refusal:
      'The system is ensuring all content is removed from this namespace.  Upon completion, this namespace will automatically be purged by the system.',
  },
  cells: (object, now) => [object.metadata.name, object.status?.phase ?? '', ageCell(object.metadata.creationTimestamp, now)],
});
