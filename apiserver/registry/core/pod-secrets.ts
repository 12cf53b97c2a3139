/**
 * Secrets that a pod refers to, and which pods may: those of files on a node refer to none, and an account may have its pods use only the secrets it
 * lists. Mirrors kubernetes `pkg/api/pod` VisitPodSecretNames and the restrictions of `plugin/pkg/admission/serviceaccount`.
 */
import type * as core from '../../../machinery/api/types/core.v1.ts';
import { containersOf } from '../validation/pod-annotations.ts';
import { refusePod } from './pod-refusal.ts';

const ENFORCE = 'kubernetes.io/enforce-mountable-secrets';
const TRUE = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);

/** Volumes that name a secret as `secretRef`. */
const BY_REFERENCE = ['cephfs', 'cinder', 'flexVolume', 'rbd', 'scaleIO', 'iscsi', 'storageos'] as const;

function refersToSecret(volume: core.Volume): boolean {
  return (
    volume.azureFile !== undefined ||
    volume.secret !== undefined ||
    volume.csi?.nodePublishSecretRef !== undefined ||
    BY_REFERENCE.some((source) => volume[source]?.secretRef !== undefined) ||
    (volume.projected?.sources ?? []).some((source) => source.secret !== undefined)
  );
}

function hasSecrets(spec: core.PodSpec): boolean {
  if ((spec.imagePullSecrets?.length ?? 0) > 0 || (spec.volumes ?? []).some(refersToSecret)) return true;
  for (const { container } of containersOf(spec, '')) {
    if (container.env?.some((variable) => variable.valueFrom?.secretKeyRef) || container.envFrom?.some((source) => source.secretRef))
      return true;
  }
  return false;
}

/** What a kubelet shows of a file is nobody's: it has no account and no secrets. */
export function admitMirror(pod: core.Pod): void {
  const { spec } = pod;
  if (spec.serviceAccountName) throw refusePod(pod, 'a mirror pod may not reference service accounts');
  if (hasSecrets(spec)) throw refusePod(pod, 'a mirror pod may not reference secrets');
  if (spec.volumes?.some((volume) => volume.projected?.sources?.some((source) => source.serviceAccountToken)))
    throw refusePod(pod, 'a mirror pod may not use ServiceAccountToken volume projections');
}

export const limitsSecrets = (account: core.ServiceAccount): boolean => TRUE.has(account.metadata.annotations?.[ENFORCE] ?? '');

const tailOf = (account: core.ServiceAccount): string =>
  `is not allowed because service account ${account.metadata.name} does not reference that`;
const namesIn = (list: readonly { readonly name?: string }[] | undefined): ReadonlySet<string> =>
  new Set((list ?? []).map(({ name = '' }) => name));

/** Of a new pod. */
export function limitSecrets(pod: core.Pod, account: core.ServiceAccount): void {
  const allowed = namesIn(account.secrets);
  for (const volume of pod.spec.volumes ?? []) {
    const name = volume.secret?.secretName;
    if (volume.secret && !allowed.has(name ?? ''))
      throw refusePod(pod, `volume with secret.secretName="${name ?? ''}" ${tailOf(account)} secret`);
  }
  limitContainers(pod, pod.spec.initContainers, 'init container', account);
  limitContainers(pod, pod.spec.containers, 'container', account);
  const pull = namesIn(account.imagePullSecrets);
  pod.spec.imagePullSecrets?.forEach(({ name = '' }, i) => {
    if (!pull.has(name)) throw refusePod(pod, `imagePullSecrets[${i}].name="${name}" ${tailOf(account)} imagePullSecret`);
  });
}

/** Of containers that join a pod that runs. */
export const limitEphemeral = (pod: core.Pod, account: core.ServiceAccount): void =>
  limitContainers(pod, pod.spec.ephemeralContainers as readonly core.Container[] | undefined, 'ephemeral container', account);

function limitContainers(
  pod: core.Pod,
  containers: readonly core.Container[] | undefined,
  kind: string,
  account: core.ServiceAccount,
): void {
  const allowed = namesIn(account.secrets);
  const refuse = (what: string, name: string): Error =>
    refusePod(pod, `${what} referencing secret.secretName="${name}" ${tailOf(account)} secret`);
  for (const container of containers ?? []) {
    for (const variable of container.env ?? []) {
      const reference = variable.valueFrom?.secretKeyRef;
      if (reference && !allowed.has(reference.name ?? ''))
        throw refuse(`${kind} ${container.name} with envVar ${variable.name}`, reference.name ?? '');
    }
    for (const { secretRef } of container.envFrom ?? []) {
      if (secretRef && !allowed.has(secretRef.name ?? '')) throw refuse(`${kind} ${container.name} with envFrom`, secretRef.name ?? '');
    }
  }
}
