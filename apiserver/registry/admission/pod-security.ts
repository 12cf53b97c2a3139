/**
 * PodSecurity: pods keep to the level of their namespace, workloads are told what their pods will meet, namespaces what their pods meet already.
 * Mirrors `k8s.io/pod-security-admission/admission`. Levels of former versions are judged by the latest checks.
 */
import { deepEqual } from '../../../machinery/api/equality.ts';
import type { KubeObject } from '../../../machinery/api/object.ts';
import { invalid } from '../../../machinery/api/status.ts';
import type * as core from '../../../machinery/api/types/core.v1.ts';
import { type AdmissionPlugin, type AdmissionRequest, refuse } from './plugin.ts';
import type { PodShape } from './pod-security-checks.ts';
import { type Level, levelLabelErrors, levelOf, levelText, strictness, violationsOf, violationsText } from './pod-security-levels.ts';

/** Pods of a namespace that are judged when its level changes. */
const MAX_PODS = 3000;

type Templated = { readonly spec?: { readonly template?: core.PodTemplateSpec } };
const fromSpec = (object: KubeObject): core.PodTemplateSpec | undefined => (object as unknown as Templated).spec?.template;

/** Where workloads have their template. */
const TEMPLATES: Readonly<Record<string, (object: KubeObject) => core.PodTemplateSpec | undefined>> = {
  '/podtemplates': (object) => (object as unknown as core.PodTemplate).template,
  '/replicationcontrollers': fromSpec,
  'apps/replicasets': fromSpec,
  'apps/deployments': fromSpec,
  'apps/statefulsets': fromSpec,
  'apps/daemonsets': fromSpec,
  'batch/jobs': fromSpec,
  'batch/cronjobs': (object) => (object as unknown as { spec?: { jobTemplate?: Templated } }).spec?.jobTemplate?.spec?.template,
};

export const podSecurity: AdmissionPlugin = {
  name: 'PodSecurity',
  handles: (group, resource) =>
    (group === '' && (resource === 'pods' || resource === 'namespaces')) || TEMPLATES[`${group}/${resource}`] !== undefined,
  validate: (request) => {
    const { group, resource, subresource } = request;
    if (resource === 'pods') {
      if (subresource === '' || subresource === 'ephemeralcontainers') judgePod(request);
    } else if (subresource !== '') return;
    else if (resource === 'namespaces') judgeNamespace(request);
    else judgeTemplate(request, TEMPLATES[`${group}/${resource}`]!(request.object));
  },
};

const shapeOf = ({ metadata, spec }: { metadata?: { annotations?: Record<string, string> }; spec?: core.PodSpec }): PodShape => ({
  annotations: metadata?.annotations ?? {},
  spec: spec ?? { containers: [] },
});

function labelsOf({ context, object }: AdmissionRequest): Record<string, string> | undefined {
  return context.reader.get<core.Namespace>('', 'namespaces', '', object.metadata.namespace ?? '')?.metadata.labels;
}

function judgePod(request: AdmissionRequest): void {
  const pod = request.object as unknown as core.Pod;
  if (request.old !== undefined && !matters(pod, request.old as unknown as core.Pod)) return;
  const labels = labelsOf(request);
  if (labels === undefined) return;
  const shape = shapeOf(pod);
  const enforced = levelOf(labels, 'enforce');
  const violations = violationsOf(enforced, shape);
  if (violations.length > 0) {
    throw refuse(request, `violates PodSecurity ${JSON.stringify(levelText(enforced))}: ${violationsText(violations)}`);
  }
  warnOf(request, levelOf(labels, 'warn'), shape);
}

function judgeTemplate(request: AdmissionRequest, template: core.PodTemplateSpec | undefined): void {
  const labels = labelsOf(request);
  if (labels !== undefined && template?.spec) warnOf(request, levelOf(labels, 'warn'), shapeOf(template));
}

function warnOf({ context }: AdmissionRequest, level: Level, shape: PodShape): void {
  const violations = violationsOf(level, shape);
  if (violations.length === 0) return;
  context.warn(`would violate PodSecurity ${JSON.stringify(levelText(level))}: ${violationsText(violations)}`);
}

/** Of an update only what can change the verdict: images, containers that come, profiles in annotations. */
function matters(pod: core.Pod, old: core.Pod): boolean {
  const images = ({ spec }: core.Pod): unknown =>
    [spec.containers, spec.initContainers, spec.ephemeralContainers].map((list) => (list ?? []).map(({ name, image }) => [name, image]));
  const profiles = ({ metadata }: core.Pod): unknown =>
    Object.fromEntries(
      Object.entries(metadata.annotations ?? {}).filter(([key]) => /^(seccomp|container\.(seccomp|apparmor))\./.test(key)),
    );
  return !deepEqual(images(pod), images(old)) || !deepEqual(profiles(pod), profiles(old));
}

function judgeNamespace(request: AdmissionRequest): void {
  const { object, old, context } = request;
  const { labels } = object.metadata;
  const errors = levelLabelErrors(labels);
  const same = old !== undefined && deepEqual(levelLabels(labels), levelLabels(old.metadata.labels));
  if (errors.length > 0 && !same) throw invalid({ group: '', kind: 'Namespace' }, object.metadata.name ?? '', errors);
  if (old === undefined || same) return;
  const level = levelOf(labels, 'enforce');
  const before = levelOf(old.metadata.labels, 'enforce');
  if (level.level === 'privileged') return;
  if (level.version === before.version && strictness(level) <= strictness(before)) return;
  const warnings = existingViolations(request, level);
  if (warnings.length === 0) return;
  const text = JSON.stringify(levelText(level));
  context.warn(`existing pods in namespace ${JSON.stringify(object.metadata.name)} violate the new PodSecurity enforce level ${text}`);
  for (const warning of warnings) context.warn(warning);
}

const levelLabels = (labels: Record<string, string> | undefined): unknown =>
  Object.fromEntries(Object.entries(labels ?? {}).filter(([key]) => key.startsWith('pod-security.kubernetes.io/')));

/** One line for all pods that do the same. */
function existingViolations({ context, object }: AdmissionRequest, level: Level): string[] {
  const pods = context.reader.list<core.Pod>('', 'pods', object.metadata.name ?? '').slice(0, MAX_PODS);
  const byReasons = new Map<string, string[]>();
  for (const pod of pods) {
    const reasons = violationsOf(level, shapeOf(pod))
      .map(({ reason }) => reason)
      .join(', ');
    if (reasons !== '') byReasons.set(reasons, [...(byReasons.get(reasons) ?? []), pod.metadata.name ?? '']);
  }
  return [...byReasons].map(([reasons, [first, ...others]]) => {
    const more = others.length === 0 ? '' : others.length === 1 ? ' (and 1 other pod)' : ` (and ${others.length} other pods)`;
    return `${first}${more}: ${reasons}`;
  });
}
