/**
 * ReplicationController: the forerunner of the ReplicaSet. Mirrors kubernetes `pkg/registry/core/replicationcontroller`.
 */
import { type FieldError, required } from '../../../machinery/api/field-error.ts';
import type { ReplicationController, ReplicationControllerSpec } from '../../../machinery/api/types/core.v1.ts';
import { namedPodWarnings, replicaSetStatusErrors } from '../apps/replicas.ts';
import { defaultPodTemplate } from '../defaults/pod-spec.ts';
import { defineKind } from '../define.ts';
import { preparedTemplate } from '../disabled-fields.ts';
import { statusView } from '../status.ts';
import { ageCell, formatLabels, labelsCell, templateCells } from '../tables/cells.ts';
import { nonNegative } from '../validation/numbers.ts';
import { alwaysRestartsErrors, mismatch, podTemplateErrors } from '../validation/pod-template.ts';

/** The template's labels serve as selector and as labels where those are missing. */
function applyDefaults(object: ReplicationController): void {
  object.spec ??= {};
  const { spec } = object;
  spec.replicas ??= 1;
  if (spec.template) defaultPodTemplate(spec.template);
  const labels = spec.template?.metadata?.labels;
  if (labels === undefined || Object.keys(labels).length === 0) return;
  if (Object.keys(spec.selector ?? {}).length === 0) spec.selector = { ...labels };
  if (Object.keys(object.metadata.labels ?? {}).length === 0) object.metadata.labels = { ...labels };
}

function specErrors(spec: ReplicationControllerSpec, errors: FieldError[], old?: ReplicationControllerSpec): void {
  nonNegative(spec.minReadySeconds, 'spec.minReadySeconds', errors);
  const selector = spec.selector ?? {};
  const empty = Object.keys(selector).length === 0;
  if (empty) errors.push(required('spec.selector'));
  nonNegative(spec.replicas, 'spec.replicas', errors);
  if (!spec.template) {
    errors.push(required('spec.template'));
    return;
  }
  const labels = spec.template.metadata?.labels ?? {};
  // whether the selector is well formed does not matter here
  if (Object.entries(selector).some(([key, value]) => !Object.hasOwn(labels, key) || labels[key] !== value))
    errors.push(mismatch('spec.template', spec.template));
  podTemplateErrors(spec.template, 'spec.template', errors, old?.template);
  alwaysRestartsErrors(spec.template, 'spec.template', 'ReplicationController', errors);
}

export const replicationcontroller = defineKind<ReplicationController>({
  resource: 'replicationcontrollers',
  kind: 'ReplicationController',
  generation: 'spec',
  defaultPropagation: 'Orphan',
  fieldLabelError: 'notSupported',
  selectableFields: { 'status.replicas': ({ status }) => String(status?.replicas ?? 0) },
  strategy: {
    default: applyDefaults,
    ...preparedTemplate(({ spec }) => spec?.template),
    validate: (object) => {
      const errors: FieldError[] = [];
      specErrors(object.spec ?? {}, errors);
      return errors;
    },
    validateUpdate: (object, old) => {
      const errors: FieldError[] = [];
      // upstream checks the new state as one, and then again as the later state of the old
      for (let pass = 0; pass < 2; pass++) specErrors(object.spec ?? {}, errors, old.spec);
      return errors;
    },
    warnings: namedPodWarnings,
  },
  status: statusView({ validate: replicaSetStatusErrors }),
  scale: {
    replicas: (object) => object.spec?.replicas ?? 0,
    setReplicas: (object, replicas) => {
      object.spec = { ...object.spec, replicas };
    },
    statusReplicas: (object) => object.status?.replicas ?? 0,
    selector: (object) => formatLabels(object.spec?.selector),
  },
  cells: ({ metadata, spec = {}, status }, now) => [
    metadata.name,
    spec.replicas ?? 0,
    status?.replicas ?? 0,
    status?.readyReplicas ?? 0,
    ageCell(metadata.creationTimestamp, now),
    ...templateCells(spec.template),
    labelsCell(spec.selector),
  ],
});
