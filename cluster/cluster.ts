/** The processes of one cluster under their names, and what may be done to them. */
import type { ClientConfig } from '../machinery/client/kubeconfig.ts';
import { readKubeconfig } from '../machinery/client/kubeconfig.ts';
import { sharedProcessOf } from './node-groups.ts';
import type { ProcessStatus, Runner } from './runner.ts';

export const ACTIONS = ['kill', 'pause', 'resume', 'start', 'stop', 'restart'] as const;
export type Action = (typeof ACTIONS)[number];

/** What may be done to a running cluster, from inside or through its control socket. Names: `scheduler`, `kubelet-node-1` or just `node-1`. */
export interface ClusterControl {
  processes(): Promise<readonly ProcessStatus[]>;
  /** SIGKILL. The process stays dead until `start`. */
  kill(name: string): Promise<void>;
  pause(name: string): Promise<void>;
  resume(name: string): Promise<void>;
  /** Settles when it is ready. */
  start(name: string): Promise<void>;
  /** SIGTERM, and SIGKILL after 10 s. */
  stop(name: string): Promise<void>;
  restart(name: string): Promise<void>;
  /** Stops everything, the API server last. */
  stopAll(): Promise<void>;
}

export interface ClusterInfo {
  readonly dataDir: string;
  readonly server: string;
  /** Path of the administrator's kubeconfig. */
  readonly kubeconfig: string;
}

export class Cluster implements ClusterControl {
  readonly dataDir: string;
  readonly server: string;
  readonly kubeconfig: string;
  readonly #runners: readonly Runner[];
  readonly #onStopped: (() => Promise<void> | void)[] = [];
  #stopping: Promise<void> | undefined;
  /** Settles when `stopAll` has ended. */
  readonly stopped: Promise<void>;
  #settleStopped: () => void = () => undefined;

  constructor(info: ClusterInfo, runners: readonly Runner[]) {
    this.dataDir = info.dataDir;
    this.server = info.server;
    this.kubeconfig = info.kubeconfig;
    this.#runners = runners;
    this.stopped = new Promise((resolve) => {
      this.#settleStopped = resolve;
    });
  }

  /** What `createClient` takes, as the administrator. */
  clientConfig(): ClientConfig {
    return readKubeconfig(this.kubeconfig);
  }

  async processes(): Promise<readonly ProcessStatus[]> {
    return this.#runners.map((runner) => runner.status());
  }

  async kill(name: string): Promise<void> {
    await this.#find(name).kill();
  }

  async pause(name: string): Promise<void> {
    await this.#find(name).pause();
  }

  async resume(name: string): Promise<void> {
    await this.#find(name).resume();
  }

  async start(name: string): Promise<void> {
    await this.#find(name).start();
  }

  async stop(name: string): Promise<void> {
    await this.#find(name).stop();
  }

  async restart(name: string): Promise<void> {
    const runner = this.#find(name);
    await runner.stop();
    await runner.start();
  }

  /** All at once; settles when all are ready. */
  async startAll(): Promise<void> {
    await Promise.all(this.#runners.map((runner) => runner.start()));
  }

  /** The API server goes last, so that the others can say goodbye (release leases). */
  stopAll(): Promise<void> {
    this.#stopping ??= this.#stopInOrder();
    return this.#stopping;
  }

  onStopped(cleanUp: () => Promise<void> | void): void {
    this.#onStopped.push(cleanUp);
  }

  async #stopInOrder(): Promise<void> {
    const [apiserver, ...others] = this.#runners;
    await Promise.all(others.map((runner) => runner.stop()));
    await apiserver?.stop();
    for (const cleanUp of this.#onStopped) await cleanUp();
    this.#settleStopped();
  }

  #find(name: string): Runner {
    if (this.#stopping) throw new Error('the cluster is being stopped');
    return findProcess(this.#runners, name);
  }
}

/** By its name, a kubelet also by its node's. */
export function findProcess<T extends { readonly name: string }>(processes: readonly T[], name: string): T {
  const found = processes.find((process) => process.name === name || process.name === `kubelet-${name}`);
  if (found) return found;
  const shared = sharedProcessOf(processes, name);
  if (shared) throw new Error(`${name} has no process of its own: it is one of those that ${shared.name} runs`);
  throw new Error(`there is no process "${name}"; there are ${processes.map((process) => process.name).join(', ')}`);
}
