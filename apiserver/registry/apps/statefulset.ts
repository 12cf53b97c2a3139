/**
 * StatefulSet: pods with names and claims of their own. Mirrors kubernetes `pkg/registry/apps/statefulset` and `apps/validation`.
 */
import { deepEqual } from '../../../machinery/api/equality.ts';
import { type FieldError, forbiddenField, invalidValue, notSupported, required } from '../../../machinery/api/field-error.ts';
import { nameIsLabel } from '../../../machinery/api/names.ts';
import { typeSchema } from '../../../machinery/api/schema/schema.ts';
import type { StatefulSet, StatefulSetSpec } from '../../../machinery/api/types/apps.v1.ts';
import { defaultPodTemplate } from '../defaults/pod-spec.ts';
import { defineKind } from '../define.ts';
import { preparedTemplate } from '../disabled-fields.ts';
import { statusView } from '../status.ts';
import { ageCell, templateCells } from '../tables/cells.ts';
import { claimSpecErrors } from '../validation/claims.ts';
import { fractionWarning } from '../validation/fractions.ts';
import { dnsLabelErrors } from '../validation/ip.ts';
import { nonNegative, nonNegativeIntOrPercent } from '../validation/numbers.ts';
import { selectorAndTemplateErrors } from '../validation/pod-template.ts';
import { templateWarnings } from '../validation/pod-warnings.ts';
import { type CountRules, collisionErrors, countErrors, replicaScale } from './replicas.ts';

const RULES = { selectorOwner: 'statefulset', deadlineOwner: 'StatefulSet', badSelector: '', metadataTwice: true };

function applyDefaults(object: StatefulSet): void {
  object.spec ??= {} as StatefulSetSpec;
  const { spec } = object;
  if (!spec.podManagementPolicy) spec.podManagementPolicy = 'OrderedReady';
  spec.updateStrategy ??= {};
  if (!spec.updateStrategy.type) {
    spec.updateStrategy.type = 'RollingUpdate';
    spec.updateStrategy.rollingUpdate ??= {};
    spec.updateStrategy.rollingUpdate.partition ??= 0;
  } else if (spec.updateStrategy.type === 'RollingUpdate' && spec.updateStrategy.rollingUpdate) {
    spec.updateStrategy.rollingUpdate.partition ??= 0;
  }
  // Behind a gate that is off.
  if (spec.updateStrategy.rollingUpdate) delete spec.updateStrategy.rollingUpdate.maxUnavailable;
  spec.persistentVolumeClaimRetentionPolicy ??= {};
  spec.persistentVolumeClaimRetentionPolicy.whenDeleted ||= 'Retain';
  spec.persistentVolumeClaimRetentionPolicy.whenScaled ||= 'Retain';
  spec.replicas ??= 1;
  spec.revisionHistoryLimit ??= 10;
  spec.template ??= {};
  defaultPodTemplate(spec.template);
  for (const claim of spec.volumeClaimTemplates ?? []) {
    claim.kind = 'PersistentVolumeClaim';
    claim.apiVersion = 'v1';
    claim.spec = { ...claim.spec, volumeMode: claim.spec?.volumeMode ?? 'Filesystem' };
    claim.status = { ...claim.status, phase: claim.status?.phase || 'Pending' };
  }
}

function strategyErrors({ updateStrategy = {}, podManagementPolicy = '' as never }: StatefulSetSpec, errors: FieldError[]): void {
  const policy: string = podManagementPolicy;
  if (policy === '') errors.push(required('spec.podManagementPolicy'));
  else if (policy !== 'OrderedReady' && policy !== 'Parallel') {
    errors.push(invalidValue('spec.podManagementPolicy', policy, "must be 'OrderedReady' or 'Parallel'"));
  }
  const { type, rollingUpdate } = updateStrategy;
  const path = 'spec.updateStrategy';
  if (!type) errors.push(required(path));
  else if (type === 'OnDelete') {
    if (rollingUpdate)
      errors.push(
        invalidValue(
          `${path}.rollingUpdate`,
          { Partition: rollingUpdate.partition ?? 0 },
          "only allowed for updateStrategy 'RollingUpdate'",
        ),
      );
  } else if (type === 'RollingUpdate') {
    nonNegative(rollingUpdate?.partition, `${path}.rollingUpdate.partition`, errors);
    if (rollingUpdate?.maxUnavailable !== undefined)
      nonNegativeIntOrPercent(rollingUpdate.maxUnavailable, `${path}.rollingUpdate.maxUnavailable`, errors);
  } else errors.push(invalidValue(path, { Type: type, RollingUpdate: rollingUpdate ?? null }, "must be 'RollingUpdate' or 'OnDelete'"));
}

const CLAIM_POLICIES = ['Retain', 'Delete'];

