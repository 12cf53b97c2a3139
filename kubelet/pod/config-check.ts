/**
 * Whether the ConfigMaps and Secrets a pod names are there. A container whose environment names a missing one waits as CreateContainerConfigError; a
 * volume of a missing one keeps the whole pod from starting (FailedMount). Mirrors upstream `kuberuntime` (generateContainerConfig) and the volume manager.
 *
 * The projected volume of the service account token is made by the API server for every pod and is not waited for.
 */
import { isReason } from '../../machinery/api/status.ts';
import type { Container, Pod } from '../../machinery/api/types/core.v1.ts';
import type { Client } from '../../machinery/client/client.ts';
import { configmaps, secrets } from '../../machinery/client/resource-type.ts';

export interface Reference {
  readonly kind: 'ConfigMap' | 'Secret';
  readonly name: string;
  /** Undefined: any content will do. */
  readonly key?: string;
  readonly optional: boolean;
}

export function environmentReferences(container: Container): Reference[] {
  const references: Reference[] = [];
  for (const { configMapRef, secretRef } of container.envFrom ?? []) {
    if (configMapRef) references.push({ kind: 'ConfigMap', name: configMapRef.name ?? '', optional: configMapRef.optional ?? false });
    if (secretRef) references.push({ kind: 'Secret', name: secretRef.name ?? '', optional: secretRef.optional ?? false });
  }
  for (const { valueFrom } of container.env ?? []) {
    const { configMapKeyRef: fromMap, secretKeyRef: fromSecret } = valueFrom ?? {};
    if (fromMap) references.push({ kind: 'ConfigMap', name: fromMap.name ?? '', key: fromMap.key, optional: fromMap.optional ?? false });
    if (fromSecret)
      references.push({ kind: 'Secret', name: fromSecret.name ?? '', key: fromSecret.key, optional: fromSecret.optional ?? false });
  }
  return references.filter((reference) => !reference.optional);
}

export function volumeReferences(pod: Pod): (Reference & { readonly volume: string })[] {
  return (pod.spec.volumes ?? []).flatMap((source): (Reference & { readonly volume: string })[] => {
    const { name: volume, configMap, secret } = source;
    if (configMap) return [{ kind: 'ConfigMap' as const, name: configMap.name ?? '', optional: configMap.optional ?? false, volume }];
    if (secret) return [{ kind: 'Secret' as const, name: secret.secretName ?? '', optional: secret.optional ?? false, volume }];
    return [];
  });
}

/** What is missing, in upstream's words; undefined when all is there. */
async function missingReference(client: Client, namespace: string, references: readonly Reference[]): Promise<string | undefined> {
  for (const { kind, name, key } of references) {
    const type = kind === 'ConfigMap' ? configmaps : secrets;
    try {
      const found: { data?: Record<string, string>; binaryData?: Record<string, string> } = await client.get(type, { namespace, name });
      if (key !== undefined && !Object.hasOwn(found.data ?? {}, key) && !Object.hasOwn(found.binaryData ?? {}, key)) {
        return `couldn't find key ${key} in ${kind} ${namespace}/${name}`;
      }
    } catch (error) {
      if (!isReason(error, 'NotFound')) throw error;
      return error.message.replace(/^\w+ "/, `${kind.toLowerCase()} "`);
    }
  }
  return undefined;
}

/** What keeps the containers of one pod from being made, and since when; asked again after a while. */
export interface Blocked {
  readonly atMs: number;
  /** By container name. */
  readonly containers: ReadonlyMap<string, string>;
  readonly volume?: { readonly name: string; readonly problem: string };
}

export const RECHECK_MS = 2_000;

/** Looks at everything the pod names; undefined when nothing is missing. */
export async function findBlocked(client: Client, pod: Pod, nowMs: number): Promise<Blocked | undefined> {
  const namespace = pod.metadata.namespace ?? '';
  for (const reference of volumeReferences(pod)) {
    const problem = reference.optional ? undefined : await missingReference(client, namespace, [reference]);
    if (problem) return { atMs: nowMs, containers: new Map(), volume: { name: reference.volume, problem } };
  }
  const containers = new Map<string, string>();
  for (const container of [...(pod.spec.initContainers ?? []), ...pod.spec.containers]) {
    const problem = await missingReference(client, namespace, environmentReferences(container));
    if (problem) containers.set(container.name, problem);
  }
  return containers.size > 0 ? { atMs: nowMs, containers } : undefined;
}

export const namesConfig = (pod: Pod): boolean =>
  volumeReferences(pod).length > 0 ||
  [...(pod.spec.initContainers ?? []), ...pod.spec.containers].some((container) => environmentReferences(container).length > 0);
