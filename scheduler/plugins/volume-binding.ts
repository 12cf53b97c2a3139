/**
 * The claims of a pod: bound ones must reach the node, those that wait for their first consumer must find a volume there, others keep the pod waiting.
 * Mirrors upstream `plugins/volumebinding`. What a placed pod's waiting claims get is `volumeChoices`; it is written before the pod is bound.
 */

import { compareQuantities, parseQuantity } from '../../machinery/api/quantity.ts';
import { matches, selectorOf } from '../../machinery/api/selector.ts';
import type { Node, PersistentVolume, PersistentVolumeClaim } from '../../machinery/api/types/core.v1.ts';
import { BIND_COMPLETED, STORAGE_CLASS } from '../../machinery/api/well-known-labels.ts';
import { matchesNodeSelector } from '../framework/node-affinity.ts';
import { type Plugin, type Prefiltered, type Rejection, unresolvable } from '../framework/plugin.ts';
import type { PodInfo } from '../framework/pod-info.ts';
import type { Lookup, Snapshot } from '../framework/snapshot.ts';

const NO_PROVISIONER = 'kubernetes.io/no-provisioner';

const elsewhere = unresolvable("node(s) didn't match PersistentVolume's node affinity");
const lost = unresolvable('node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)');
const noneFree = unresolvable("node(s) didn't find available persistent volumes to bind");

export const volumeBinding: Plugin = {
  name: 'VolumeBinding',
  prefilter: (pod, snapshot) => (pod.claims.length > 0 ? examine(pod, snapshot) : {}),
  mayHelp: (_pod, event) => ['node-added', 'node-labels', 'claim', 'volume', 'storage-class', 'own-update'].includes(event.kind),
};

interface Claims {
  readonly bound: readonly PersistentVolumeClaim[];
  readonly waiting: readonly PersistentVolumeClaim[];
}

function examine(pod: PodInfo, snapshot: Snapshot): Prefiltered {
  const claims = claimsOf(pod, snapshot.lookup);
  if ('reasons' in claims) return { rejection: claims };
  const { lookup } = snapshot;
  return {
    filter: ({ node }) => {
      if (!node) return lost;
      for (const claim of claims.bound) {
        const volume = lookup.volume(claim.spec?.volumeName ?? '');
        if (!volume) return lost;
        if (!reaches(volume, node)) return elsewhere;
      }
      return claims.waiting.length > 0 && !choices(claims.waiting, node, lookup) ? noneFree : undefined;
    },
  };
}

function claimsOf(pod: PodInfo, lookup: Lookup): Claims | Rejection {
  const bound: PersistentVolumeClaim[] = [];
  const waiting: PersistentVolumeClaim[] = [];
  for (const name of pod.claims) {
    const claim = lookup.claim(pod.namespace, name);
    if (!claim) {
      const own = (pod.pod.spec.volumes ?? []).some((volume) => volume.ephemeral && `${pod.pod.metadata.name}-${volume.name}` === name);
      return unresolvable(
        own
          ? `waiting for ephemeral volume controller to create the persistentvolumeclaim "${name}"`
          : `persistentvolumeclaim "${name}" not found`,
      );
    }
    if (claim.status?.phase === 'Lost')
      return unresolvable(`persistentvolumeclaim "${name}" bound to non-existent persistentvolume "${claim.spec?.volumeName}"`);
    if (claim.metadata.deletionTimestamp) return unresolvable(`persistentvolumeclaim "${name}" is being deleted`);
    if (claim.spec?.volumeName && claim.metadata.annotations?.[BIND_COMPLETED] !== undefined) bound.push(claim);
    else if (waitsForConsumer(claim, lookup) && !claim.spec?.volumeName) waiting.push(claim);
    else return unresolvable('pod has unbound immediate PersistentVolumeClaims');
  }
  return { bound, waiting };
}

const classOf = (claim: PersistentVolumeClaim): string => claim.metadata.annotations?.[STORAGE_CLASS] ?? claim.spec?.storageClassName ?? '';

const waitsForConsumer = (claim: PersistentVolumeClaim, lookup: Lookup): boolean =>
  lookup.storageClass(classOf(claim))?.volumeBindingMode === 'WaitForFirstConsumer';

function reaches(volume: PersistentVolume, node: Node): boolean {
  const required = volume.spec?.nodeAffinity?.required;
  return !required || matchesNodeSelector(required, node);
}

/** For each waiting claim the volume it takes on a node; undefined where one is to be made there. */
export interface VolumeChoice {
  readonly claim: PersistentVolumeClaim;
  readonly volume: PersistentVolume | undefined;
}

/** What the waiting claims of a pod get on the node it goes to. */
export function volumeChoices(pod: PodInfo, node: Node, lookup: Lookup): readonly VolumeChoice[] {
  const claims = claimsOf(pod, lookup);
  return 'reasons' in claims ? [] : (choices(claims.waiting, node, lookup) ?? []);
}

function choices(waiting: readonly PersistentVolumeClaim[], node: Node, lookup: Lookup): VolumeChoice[] | undefined {
  const taken = new Set<string>();
  const found: VolumeChoice[] = [];
  for (const claim of waiting) {
    const volume = smallestFit(claim, node, lookup, taken);
    if (volume) taken.add(volume.metadata.name as string);
    else if ((lookup.storageClass(classOf(claim))?.provisioner ?? NO_PROVISIONER) === NO_PROVISIONER) return undefined;
    found.push({ claim, volume });
  }
  return found;
}

function smallestFit(claim: PersistentVolumeClaim, node: Node, lookup: Lookup, taken: ReadonlySet<string>): PersistentVolume | undefined {
  const wanted = parseQuantity(claim.spec?.resources?.requests?.['storage'] ?? '0');
  const capacity = (volume: PersistentVolume) => parseQuantity(volume.spec?.capacity?.['storage'] ?? '0');
  const fitting = lookup.volumes().filter((volume) => {
    const { spec, status, metadata } = volume;
    if (taken.has(metadata.name as string) || metadata.deletionTimestamp) return false;
    const ref = spec?.claimRef;
    const reserved =
      ref !== undefined &&
      ref.name === claim.metadata.name &&
      ref.namespace === claim.metadata.namespace &&
      (!ref.uid || ref.uid === claim.metadata.uid);
    if ((ref && !reserved) || (!ref && status?.phase !== undefined && status.phase !== 'Available' && status.phase !== 'Pending'))
      return false;
    if (
      (spec?.storageClassName ?? '') !== classOf(claim) ||
      (spec?.volumeMode ?? 'Filesystem') !== (claim.spec?.volumeMode ?? 'Filesystem')
    )
      return false;
    if (claim.spec?.selector && !matches(selectorOf(claim.spec.selector), metadata.labels)) return false;
    if (!(claim.spec?.accessModes ?? []).every((mode) => spec?.accessModes?.includes(mode))) return false;
    return compareQuantities(capacity(volume), wanted) >= 0 && reaches(volume, node);
  });
  return fitting.sort((a, b) => compareQuantities(capacity(a), capacity(b)))[0];
}