function specErrors(spec: StatefulSetSpec, errors: FieldError[], old?: StatefulSetSpec): void {
  strategyErrors(spec, errors);
  const retention = spec.persistentVolumeClaimRetentionPolicy ?? {};
  for (const member of ['whenDeleted', 'whenScaled'] as const) {
    const policy: string | undefined = retention[member];
    if (policy !== undefined && !CLAIM_POLICIES.includes(policy)) {
      errors.push(notSupported(`spec.persistentVolumeClaimRetentionPolicy.${member}`, policy, CLAIM_POLICIES));
    }
  }
  // claims and the service are fixed: what an older server let in may stay
  if (old === undefined) {
    spec.volumeClaimTemplates?.forEach((claim, i) => {
      claimSpecErrors(claim.spec ?? {}, `spec.volumeClaimTemplates[${i}].spec`, errors);
    });
  }
  nonNegative(spec.replicas, 'spec.replicas', errors);
  nonNegative(spec.minReadySeconds, 'spec.minReadySeconds', errors);
  nonNegative(spec.ordinals?.start, 'spec.ordinals.start', errors);
  if (old === undefined && spec.serviceName) dnsLabelErrors(spec.serviceName, 'spec.serviceName', errors);
  selectorAndTemplateErrors(asPodWouldBe(spec), RULES, errors, old);
}

/** The template as its pods will have it: with the claims as volumes, and under host names that are the set's to give. */
function asPodWouldBe(spec: StatefulSetSpec): StatefulSetSpec {
  const { template, volumeClaimTemplates: claims = [] } = spec;
  if (!template?.spec) return spec;
  const { hostname: _, subdomain: __, ...podSpec } = template.spec;
  if (claims.length === 0) return { ...spec, template: { ...template, spec: podSpec } };
  const names = new Set(claims.map((claim) => claim.metadata?.name ?? ''));
  const own = (podSpec.volumes ?? []).filter((volume) => !names.has(volume.name));
  const added = [...names].map((name) => ({ name, persistentVolumeClaim: { claimName: name } }));
  return { ...spec, template: { ...template, spec: { ...podSpec, volumes: [...own, ...added] } } };
}

function validate(object: StatefulSet): FieldError[] {
  const errors: FieldError[] = [];
  specErrors(object.spec, errors);
  return errors;
}

const MUTABLE = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
] as const;

function validateUpdate(object: StatefulSet, old: StatefulSet): FieldError[] {
  const errors: FieldError[] = [];
  specErrors(object.spec, errors, old.spec);
  const fixed = (spec: StatefulSetSpec): object =>
    Object.fromEntries(Object.entries(spec).filter(([key]) => !(MUTABLE as readonly string[]).includes(key)));
  if (!deepEqual(fixed(object.spec), fixed(old.spec), typeSchema('apps.v1.StatefulSetSpec'))) {
    errors.push(
      forbiddenField(
        'spec',
        "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
      ),
    );
  }
  return errors;
}

const COUNTS: CountRules = {
  counts: ['replicas', 'readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas', 'observedGeneration', 'collisionCount'],
  parts: ['readyReplicas', 'currentReplicas', 'updatedReplicas'],
  ready: 'status.readyReplicas',
};

function statusErrors({ status }: StatefulSet, old: StatefulSet): FieldError[] {
  const errors: FieldError[] = [];
  countErrors(status, COUNTS, errors);
  collisionErrors(status?.collisionCount, old.status?.collisionCount, errors);
  return errors;
}

/** What is said of claims and of the history is said at every update; upstream's path of a claim is another one then. */
function warnings(object: StatefulSet, old: StatefulSet | undefined): string[] {
  const texts = templateWarnings(object, old, object.spec.template, 'spec.template');
  object.spec.volumeClaimTemplates?.forEach((claim, i) => {
    const path = `spec.volumeClaimTemplates[${i}]${old === undefined ? '' : '.Spec'}`;
    const text = fractionWarning(claim.spec?.resources?.requests?.['storage'], `${path}.resources.requests[storage]`);
    if (text !== undefined) texts.push(text);
  });
  if ((object.spec.revisionHistoryLimit ?? 0) < 0) {
    texts.push('spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended');
  }
  return texts;
}

export const statefulset = defineKind<StatefulSet>({
  group: 'apps',
  resource: 'statefulsets',
  kind: 'StatefulSet',
  zero: { spec: { replicas: 0 } },
  nameRule: nameIsLabel,
  generation: 'spec',
  strategy: { default: applyDefaults, ...preparedTemplate(({ spec }) => spec?.template), validate, validateUpdate, warnings },
  status: statusView({ validate: statusErrors }),
  scale: replicaScale,
  cells: ({ metadata, spec, status }, now) => [
    metadata.name,
    `${status?.readyReplicas ?? 0}/${spec.replicas ?? 0}`,
    ageCell(metadata.creationTimestamp, now),
    ...templateCells(spec.template),
  ],
});
