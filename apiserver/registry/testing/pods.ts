/**
 * Pods for tests of rules: complete and defaulted, so that a test states only what it is about.
 */
import type { FieldError } from '../../../machinery/api/field-error.ts';
import type * as core from '../../../machinery/api/types/core.v1.ts';
import { defaultPod, defaultPodSpec } from '../defaults/pod-spec.ts';
import { podSpecErrors } from '../validation/pod-spec.ts';

/** Members of any shape: what is tested is often what no type allows. */
export type Loose = Readonly<Record<string, unknown>>;

export const containerWith = (members: Loose = {}): core.Container => ({ name: 'c', image: 'app:1', ...members }) as core.Container;

/** A pod as it stands after defaulting. A container without members is added where the spec names none. */
export function podWith(spec: Loose = {}, more: { readonly metadata?: Loose; readonly status?: Loose } = {}): core.Pod {
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'n', ...more.metadata },
    spec: structuredClone({ serviceAccountName: 'default', containers: [containerWith()], ...spec }),
    ...(more.status && { status: structuredClone(more.status) }),
  } as unknown as core.Pod;
  defaultPodSpec(pod.spec);
  defaultPod(pod.spec);
  return pod;
}

export const messagesOf = (errors: readonly FieldError[]): string[] => errors.map((error) => error.message);

/** What is wrong with the spec of a pod called `p`. */
export function specMessages(spec: Loose): string[] {
  const errors: FieldError[] = [];
  podSpecErrors(podWith(spec).spec, 'spec', errors, { podName: 'p' });
  return messagesOf(errors);
}

/** What is wrong with a pod that has one container of these members. */
export const containerMessages = (members: Loose, spec: Loose = {}): string[] =>
  specMessages({ containers: [containerWith(members)], ...spec });

/** What is wrong with a pod whose only volume, `v`, has these members. */
export const volumeMessages = (members: Loose): string[] => specMessages({ volumes: [{ name: 'v', ...members }] });
