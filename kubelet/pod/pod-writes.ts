/**
 * What a pass writes to the API server: the status of a pod, and its deletion once it has stopped. Mirrors upstream `status_manager.go` syncPod.
 *
 * Invariant: every write names the uid of its pod, so that a namesake made meanwhile is never touched; a pod that is gone is no error, the watch will say so.
 */
import type { Pod, PodStatus } from '../../machinery/api/types/core.v1.ts';
import type { Client } from '../../machinery/client/client.ts';
import { pods as podResource } from '../../machinery/client/resource-type.ts';
import { asyncFailpoint } from '../../machinery/process/failpoints.ts';
import { mutant } from '../../machinery/process/mutants.ts';
import { isGoneOrReplaced, statusPatch } from './status-patch.ts';
import { createWriteLimit } from './write-limit.ts';

/** Requests to the API server in flight for all pods of a node. */
const MAX_WRITES = 32;

const nameOf = ({ metadata }: Pod): { namespace: string; name: string } => {
  const { namespace, name } = metadata as { namespace: string; name: string };
  return { namespace, name };
};

export class PodWrites {
  readonly #client: Client;
  readonly #limited = createWriteLimit(MAX_WRITES);

  constructor(client: Client) {
    this.#client = client;
  }

  /** The revision it was written at; undefined when the pod is gone or another has its name. */
  async publish(pod: Pod, status: PodStatus): Promise<number | undefined> {
    await asyncFailpoint('kubelet.before-status');
    try {
      const written = await this.#limited(() =>
        this.#client.patch(podResource, nameOf(pod), 'application/strategic-merge-patch+json', statusPatch(pod, status), {
          subresource: 'status',
        }),
      );
      return Number(written.metadata.resourceVersion);
    } catch (error) {
      if (isGoneOrReplaced(error)) return undefined;
      throw error;
    }
  }

  async delete(pod: Pod): Promise<void> {
    await asyncFailpoint('kubelet.before-delete');
    const { uid } = pod.metadata;
    try {
      await this.#limited(() =>
        this.#client.delete(podResource, nameOf(pod), { ...(!mutant('kubelet.uid-ignored') && { uid }), gracePeriodSeconds: 0 }),
      );
    } catch (error) {
      if (!isGoneOrReplaced(error)) throw error;
    }
  }
}
