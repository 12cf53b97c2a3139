/**
 * Before a pod is bound, its waiting claims get their volumes: a volume is reserved for its claim, or the claim is told on which node to make one; the
 * persistent-volume controller does the rest, and the pod is bound once all its claims are. Mirrors upstream `volumebinding` (PreBind).
 */

import type { PersistentVolumeClaim } from '../machinery/api/types/core.v1.ts';
import { BIND_COMPLETED } from '../machinery/api/well-known-labels.ts';
import type { Client } from '../machinery/client/client.ts';
import { persistentvolumeclaims, persistentvolumes } from '../machinery/client/resource-type.ts';
import type { Clock } from '../machinery/process/clock.ts';
import type { Lookup } from './framework/snapshot.ts';
import type { VolumeChoice } from './plugins/volume-binding.ts';

const SELECTED_NODE = 'volume.kubernetes.io/selected-node';
/** Upstream's bindTimeoutSeconds. */
const TIMEOUT_MS = 600_000;
const LOOK_MS = 100;

export interface BindVolumesDeps {
  readonly client: Client;
  readonly lookup: Lookup;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Rejects when a claim or volume changed meanwhile, when the claims are not bound in time, when told to stop: the pod is then scheduled anew. */
export async function bindVolumes(
  { client, lookup, clock, signal }: BindVolumesDeps,
  choices: readonly VolumeChoice[],
  nodeName: string,
): Promise<void> {
  if (choices.length === 0) return;
  for (const { claim, volume } of choices) {
    const { namespace, name, uid, resourceVersion } = claim.metadata as {
      namespace: string;
      name: string;
      uid: string;
      resourceVersion: string;
    };
    if (volume) {
      const claimRef = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid, resourceVersion };
      const annotations = { ...volume.metadata.annotations, 'pv.kubernetes.io/bound-by-controller': 'yes' };
      await client.update(persistentvolumes, {
        ...volume,
        metadata: { ...volume.metadata, annotations },
        spec: { ...volume.spec, claimRef },
      });
    } else {
      const annotations = { ...claim.metadata.annotations, [SELECTED_NODE]: nodeName };
      await client.update(persistentvolumeclaims, { ...claim, metadata: { ...claim.metadata, annotations } });
    }
  }
  const until = clock.monotonicMs() + TIMEOUT_MS;
  while (!choices.every(({ claim }) => isBound(lookup.claim(claim.metadata.namespace ?? '', claim.metadata.name ?? '')))) {
    if (clock.monotonicMs() >= until) throw new Error('binding volumes: context deadline exceeded');
    await clock.sleep(LOOK_MS, signal);
  }
}

const isBound = (claim: PersistentVolumeClaim | undefined): boolean =>
  claim?.spec?.volumeName !== undefined && claim.metadata.annotations?.[BIND_COMPLETED] !== undefined;
