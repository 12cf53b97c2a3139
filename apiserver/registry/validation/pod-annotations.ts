/**
 * Annotations that Kubernetes itself reads on pods and templates. Mirrors kubernetes `core/validation` ValidatePodSpecificAnnotations and the
 * agreement of the old security annotations with their fields.
 */

import { jsonKind } from '../../../machinery/api/decode.ts';
import { type FieldError, forbiddenField, invalidValue } from '../../../machinery/api/field-error.ts';
import { parseJson } from '../../../machinery/api/json.ts';
import { isPlain } from '../../../machinery/api/plain.ts';
import type * as core from '../../../machinery/api/types/core.v1.ts';
import { MIRROR, POD_DELETION_COST } from '../../../machinery/api/well-known-labels.ts';
import { localDescendingPathErrors } from './paths.ts';
import { tolerationErrors } from './taints.ts';

export const APP_ARMOR_PREFIX = 'container.apparmor.security.beta.kubernetes.io/';
const LOCALHOST = 'localhost/';
export const SECCOMP_POD = 'seccomp.security.alpha.kubernetes.io/pod';
export const SECCOMP_CONTAINER_PREFIX = 'container.seccomp.security.alpha.kubernetes.io/';

type Annotations = Record<string, string> | undefined;

export interface ContainerAt {
  readonly container: core.Container;
  readonly path: string;
}

/** Init, regular and ephemeral containers with their paths, in that order. */
export function* containersOf(spec: core.PodSpec | undefined, path: string): Generator<ContainerAt> {
  for (const member of ['initContainers', 'containers', 'ephemeralContainers'] as const) {
    const list = spec?.[member] as core.Container[] | undefined;
    if (list) for (let i = 0; i < list.length; i++) yield { container: list[i]!, path: `${path}.${member}[${i}]` };
  }
}

export function podAnnotationErrors(annotations: Annotations, spec: core.PodSpec | undefined, path: string, errors: FieldError[]): void {
  if (annotations === undefined) return;
  if (annotations[MIRROR] !== undefined && !spec?.nodeName) {
    errors.push(invalidValue(`${path}[${MIRROR}]`, annotations[MIRROR], 'must set spec.nodeName if mirror pod annotation is set'));
  }
  if (annotations[TOLERATIONS]) tolerationTextErrors(annotations[TOLERATIONS], path, errors);
  const cost = annotations[POD_DELETION_COST];
  if (cost !== undefined && !isDeletionCost(cost))
    errors.push(invalidValue(`${path}[${POD_DELETION_COST}]`, cost, 'must be a 32bit integer'));
  seccompErrors(annotations, path, errors);
  appArmorErrors(annotations, spec, path, errors);
}

/** What pods tolerated before there was a field for it; still checked, as JSON. */
const TOLERATIONS = 'scheduler.alpha.kubernetes.io/tolerations';

function tolerationTextErrors(text: string, path: string, errors: FieldError[]): void {
  try {
    const { value } = parseJson(text);
    if (value !== null && !Array.isArray(value))
      throw new Error(`json: cannot unmarshal ${jsonKind(value)} into Go value of type []core.Toleration`);
    const items: unknown[] = value ?? [];
    const odd = items.find((item) => item !== null && !isPlain(item));
    if (odd !== undefined) throw new Error(`json: cannot unmarshal ${jsonKind(odd)} into Go value of type core.Toleration`);
    tolerationErrors(items.map((item) => item ?? {}) as core.Toleration[], `${path}.${TOLERATIONS}`, errors);
  } catch (error) {
    errors.push(invalidValue(path, TOLERATIONS, (error as Error).message));
  }
}

/** Without a plus sign or leading zeros. */
const isDeletionCost = (text: string): boolean =>
  /^(0|-?[0-9]+)$/.test(text) && !/^0./.test(text) && Number(text) >= -(2 ** 31) && Number(text) < 2 ** 31;

