/**
 * Creation of a pod. Mirrors kubernetes `pkg/registry/core/pod` PrepareForCreate and ValidatePodCreate.
 */
import { deepEqual } from '../../../machinery/api/equality.ts';
import { type FieldError, forbiddenField } from '../../../machinery/api/field-error.ts';
import { qosClassOf } from '../../../machinery/api/qos.ts';
import { formatTime } from '../../../machinery/api/time.ts';
import type * as core from '../../../machinery/api/types/core.v1.ts';
import { MIRROR } from '../../../machinery/api/well-known-labels.ts';
import { dropDisabledFields } from '../disabled-fields.ts';
import type { StrategyContext } from '../resource.ts';
import { imageSpaceErrors } from '../validation/containers.ts';
import {
  APP_ARMOR_PREFIX,
  annotationFieldErrors,
  containersOf,
  podAnnotationChangeErrors,
  podAnnotationErrors,
} from '../validation/pod-annotations.ts';
import { appArmorProfileErrors } from '../validation/pod-security.ts';
import { podSpecErrors } from '../validation/pod-spec.ts';
import { appArmorWarning } from '../validation/pod-warnings.ts';

export function preparePodForCreate(pod: core.Pod, context: StrategyContext): void {
  const { spec } = pod;
  pod.status = { phase: 'Pending', qosClass: pod.status?.qosClass || qosClassOf(spec) };
  if ((spec.schedulingGates?.length ?? 0) > 0) {
    pod.status.conditions = [
      {
        type: 'PodScheduled',
        status: 'False',
        lastTransitionTime: formatTime(context.now),
        reason: 'SchedulingGated',
        message: 'Scheduling is blocked due to non-empty scheduling gates',
      },
    ];
  }
  if ((spec.terminationGracePeriodSeconds ?? 0) < 0) spec.terminationGracePeriodSeconds = 1;
  dropDisabledFields(spec);
  mergeLabelKeys(pod);
  if (pod.metadata.annotations) appArmorFields(pod, pod.metadata.annotations, context);
}

/** matchLabelKeys become requirements of the selector, with the values of the pod's own labels. */
function mergeLabelKeys(pod: core.Pod): void {
  const labels = pod.metadata.labels ?? {};
  for (const constraint of pod.spec.topologySpreadConstraints ?? []) addRequirements(constraint, labels, constraint.matchLabelKeys, 'In');
  const terms = [pod.spec.affinity?.podAffinity, pod.spec.affinity?.podAntiAffinity].flatMap((affinity) => [
    ...(affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
    ...(affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map((w) => w.podAffinityTerm),
  ]);
  for (const term of terms) {
    addRequirements(term, labels, term?.matchLabelKeys, 'In');
    addRequirements(term, labels, term?.mismatchLabelKeys, 'NotIn');
  }
}

type Selecting = { labelSelector?: core.PodAffinityTerm['labelSelector'] } | undefined;

function addRequirements(
  term: Selecting,
  labels: Record<string, string>,
  keys: readonly string[] | undefined,
  operator: 'In' | 'NotIn',
): void {
  const selector = term?.labelSelector;
  if (!selector || keys === undefined) return;
  for (const key of keys) {
    if (!Object.hasOwn(labels, key)) continue;
    selector.matchExpressions = [...(selector.matchExpressions ?? []), { key, operator, values: [labels[key]!] }];
  }
}

/** The old AppArmor annotation of a container fills the field that replaced it, unless the pod as a whole says the same. */
function appArmorFields(pod: core.Pod, annotations: Record<string, string>, context: StrategyContext): void {
  if (pod.spec.os?.name === 'windows') return;
  const ofPod = pod.spec.securityContext?.appArmorProfile;
  for (const { container } of containersOf(pod.spec, '')) {
    const profile = annotations[APP_ARMOR_PREFIX + container.name];
    if (profile === undefined || container.securityContext?.appArmorProfile) continue;
    const field = appArmorField(profile);
    if (field !== undefined && deepEqual(field, ofPod)) continue;
    // also of a profile that validation will refuse
    context.warn(appArmorWarning(container.name));
    if (field !== undefined) container.securityContext = { ...container.securityContext, appArmorProfile: field };
  }
}

const LOCALHOST = 'localhost/';

function appArmorField(profile: string): core.AppArmorProfile | undefined {
  if (profile === 'runtime/default') return { type: 'RuntimeDefault' };
  if (profile === 'unconfined') return { type: 'Unconfined' };
  if (!profile.startsWith(LOCALHOST)) return undefined;
  const field: core.AppArmorProfile = { type: 'Localhost', localhostProfile: profile.slice(LOCALHOST.length) };
  const errors: FieldError[] = [];
  appArmorProfileErrors(field, '', errors);
  return errors.length === 0 ? field : undefined;
}

export function validatePodCreate(pod: core.Pod): FieldError[] {
  const errors: FieldError[] = [];
  podSpecAndAnnotationErrors(pod, errors);
  if ((pod.spec.ephemeralContainers?.length ?? 0) > 0) errors.push(forbiddenField('spec.ephemeralContainers', 'cannot be set on create'));
  if (pod.spec.nodeName && (pod.spec.schedulingGates?.length ?? 0) > 0) {
    errors.push(forbiddenField('spec.nodeName', 'cannot be set until all schedulingGates have been cleared'));
  }
  annotationFieldErrors(pod.metadata.annotations, pod.spec, 'spec', errors);
  return errors;
}

/** What holds at creation and in every update of the spec. */
export function podSpecAndAnnotationErrors(pod: core.Pod, errors: FieldError[]): void {
  podAnnotationErrors(pod.metadata.annotations, pod.spec, 'metadata.annotations', errors);
  const staticPod = pod.metadata.annotations?.[MIRROR] !== undefined;
  podSpecErrors(pod.spec ?? {}, 'spec', errors, { podName: pod.metadata.name ?? '', staticPod });
  if (pod.spec && !pod.spec.serviceAccountName) tokenWithoutAccountErrors(pod.spec, errors);
  imageSpaceErrors(pod.spec?.containers, 'spec.containers', errors);
  imageSpaceErrors(pod.spec?.initContainers, 'spec.initContainers', errors);
}

function tokenWithoutAccountErrors(spec: core.PodSpec, errors: FieldError[]): void {
  spec.volumes?.forEach((volume, i) => {
    volume.projected?.sources?.forEach((source, j) => {
      if (!source.serviceAccountToken) return;
      const path = `spec.volumes[${i}].projected.sources[${j}].serviceAccountToken`;
      errors.push(forbiddenField(path, 'must not be specified when serviceAccountName is not set'));
    });
  });
}

/** Annotations across an update of the pod or of a view of it; upstream looks at the new ones once more. */
export function podAnnotationUpdateErrors(pod: core.Pod, old: core.Pod, errors: FieldError[]): void {
  const path = 'metadata.annotations';
  podAnnotationChangeErrors(pod.metadata.annotations, old.metadata.annotations, path, errors);
  podAnnotationErrors(pod.metadata.annotations, pod.spec, path, errors);
}
