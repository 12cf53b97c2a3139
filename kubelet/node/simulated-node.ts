/**
 * One simulated node: its runtime, its pod workers, its registration and heartbeats. Mirrors upstream's `Kubelet` object.
 */
import { join } from 'node:path';
import type { Node, Pod } from '../../machinery/api/types/core.v1.ts';
import type { Client } from '../../machinery/client/client.ts';
import type { EventRecorder } from '../../machinery/client/event-recorder.ts';
import type { ComponentDeps } from '../../machinery/process/component.ts';
import { createEventLimit } from '../event-limit.ts';
import type { KubeletOptions } from '../options.ts';
import { fieldPathOf } from '../pod/pod-events.ts';
import { PodWorkers } from '../pod/pod-worker.ts';
import { derivedCidr } from '../runtime/addresses.ts';
import type { Runtime } from '../runtime/interface.ts';
import { createSimulatedRuntime } from '../runtime/simulated.ts';
import { admitPod, admitResize } from './admission.ts';
import { type HeartbeatDeps, registerNode, renewLease, reportStatus } from './heartbeat.ts';
import type { NodeFacts } from './node-status.ts';

export interface SimulatedNodeDeps extends ComponentDeps {
  readonly options: KubeletOptions;
  readonly client: Client;
  readonly heartbeatClient: Client;
  readonly recorder: EventRecorder;
  readonly facts: NodeFacts;
  /** False for a node that others made. */
  readonly register: boolean;
  readonly node: () => Node | undefined;
}

export class SimulatedNode {
  readonly name: string;
  readonly runtime: Runtime;
  readonly workers: PodWorkers;
  readonly #deps: SimulatedNodeDeps;
  readonly #pods = new Map<string, Pod>();
  readonly #abort = new AbortController();
  #loops: Promise<unknown> = Promise.resolve();
  #registered: Node | undefined;

  constructor(deps: SimulatedNodeDeps) {
    const { options, clock, random, logger, client, facts, recorder } = deps;
    this.#deps = deps;
    this.name = facts.name;
    this.runtime = createSimulatedRuntime({
      clock,
      random,
      stateFile: join(options.rootDir, facts.name, 'containers.jsonl'),
      cidr: () => this.#node()?.spec?.podCIDR ?? derivedCidr(facts.name),
      hostIp: facts.ip,
    });
    const mayTell = createEventLimit(options.eventQps, options.eventBurst, clock);
    this.workers = new PodWorkers({
      client,
      runtime: this.runtime,
      clock,
      logger,
      hostIp: facts.ip,
      limits: { initialMs: options.backOffInitialMs, maxMs: options.backOffMaxMs },
      tell: (pod, { type, reason, message, container }) => {
        const fieldPath = container === undefined ? undefined : fieldPathOf(pod, container);
        if (mayTell()) recorder.event(pod, type, reason, message, { host: facts.name, ...(fieldPath && { fieldPath }) });
      },
      admit: (pod, accepted) => admitPod(pod, accepted, this.#node()),
      admitResize: (pod, accepted) => admitResize(pod, accepted, this.#node()),
    });
  }

  /** Settles when the node is registered; heartbeats go on behind. */
  async start(): Promise<void> {
    const signal = AbortSignal.any([this.#deps.signal, this.#abort.signal]);
    const { options, heartbeatClient, recorder, clock, random, logger, facts, register } = this.#deps;
    // Upstream's kubelet names its node as uid too: it tells of it before it knows the object.
    const reference = { apiVersion: 'v1', kind: 'Node', metadata: { name: facts.name, uid: facts.name } };
    const heartbeat: HeartbeatDeps = {
      client: heartbeatClient,
      clock,
      random,
      logger,
      signal,
      facts,
      register,
      leaseDurationMs: options.nodeLeaseDurationSeconds * 1000,
      statusUpdateMs: options.nodeStatusUpdateFrequencyMs,
      statusReportMs: options.nodeStatusReportFrequencyMs,
      node: () => this.#node(),
      tell: (reason, message) => {
        if (register) recorder.event(reference, 'Normal', reason, message, { host: facts.name });
      },
    };
    heartbeat.tell('Starting', 'Starting kubelet.');
    this.#registered = await registerNode(heartbeat);
    this.#loops = Promise.all([
      renewLease(heartbeat),
      reportStatus(heartbeat).catch((error: unknown) => (signal.aborted ? undefined : Promise.reject(error))),
    ]);
    this.#loops.catch(() => undefined);
  }

  podChanged(pod: Pod): void {
    this.#pods.set(pod.metadata.uid as string, pod);
    this.workers.podChanged(pod);
  }

  podGone(pod: Pod): void {
    this.#pods.delete(pod.metadata.uid as string);
    this.workers.podGone(pod.metadata.uid as string);
  }

  get pods(): readonly Pod[] {
    return [...this.#pods.values()];
  }

  /** The containers live on in the state file. */
  async stop(): Promise<void> {
    this.#abort.abort(new Error('node stopped'));
    await this.workers.stop();
    await this.#loops.catch(() => undefined);
    this.runtime.close();
  }

  #node(): Node | undefined {
    return this.#deps.node() ?? this.#registered;
  }
}
