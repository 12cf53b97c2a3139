/**
 * What a pass does to the containers of a pod, and what is said of them: carries actions out, ends what nobody asks for any more, and tells what has
 * happened since it was last told. Mirrors upstream `kuberuntime_manager.go` (SyncPod, KillPod).
 *
 * Invariant: nothing is decided here; actions come from compare.ts, and only the runtime knows what containers do.
 */
import type { Pod } from '../../machinery/api/types/core.v1.ts';
import type { Clock } from '../../machinery/process/clock.ts';
import type { Runtime, RuntimeContainer } from '../runtime/interface.ts';
import { isSidecar, restartsAfter } from '../status.ts';
import { isLive, type PodAction } from './compare.ts';
import { type PodEvent, podEvents, type ToldPod } from './pod-events.ts';

export interface PodContainersDeps {
  readonly runtime: Runtime;
  readonly clock: Clock;
  readonly tell: (pod: Pod, event: PodEvent) => void;
}

export class PodContainers {
  readonly #deps: PodContainersDeps;
  /** Images that have to be pulled for a container, by pod and container. */
  readonly #missingImages = new Map<string, string>();

  constructor(deps: PodContainersDeps) {
    this.#deps = deps;
  }

  carryOut(uid: string, pod: Pod, action: PodAction): void {
    const { runtime } = this.#deps;
    switch (action.do) {
      case 'createSandbox':
        runtime.createSandbox(pod);
        break;
      case 'start': {
        const image = action.container.image ?? '';
        if (action.container.imagePullPolicy === 'Always' || !runtime.hasImage(image))
          this.#missingImages.set(`${uid}/${action.container.name}`, image);
        else this.#missingImages.delete(`${uid}/${action.container.name}`);
        runtime.start(pod, action);
        break;
      }
      case 'resize':
        runtime.resize(uid, action.container);
        break;
      case 'stop':
        if (runtime.pod(uid)?.containers.get(action.container)?.state === 'running')
          this.#deps.tell(pod, {
            type: 'Normal',
            reason: 'Killing',
            message: action.reason ?? `Stopping container ${action.container}`,
            container: action.container,
          });
        runtime.stop(uid, action.container, action.graceMs, {
          preStopMs: action.preStopMs,
          ...(action.reason && { reason: action.reason }),
        });
        break;
    }
  }

  /** Ends what still runs, at once. True when nothing is left, and the pod is forgotten. */
  endAll(uid: string): boolean {
    const { runtime } = this.#deps;
    const live = (): RuntimeContainer[] => [...(runtime.pod(uid)?.containers.values() ?? [])].filter(isLive);
    for (const container of live()) runtime.stop(uid, container.name, 0);
    if (live().length > 0) return false;
    this.forget(uid);
    return true;
  }

  forget(uid: string): void {
    const { runtime } = this.#deps;
    for (const name of runtime.pod(uid)?.containers.keys() ?? []) this.#missingImages.delete(`${uid}/${name}`);
    runtime.remove(uid);
  }

  /** What has happened that was not told yet, and what has been told with it; undefined when the runtime knows nothing of the pod. */
  news(uid: string, pod: Pod | undefined, told: ToldPod): ReturnType<typeof podEvents> | undefined {
    const runtime = this.#deps.runtime.pod(uid);
    if (!runtime) return undefined;
    const waits = (container: RuntimeContainer): boolean => {
      const spec =
        pod &&
        [...pod.spec.containers, ...(pod.spec.initContainers ?? []).filter((init) => isSidecar(init) || container.role === 'init')].find(
          (other) => other.name === container.name,
        );
      return pod !== undefined && spec !== undefined && pod.metadata.deletionTimestamp === undefined && restartsAfter(pod, spec, container);
    };
    const present = (container: RuntimeContainer): boolean => !this.#missingImages.has(`${runtime.uid}/${container.name}`);
    return podEvents({ runtime, told, present, waits, nowMs: this.#deps.clock.now().getTime() });
  }
}
