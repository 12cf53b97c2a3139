/**
 * The runtime that runs nothing: containers are records that live by their behaviour and the clock (`lifecycle.ts`). Implements `interface.ts`.
 *
 * Invariant: every change is in the journal before anyone is told of it, so a killed kubelet process finds its pods running, with the same ids, when it returns.
 */
import { createHash } from 'node:crypto';
import type { Pod } from '../../machinery/api/types/core.v1.ts';
import type { Cancel, Clock } from '../../machinery/process/clock.ts';
import type { Random } from '../../machinery/process/random.ts';
import { resourcesOf } from '../pod/allocation.ts';
import { type Addresses, createAddresses } from './addresses.ts';
import { behaviourOf, fullReference } from './behaviour.ts';
import type { Allocation, ContainerLogs, Runtime, RuntimePod, StartRequest } from './interface.ts';
import { openJournal } from './journal.ts';
import { advance, linesOf, nextChangeAt, type SimulatedContainer } from './lifecycle.ts';

export interface SimulatedRuntimeDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly stateFile: string;
  /** The node's pod range, as known now. */
  readonly cidr: () => string;
  readonly hostIp: string;
}

interface SimulatedPod extends RuntimePod {
  readonly hostNetwork: boolean;
  readonly containers: Map<string, SimulatedContainer>;
}
/** A SimulatedPod in JSON. */
type PodRecord = Omit<SimulatedPod, 'containers'> & { readonly containers: readonly SimulatedContainer[] };

export function createSimulatedRuntime(deps: SimulatedRuntimeDeps): Runtime {
  return new SimulatedRuntime(deps);
}

/** How many images count as pulled; beyond it the one pulled longest ago must be pulled again. */
const MAX_IMAGES = 10_000;
/** How long new limits take to be in force. */
const RESIZE_MS = 50;

class SimulatedRuntime implements Runtime {
  readonly #deps: SimulatedRuntimeDeps;
  readonly #pods = new Map<string, SimulatedPod>();
  readonly #timers = new Map<string, Cancel>();
  readonly #images = new Set<string>();
  readonly #addresses: Addresses;
  readonly #journal;
  #listeners: ((uid: string) => void)[] = [];