function seccompErrors(annotations: Record<string, string>, path: string, errors: FieldError[]): void {
  const containers = Object.keys(annotations).filter((key) => key.startsWith(SECCOMP_CONTAINER_PREFIX));
  for (const key of [SECCOMP_POD, ...containers.sort()]) {
    const profile = annotations[key];
    if (profile === undefined || profile === 'runtime/default' || profile === 'docker/default' || profile === 'unconfined') continue;
    if (profile.startsWith(LOCALHOST)) localDescendingPathErrors(profile.slice(LOCALHOST.length), `${path}.${key}`, errors);
    else errors.push(invalidValue(`${path}.${key}`, profile, 'must be a valid seccomp profile'));
  }
}

/** Which annotations of a pod may not change: what its kubelet has acted upon. */
export function podAnnotationChangeErrors(next: Annotations, old: Annotations, path: string, errors: FieldError[]): void {
  const fixed = (key: string): string | undefined => {
    if (key.startsWith(APP_ARMOR_PREFIX)) return 'AppArmor annotations';
    return key === MIRROR ? 'mirror pod annotation' : undefined;
  };
  for (const key of Object.keys(old ?? {}).sort()) {
    const what = fixed(key);
    if (what !== undefined && next?.[key] !== old![key]) errors.push(forbiddenField(`${path}[${key}]`, `may not remove or update ${what}`));
  }
  for (const key of Object.keys(next ?? {}).sort()) {
    const what = fixed(key);
    if (what !== undefined && old?.[key] === undefined) errors.push(forbiddenField(`${path}[${key}]`, `may not add ${what}`));
  }
}

function appArmorErrors(annotations: Record<string, string>, spec: core.PodSpec | undefined, path: string, errors: FieldError[]): void {
  for (const key of Object.keys(annotations).sort()) {
    if (!key.startsWith(APP_ARMOR_PREFIX)) continue;
    const name = key.slice(APP_ARMOR_PREFIX.length);
    const profile = annotations[key]!;
    if (![...containersOf(spec, '')].some((c) => c.container.name === name))
      errors.push(invalidValue(`${path}[${key}]`, name, 'container not found'));
    if (profile !== '' && profile !== 'runtime/default' && profile !== 'unconfined' && !profile.startsWith('localhost/')) {
      errors.push(invalidValue(`${path}[${key}]`, profile, `invalid AppArmor profile name: ${JSON.stringify(profile)}`));
    }
  }
}

interface Profile {
  readonly type?: string;
  readonly localhostProfile?: string;
}

/** The old annotations must say what the fields say. */
export function annotationFieldErrors(annotations: Annotations, spec: core.PodSpec, path: string, errors: FieldError[]): void {
  if (annotations === undefined) return;
  const pod = annotations[SECCOMP_POD];
  if (pod !== undefined)
    matchErrors(pod, spec.securityContext?.seccompProfile, ['seccomp', `${path}.securityContext.seccompProfile`], errors);
  for (const { container, path: at } of containersOf(spec, path)) {
    const annotation = annotations[SECCOMP_CONTAINER_PREFIX + container.name];
    if (annotation !== undefined) {
      matchErrors(annotation, container.securityContext?.seccompProfile, ['seccomp', `${at}.securityContext.seccompProfile`], errors);
    }
  }
  if (spec.os?.name === 'windows') return;
  for (const { container, path: at } of containersOf(spec, path)) {
    const annotation = annotations[APP_ARMOR_PREFIX + container.name];
    if (annotation === undefined) continue;
    const profile = container.securityContext?.appArmorProfile ?? spec.securityContext?.appArmorProfile;
    matchErrors(annotation, profile, ['apparmor', `${at}.securityContext.appArmorProfile`], errors);
  }
}

function matchErrors(
  annotation: string,
  profile: Profile | undefined,
  [what, path]: readonly [string, string],
  errors: FieldError[],
): void {
  if (!profile) return;
  const typeError = (): void => void errors.push(forbiddenField(`${path}.type`, `${what} type in annotation and field must match`));
  if (profile.type === 'Unconfined' && annotation !== 'unconfined') typeError();
  else if (profile.type === 'RuntimeDefault' && annotation !== 'runtime/default' && (what !== 'seccomp' || annotation !== 'docker/default'))
    typeError();
  else if (profile.type === 'Localhost') {
    if (!annotation.startsWith('localhost/')) typeError();
    else if (annotation.slice('localhost/'.length) !== profile.localhostProfile) {
      errors.push(forbiddenField(`${path}.localhostProfile`, `${what} profile in annotation and field must match`));
    }
  }
}
