/**
 * What every component of the control plane is to whoever runs it: a function that starts it and a handle that stops it.
 * `main.ts` of a component runs it as a process; `startCluster({ inProcess: true })` runs the same function beside others.
 */
import type { Clock } from './clock.ts';
import type { Logger } from './logger.ts';
import type { Random } from './random.ts';

export interface ComponentDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Aborted when the component must stop. */
  readonly signal: AbortSignal;
}

export interface RunningComponent {
  /** Base URL of what it serves: the API for the API server, health and metrics for the others. */
  readonly address: string;
  /** Settles when the component does its work (caches filled, node registered, listening). */
  readonly ready: Promise<void>;
  /** Settles when the component has ended, by `stop`, by the signal or by a failure it cannot survive (rejects). */
  readonly done: Promise<void>;
  /** Stops in reverse order of the start and waits for the end. */
  stop(): Promise<void>;
}

/** The shape of the `start` export of `<component>/start.ts`. */
export type StartComponent<Options> = (options: Options, deps: ComponentDeps) => Promise<RunningComponent>;
