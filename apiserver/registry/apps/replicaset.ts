/**
 * ReplicaSet: a number of pods of one template. Mirrors kubernetes `pkg/registry/apps/replicaset` and `apps/validation`.
 */
import { type FieldError, invalidValue } from '../../../machinery/api/field-error.ts';
import { formatSelector, selectorOf } from '../../../machinery/api/selector.ts';
import type { ReplicaSet, ReplicaSetSpec } from '../../../machinery/api/types/apps.v1.ts';
import { defaultPodTemplate } from '../defaults/pod-spec.ts';
import { defineKind } from '../define.ts';
import { dropStatus, keepStatus, statusView } from '../status.ts';
import { ageCell, selectorCell, templateCells } from '../tables/cells.ts';
import { immutableField, nonNegative, nonNegativeMembers } from '../validation/numbers.ts';
import { selectorAndTemplateErrors } from '../validation/pod-template.ts';
import { templateWarnings } from '../validation/pod-warnings.ts';

const RULES = { selectorOwner: 'deployment', deadlineOwner: 'ReplicaSet' };

function applyDefaults(object: ReplicaSet): void {
  object.spec ??= {} as ReplicaSetSpec;
  const { spec } = object;
  spec.replicas ??= 1;
  spec.template ??= {};
  defaultPodTemplate(spec.template);
}

function specErrors(spec: ReplicaSetSpec, errors: FieldError[], old?: ReplicaSetSpec): void {
  nonNegative(spec.replicas, 'spec.replicas', errors);
  nonNegative(spec.minReadySeconds, 'spec.minReadySeconds', errors);
  selectorAndTemplateErrors(spec, RULES, errors, old);
}

function validate(object: ReplicaSet): FieldError[] {
  const errors: FieldError[] = [];
  specErrors(object.spec ?? ({} as ReplicaSetSpec), errors);
  return errors;
}

function validateUpdate(object: ReplicaSet, old: ReplicaSet): FieldError[] {
  const errors: FieldError[] = [];
  specErrors(object.spec ?? ({} as ReplicaSetSpec), errors, old.spec);
  immutableField(object.spec?.selector, old.spec.selector, 'spec.selector', errors);
  return errors;
}

const COUNTS = ['replicas', 'fullyLabeledReplicas', 'readyReplicas', 'availableReplicas', 'terminatingReplicas', 'observedGeneration'];

export interface ReplicaCounts {
  replicas?: number;
  fullyLabeledReplicas?: number;
  readyReplicas?: number;
  availableReplicas?: number;
}

/** Also of replication controllers, which report the same figures. */
export function replicaCountErrors(status: ReplicaCounts, errors: FieldError[]): void {
  nonNegativeMembers(status, 'status', COUNTS, errors);
  const { replicas = 0, fullyLabeledReplicas = 0, readyReplicas = 0, availableReplicas = 0 } = status;
  const limit = 'cannot be greater than status.replicas';
  if (fullyLabeledReplicas > replicas) errors.push(invalidValue('status.fullyLabeledReplicas', fullyLabeledReplicas, limit));
  if (readyReplicas > replicas) errors.push(invalidValue('status.readyReplicas', readyReplicas, limit));
  if (availableReplicas > replicas) errors.push(invalidValue('status.availableReplicas', availableReplicas, limit));
  if (availableReplicas > readyReplicas) {
    errors.push(invalidValue('status.availableReplicas', availableReplicas, 'cannot be greater than readyReplicas'));
  }
}

function statusErrors(object: ReplicaSet): FieldError[] {
  const errors: FieldError[] = [];
  replicaCountErrors(object.status ?? {}, errors);
  return errors;
}

export const replicaset = defineKind<ReplicaSet>({
  group: 'apps',
  resource: 'replicasets',
  kind: 'ReplicaSet',
  zero: { spec: { replicas: 0 } },
  generation: 'spec',
  strategy: {
    default: applyDefaults,
    prepareForCreate: dropStatus,
    prepareForUpdate: keepStatus,
    validate,
    validateUpdate,
    warnings: (object, old) => templateWarnings(object, old, object.spec?.template, 'spec.template'),
  },
  status: statusView({ validate: statusErrors }),
  scale: {
    replicas: (object) => object.spec.replicas ?? 0,
    setReplicas: (object, replicas) => {
      object.spec.replicas = replicas;
    },
    statusReplicas: (object) => object.status?.replicas ?? 0,
    selector: (object) => formatSelector(selectorOf(object.spec.selector)),
  },
  cells: ({ metadata, spec, status }, now) => [
    metadata.name,
    spec.replicas ?? 0,
    status?.replicas ?? 0,
    status?.readyReplicas ?? 0,
    ageCell(metadata.creationTimestamp, now),
    ...templateCells(spec.template),
    selectorCell(spec.selector),
  ],
});
