/**
 * The ReplicaSet of a pod template: how it is found again and how a new one is named. Mirrors upstream `deployment_util.go` (EqualIgnoreHash,
 * FindNewReplicaSet) and `pod-template-hash`.
 *
 * Invariant: a set is recognised by the equality of its template, never by its hash; the hash only makes names differ. Ours is FNV-1a over canonical JSON (upstream's is
 * over a Go dump), so the same template has another name than in a Go cluster.
 */

import { deepEqual } from '../../machinery/api/equality.ts';
import type { Deployment, ReplicaSet } from '../../machinery/api/types/apps.v1.ts';
import type { PodTemplateSpec } from '../../machinery/api/types/core.v1.ts';
import { POD_TEMPLATE_HASH } from '../../machinery/api/well-known-labels.ts';
import { deployments } from '../../machinery/client/resource-type.ts';
import { controllerReference } from '../ownership.ts';
import { currentSetAnnotations } from './annotations.ts';

const SAFE = 'bcdfghjklmnpqrstvwxz2456789';
/** Names end in a hash of at most ten characters and a dash. */
const MAX_NAME_LENGTH = 253;

function withoutHash(template: PodTemplateSpec | undefined): PodTemplateSpec {
  const { [POD_TEMPLATE_HASH]: _, ...labels } = template?.metadata?.labels ?? {};
  return { ...template, metadata: { ...template?.metadata, labels } };
}

export const sameTemplate = (a: PodTemplateSpec | undefined, b: PodTemplateSpec | undefined): boolean =>
  deepEqual(withoutHash(a), withoutHash(b));

export function byCreation(a: ReplicaSet, b: ReplicaSet): number {
  const [left, right] = [a, b].map((rs) => `${rs.metadata.creationTimestamp ?? ''} ${rs.metadata.name ?? ''}`);
  return left! < right! ? -1 : left! > right! ? 1 : 0;
}

/** The oldest set with the template the Deployment has now. */
export function findCurrentSet(d: Deployment, sets: readonly ReplicaSet[]): ReplicaSet | undefined {
  return [...sets].sort(byCreation).find((rs) => sameTemplate(rs.spec.template, d.spec.template));
}

/** 32-bit FNV-1a of the template and the number of name collisions so far, in upstream's alphabet that spells no words. */
export function templateHash(template: PodTemplateSpec, collisionCount: number): string {
  const bytes = Buffer.from(`${canonicalJson(template)}/${collisionCount}`);
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return [...String(hash)].map((digit) => SAFE[digit.charCodeAt(0) % SAFE.length]).join('');
}

function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value).filter(([, member]) => member !== undefined && member !== null);
  return `{${members
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`)
    .join(',')}}`;
}

export function setName(d: Deployment): string {
  const hash = templateHash(d.spec.template, d.status?.collisionCount ?? 0);
  return `${(d.metadata.name ?? '').slice(0, MAX_NAME_LENGTH - hash.length - 1)}-${hash}`;
}

/** A set for the Deployment's template, of size 0 until somebody finds room. */
export function newSet(d: Deployment, revision: number): ReplicaSet {
  const hash = templateHash(d.spec.template, d.status?.collisionCount ?? 0);
  const labels = { ...d.spec.template.metadata?.labels, [POD_TEMPLATE_HASH]: hash };
  const { selector } = d.spec;
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: setName(d),
      ...(d.metadata.namespace && { namespace: d.metadata.namespace }),
      labels,
      annotations: { ...currentSetAnnotations(d, undefined, revision) },
      ownerReferences: [controllerReference(deployments, d)],
    },
    spec: {
      replicas: 0,
      ...(d.spec.minReadySeconds && { minReadySeconds: d.spec.minReadySeconds }),
      selector: { ...selector, matchLabels: { ...selector.matchLabels, [POD_TEMPLATE_HASH]: hash } },
      template: { ...d.spec.template, metadata: { ...d.spec.template.metadata, labels } },
    },
  };
}
