/**
 * What the workloads that keep a number of pods have in common: how they are scaled, that their selector is fixed, and which figures may be reported of
 * them. Mirrors the ScaleREST of
 * kubernetes `pkg/registry/apps/{deployment,replicaset,statefulset}/storage` and the status rules of `apps/validation`.
 */
import { type FieldError, invalidValue } from '../../../machinery/api/field-error.ts';
import type { KubeObject, LabelSelector } from '../../../machinery/api/object.ts';
import { formatSelector, selectorOf } from '../../../machinery/api/selector.ts';
import type { PodTemplateSpec } from '../../../machinery/api/types/core.v1.ts';
import type { ScaleDefinition, Strategy } from '../resource.ts';
import { immutableField, nonNegativeMembers } from '../validation/numbers.ts';
import { podNameWarnings, templateWarnings } from '../validation/pod-warnings.ts';

interface Replicated extends KubeObject {
  spec: { replicas?: number; selector?: LabelSelector };
  status?: { replicas?: number };
}

/** The scale of a kind with a label selector. */
export const replicaScale: ScaleDefinition<Replicated> = {
  replicas: (object) => object.spec?.replicas ?? 0,
  setReplicas: (object, replicas) => {
    object.spec ??= {};
    object.spec.replicas = replicas;
  },
  statusReplicas: (object) => object.status?.replicas ?? 0,
  selector: (object) => formatSelector(selectorOf(object.spec?.selector)),
};

/**
 * The rules of a kind whose selector stays as it is. `specErrors` adds what is wrong with a spec; `old` is absent for a new object. Most kinds check
 * a changed object as a new one first, and then again as the later state of the old: `passes` is 2.
 */
export function fixedSelector<T extends KubeObject & { spec: { selector?: LabelSelector } }>(
  specErrors: (object: T, errors: FieldError[], old?: T) => void,
  passes = 1,
): Required<Pick<Strategy<T>, 'validate' | 'validateUpdate'>> {
  return {
    validate(object) {
      const errors: FieldError[] = [];
      specErrors(object, errors);
      return errors;
    },
    validateUpdate(object, old) {
      const errors: FieldError[] = [];
      for (let pass = 0; pass < passes; pass++) specErrors(object, errors, old);
      immutableField(object.spec?.selector, old.spec?.selector, 'spec.selector', errors);
      return errors;
    },
  };
}

/** Warnings of a kind whose name begins the names of its pods. */
export function namedPodWarnings(object: KubeObject & { spec?: { template?: PodTemplateSpec } }, old: KubeObject | undefined): string[] {
  const ofName = old === undefined ? podNameWarnings(object.metadata.name ?? '') : [];
  return [...ofName, ...templateWarnings(object, old, object.spec?.template, 'spec.template')];
}

export interface CountRules {
  /** May not be negative, in this order. */
  readonly counts: readonly string[];
  /** Parts of `replicas`, in this order; `availableReplicas`, which is a part of `readyReplicas` too, comes after them. */
  readonly parts: readonly string[];
  /** How the texts call the ready ones. */
  readonly ready: string;
}

const REPLICA_SET_COUNTS: CountRules = {
  counts: ['replicas', 'fullyLabeledReplicas', 'readyReplicas', 'availableReplicas', 'terminatingReplicas', 'observedGeneration'],
  parts: ['fullyLabeledReplicas', 'readyReplicas'],
  ready: 'readyReplicas',
};

/** Figures of a status that contradict themselves. */
export function countErrors(status: object | undefined, rules: CountRules, errors: FieldError[]): void {
  const figures = (status ?? {}) as Record<string, number | undefined>;
  const of = (member: string): number => figures[member] ?? 0;
  nonNegativeMembers(figures, 'status', rules.counts, errors);
  for (const member of [...rules.parts, 'availableReplicas']) {
    if (of(member) > of('replicas')) errors.push(invalidValue(`status.${member}`, of(member), 'cannot be greater than status.replicas'));
  }
  if (of('availableReplicas') <= of('readyReplicas')) return;
  errors.push(invalidValue('status.availableReplicas', of('availableReplicas'), `cannot be greater than ${rules.ready}`));
}

/** What is wrong with a status that is reported of a ReplicaSet or a ReplicationController. */
export function replicaSetStatusErrors({ status }: KubeObject & { readonly status?: object }): FieldError[] {
  const errors: FieldError[] = [];
  countErrors(status, REPLICA_SET_COUNTS, errors);
  return errors;
}

/** How often a hash had to be changed is only ever counted up. */
export function collisionErrors(now: number | undefined, before: number | undefined, errors: FieldError[]): void {
  if (before === undefined || (now ?? -1) >= before) return;
  errors.push(invalidValue('status.collisionCount', now ?? 0, 'cannot be decremented'));
}
