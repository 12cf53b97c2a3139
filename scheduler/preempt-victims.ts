/** Carries a preemption out: victims are marked, told and deleted; the pod is nominated for the node. */
import { isReason } from '../machinery/api/status.ts';
import { formatTime } from '../machinery/api/time.ts';
import type { Client } from '../machinery/client/client.ts';
import type { EventRecorder } from '../machinery/client/event-recorder.ts';
import { pods as podResource } from '../machinery/client/resource-type.ts';
import type { Clock } from '../machinery/process/clock.ts';
import type { PodInfo } from './framework/pod-info.ts';

export interface VictimDeps {
  readonly client: Client;
  readonly recorder: EventRecorder;
  readonly clock: Clock;
  readonly schedulerName: string;
}

/** Settles when every victim is on its way out; a victim that is gone already is none. */
export async function deleteVictims(deps: VictimDeps, pod: PodInfo, nodeName: string, victims: readonly PodInfo[]): Promise<void> {
  await Promise.all(
    victims.map(async (victim) => {
      try {
        await deleteVictim(deps, pod, victim);
        deps.recorder.event(victim.pod, 'Normal', 'Preempted', `Preempted by pod ${pod.uid} on node ${nodeName}`, {
          action: 'Preempting',
          related: pod.pod,
        });
      } catch (error) {
        if (!isReason(error, 'NotFound', 'Conflict')) throw error;
      }
    }),
  );
}

async function deleteVictim({ client, clock, schedulerName }: VictimDeps, pod: PodInfo, victim: PodInfo): Promise<void> {
  if (victim.pod.metadata.deletionTimestamp) return;
  const name = { namespace: victim.namespace, name: victim.pod.metadata.name as string };
  const condition = {
    type: 'DisruptionTarget',
    ...(victim.pod.metadata.generation !== undefined && { observedGeneration: victim.pod.metadata.generation }),
    status: 'True',
    lastTransitionTime: formatTime(clock.now()),
    reason: 'PreemptionByScheduler',
    message: `${pod.pod.spec.schedulerName ?? schedulerName}: preempting to accommodate a higher priority pod`,
  };
  await client.patch(
    podResource,
    name,
    'application/strategic-merge-patch+json',
    { metadata: { uid: victim.uid }, status: { conditions: [condition] } },
    { subresource: 'status' },
  );
  await client.delete(podResource, name, { uid: victim.uid });
}