  constructor(deps: SimulatedRuntimeDeps) {
    this.#deps = deps;
    this.#addresses = createAddresses(deps.cidr);
    this.#journal = openJournal<PodRecord>(deps.stateFile);
    for (const record of this.#journal.entries.values()) {
      const pod: SimulatedPod = { ...record, containers: new Map(record.containers.map((container) => [container.name, container])) };
      this.#pods.set(pod.uid, pod);
      if (!pod.hostNetwork) this.#addresses.reserve(pod.ip);
      for (const container of pod.containers.values()) if (container.id) this.#keepImage(container.image);
    }
    for (const pod of this.#pods.values()) this.#advance(pod);
  }

  pods(): Iterable<RuntimePod> {
    return this.#pods.values();
  }

  pod(uid: string): RuntimePod | undefined {
    return this.#pods.get(uid);
  }

  hasImage(image: string): boolean {
    return this.#images.has(image);
  }

  #keepImage(image: string): void {
    this.#images.add(image);
    if (this.#images.size > MAX_IMAGES) this.#images.delete(this.#images.values().next().value as string);
  }

  createSandbox(pod: Pod): void {
    const uid = pod.metadata.uid as string;
    if (this.#pods.has(uid)) return;
    const hostNetwork = pod.spec.hostNetwork === true;
    const sandbox: SimulatedPod = {
      uid,
      namespace: pod.metadata.namespace as string,
      name: pod.metadata.name as string,
      sandboxId: this.#newId(),
      ip: hostNetwork ? this.#deps.hostIp : this.#addresses.allocate(),
      hostNetwork,
      createdAtMs: this.#now(),
      allocation: { generation: pod.metadata.generation ?? 0, resources: resourcesOf(pod) },
      containers: new Map(),
    };
    this.#pods.set(uid, sandbox);
    this.#save(sandbox);
  }

  allocate(uid: string, allocation: Allocation): void {
    const sandbox = this.#pods.get(uid);
    if (!sandbox) return;
    sandbox.allocation = allocation;
    this.#save(sandbox);
  }

  resize(uid: string, name: string): void {
    const sandbox = this.#pods.get(uid);
    const container = sandbox?.containers.get(name);
    if (!sandbox || container?.state !== 'running') return;
    container.resizing = true;
    container.resizedAtMs = this.#now() + RESIZE_MS;
    container.next = sandbox.allocation?.resources[name] ?? {};
    this.#advance(sandbox);
    this.#save(sandbox);
  }

  start(pod: Pod, { container: spec, role, pullBackOffMs, crashBackOffMs, configError }: StartRequest): void {
    const sandbox = this.#pods.get(pod.metadata.uid as string);
    if (!sandbox) return;
    const former = sandbox.containers.get(spec.name);
    if (former && ['pulling', 'starting', 'running'].includes(former.state)) return;
    const image = spec.image ?? '';
    const behaviour = behaviourOf(pod, spec, role);
    const present = this.#images.has(image) && spec.imagePullPolicy !== 'Always' && behaviour.pullError === undefined;
    const now = this.#now();
    const container: SimulatedContainer = {
      name: spec.name,
      role,
      image,
      behaviour,
      state: present ? 'starting' : 'pulling',
      dueAtMs: now + (present ? behaviour.startMs : behaviour.pullMs),
      id: '',
      imageId: `${fullReference(image).replace(/:[^:/]*$/, '')}@sha256:${createHash('sha256').update(image).digest('hex')}`,
      restarts: (former?.restarts ?? 0) + (former?.exit ? 1 : 0),
      requestedAtMs: now,
      startedAtMs: 0,
      started: false,
      ready: false,
      healthy: true,
      resources: sandbox.allocation?.resources[spec.name] ?? spec.resources ?? {},
      ...(former?.exit ? { previous: former.exit } : former?.previous && { previous: former.previous }),
      pullBackOffMs,
      crashBackOffMs,
      ...(configError !== undefined && { createError: configError }),
    };
    sandbox.containers.set(spec.name, container);
    this.#advance(sandbox);
    this.#save(sandbox);
  }

  stop(uid: string, name: string, graceMs: number, options: { reason?: string; preStopMs?: number } = {}): void {
    const sandbox = this.#pods.get(uid);
    const container = sandbox?.containers.get(name);
    if (!sandbox || !container || container.state === 'exited') return;
    const now = this.#now();
    if (container.state !== 'running') {
      sandbox.containers.delete(name);
      this.#changed(sandbox);
      return;
    }
    container.stopping = true;
    if (options.reason) container.killedBy = options.reason;
    container.termAtMs = Math.min(container.termAtMs ?? Number.POSITIVE_INFINITY, now + Math.min(options.preStopMs ?? 0, graceMs));
    container.killAtMs = Math.min(container.killAtMs ?? Number.POSITIVE_INFINITY, now + graceMs);
    this.#changed(sandbox);
  }

  remove(uid: string): void {
    const sandbox = this.#pods.get(uid);
    if (!sandbox) return;
    this.#pods.delete(uid);
    this.#timers.get(uid)?.();
    this.#timers.delete(uid);
    if (!sandbox.hostNetwork) this.#addresses.release(sandbox.ip);
    this.#journal.remove(uid);
  }

  logs(uid: string, name: string, previous: boolean): ContainerLogs | undefined {
    const container = this.#pods.get(uid)?.containers.get(name);
    if (!container) return undefined;
    const run = previous ? container.previous : container.exit;
    if (previous && !run) return undefined;
    if (run) return { lines: linesOf(container.behaviour, run.startedAtMs, run.finishedAtMs).lines, ended: true };
    if (container.state !== 'running') return { lines: [], ended: false };
    return { ...linesOf(container.behaviour, container.startedAtMs, this.#now()), ended: false };
  }

  onChange(listener: (uid: string) => void): void {
    this.#listeners.push(listener);
  }

  close(): void {
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
    this.#listeners = [];
    this.#journal.close();
  }

  #changed(pod: SimulatedPod): void {
    this.#advance(pod);
    this.#save(pod);
    for (const listener of this.#listeners) listener(pod.uid);
  }

  /** Brings the pod up to now and sets the one timer for its next change. */
  #advance(pod: SimulatedPod): boolean {
    const now = this.#now();
    let changed = false;
    let next = Number.POSITIVE_INFINITY;
    for (const container of pod.containers.values()) {
      if (advance(container, now, () => this.#newId())) changed = true;
      if (container.state !== 'pulling' && container.state !== 'pull-failed') this.#keepImage(container.image);
      next = Math.min(next, nextChangeAt(container) ?? Number.POSITIVE_INFINITY);
    }
    this.#timers.get(pod.uid)?.();
    this.#timers.delete(pod.uid);
    if (Number.isFinite(next)) {
      // A timer may fire a moment early or be cut at the longest delay: advancing is by the clock, so it is just set again.
      const cancel = this.#deps.clock.setTimer(Math.max(1, Math.ceil(next - now)), () => {
        if (this.#advance(pod)) {
          this.#save(pod);
          for (const listener of this.#listeners) listener(pod.uid);
        }
      });
      this.#timers.set(pod.uid, cancel);
    }
    return changed;
  }

  #save(pod: SimulatedPod): void {
    this.#journal.put(pod.uid, { ...pod, containers: [...pod.containers.values()] });
  }

  #now(): number {
    return this.#deps.clock.now().getTime();
  }

  #newId(): string {
    return (this.#deps.random.uuid() + this.#deps.random.uuid()).replaceAll('-', '');
  }
}
