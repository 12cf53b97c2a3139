/** One process of a cluster as seen by whoever runs it. Two kinds: a child process, and the same component inside this process. */

export type ProcessState = 'starting' | 'ready' | 'paused' | 'dead';

export interface ProcessStatus {
  readonly name: string;
  /** Absent while dead. */
  readonly pid?: number;
  readonly state: ProcessState;
  readonly ready: boolean;
  readonly address: string;
  /** Starts after the first. */
  readonly restarts: number;
  /** How it ended last: `killed by SIGKILL`, `exit code 1`. */
  readonly ended?: string;
}

export interface Runner {
  readonly name: string;
  status(): ProcessStatus;
  /** Settles when it is ready; rejects when it ends before. `after`: what must be done before it may begin; its code loads meanwhile. */
  start(after?: Promise<void>): Promise<void>;
  /** SIGTERM, and SIGKILL to what has not ended in time. */
  stop(): Promise<void>;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** SIGSTOP and SIGCONT. */
  pause(): Promise<void>;
  resume(): Promise<void>;
}
