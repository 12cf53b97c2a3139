/**
 * ReplicaSet: a number of pods of one template. Mirrors kubernetes `pkg/registry/apps/replicaset` and `apps/validation`.
 */
import type { FieldError } from '../../../machinery/api/field-error.ts';
import type { ReplicaSet, ReplicaSetSpec } from '../../../machinery/api/types/apps.v1.ts';
import { defaultPodTemplate } from '../defaults/pod-spec.ts';
import { defineKind } from '../define.ts';
import { preparedTemplate } from '../disabled-fields.ts';
import { statusView } from '../status.ts';
import { ageCell, selectorCell, templateCells } from '../tables/cells.ts';
import { nonNegative } from '../validation/numbers.ts';
import { selectorAndTemplateErrors } from '../validation/pod-template.ts';
import { fixedSelector, namedPodWarnings, replicaScale, replicaSetStatusErrors } from './replicas.ts';

const RULES = { selectorOwner: 'deployment', deadlineOwner: 'ReplicaSet' };

function applyDefaults(object: ReplicaSet): void {
  object.spec ??= {} as ReplicaSetSpec;
  const { spec } = object;
  spec.replicas ??= 1;
  spec.template ??= {};
  defaultPodTemplate(spec.template);
}

function specErrors({ spec }: ReplicaSet, errors: FieldError[], old?: ReplicaSet): void {
  nonNegative(spec.replicas, 'spec.replicas', errors);
  nonNegative(spec.minReadySeconds, 'spec.minReadySeconds', errors);
  selectorAndTemplateErrors(spec, RULES, errors, old?.spec);
}

export const replicaset = defineKind<ReplicaSet>({
  group: 'apps',
  resource: 'replicasets',
  kind: 'ReplicaSet',
  zero: { spec: { replicas: 0 } },
  generation: 'spec',
  strategy: {
    default: applyDefaults,
    ...preparedTemplate(({ spec }) => spec?.template),
    ...fixedSelector(specErrors, 2),
    warnings: namedPodWarnings,
  },
  status: statusView({ validate: replicaSetStatusErrors }),
  scale: replicaScale,
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
