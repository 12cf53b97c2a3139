/**
 * Runs a component as a child process. What it logs goes to a file; over IPC it says when it is ready, and the closing of that channel tells it that
 * we are gone, however we went.
 *
 * A child that ends stays dead until somebody starts it: the point of this system is to watch what the others do meanwhile.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, fstatSync, readFileSync, rmSync } from 'node:fs';
import type { Clock } from '../machinery/process/clock.ts';
import { writeFileAtomically } from '../machinery/process/files.ts';
import type { ComponentMessage, ParentMessage } from '../machinery/process/run.ts';
import type { ProcessPlan } from './components.ts';
import type { Layout } from './layout.ts';
import { openLog } from './log-file.ts';
import { guardPaused } from './pause-guard.ts';
import type { ProcessState, ProcessStatus, Runner } from './runner.ts';

const STOP_MS = 10_000;
const LOG_TAIL_LINES = 5;

export interface ChildOptions {
  readonly plan: ProcessPlan;
  /** Arguments of node before the component's own. */
  readonly command: readonly string[];
  readonly layout: Layout;
  readonly clock: Clock;
}

export class ChildRunner implements Runner {
  readonly name: string;
  readonly #options: ChildOptions;
  #child: ChildProcess | undefined;
  #exited: Promise<void> = Promise.resolve();
  #state: ProcessState = 'dead';
  #wasReady = false;
  #address = '';
  #starts = 0;
  /** Where in the log this start begins; earlier lives are before it. */
  #logStart = 0;
  #ended: string | undefined;
  #unguard: (() => void) | undefined;

  constructor(options: ChildOptions) {
    this.name = options.plan.name;
    this.#options = options;
  }

  status(): ProcessStatus {
    const pid = this.#child?.pid;
    return {
      name: this.name,
      ...(pid !== undefined && { pid }),
      state: this.#state,
      ready: this.#state === 'ready',
      address: this.#address,
      restarts: Math.max(0, this.#starts - 1),
      ...(this.#ended !== undefined && { ended: this.#ended }),
    };
  }

  start(after?: Promise<void>): Promise<void> {
    if (this.#child) return Promise.reject(new Error(`${this.name} is running already`));
    const { layout, command, plan } = this.#options;
    const fd = openLog(layout.logOf(this.name));
    this.#logStart = fstatSync(fd).size;
    // a process group of its own: Ctrl-C in the terminal reaches us alone, and we stop the children in order
    const argv = after ? [...plan.argv, '--wait-for-order'] : plan.argv;
    const child = spawn(process.execPath, [...command, ...argv], { stdio: ['ignore', fd, fd, 'ipc'], detached: true });
    closeSync(fd);
    this.#child = child;
    this.#state = 'starting';
    this.#wasReady = false;
    this.#starts++;
    this.#ended = undefined;
    if (child.pid !== undefined) writeFileAtomically(layout.pidFileOf(this.name), `${child.pid}\n`, 0o600);
    const order: ParentMessage = { type: 'start' };
    after?.then(
      () => child.connected && child.send(order, () => undefined),
      () => undefined, // whoever makes it tells
    );
    return this.#whenReady(child);
  }

  async stop(): Promise<void> {
    const child = this.#child;
    if (!child) return;
    child.kill('SIGTERM');
    if (this.#state === 'paused') this.#continue(child);
    const cancel = this.#options.clock.setTimer(STOP_MS, () => child.kill('SIGKILL'));
    await this.#exited;
    cancel();
  }

  async kill(): Promise<void> {
    this.#running().kill('SIGKILL');
    await this.#exited;
  }

  async pause(): Promise<void> {
    const child = this.#running();
    if (this.#state === 'paused') throw new Error(`${this.name} is paused already`);
    child.kill('SIGSTOP');
    this.#state = 'paused';
    this.#unguard = guardPaused(child.pid!);
  }

  async resume(): Promise<void> {
    const child = this.#running();
    if (this.#state !== 'paused') throw new Error(`${this.name} is not paused`);
    this.#continue(child);
    this.#state = this.#wasReady ? 'ready' : 'starting';
  }

  #running(): ChildProcess {
    if (!this.#child) throw new Error(`${this.name} is not running`);
    return this.#child;
  }

  #continue(child: ChildProcess): void {
    this.#unguard?.();
    this.#unguard = undefined;
    child.kill('SIGCONT');
  }

  #whenReady(child: ChildProcess): Promise<void> {
    return new Promise((resolve, reject) => {
      child.on('message', (message: ComponentMessage) => {
        this.#address = message.address;
        if (message.type !== 'ready') return;
        this.#wasReady = true;
        if (this.#state === 'starting') this.#state = 'ready';
        resolve();
      });
      this.#exited = new Promise((exited) => {
        const onEnd = (how: string): void => {
          if (this.#child !== child) return;
          this.#afterEnd(how);
          reject(new Error(`${this.name} ended before it was ready (${how})${this.#logTail()}`));
          exited();
        };
        child.on('exit', (code, signal) => onEnd(signal ? `killed by ${signal}` : `exit code ${code}`));
        child.on('error', (error) => {
          if (child.pid === undefined) onEnd(error.message);
        });
      });
    });
  }

  #afterEnd(how: string): void {
    this.#child = undefined;
    this.#state = 'dead';
    this.#address = '';
    this.#ended = how;
    this.#unguard?.();
    this.#unguard = undefined;
    rmSync(this.#options.layout.pidFileOf(this.name), { force: true });
  }

  /** The last words of this start in the log, so that a failed one explains itself. */
  #logTail(): string {
    try {
      const text = readFileSync(this.#options.layout.logOf(this.name)).subarray(this.#logStart).toString('utf8').trimEnd();
      if (text === '') return '';
      const lines = text.split('\n').slice(-LOG_TAIL_LINES);
      return `:\n${lines.map(readable).join('\n')}`;
    } catch {
      return '';
    }
  }
}

/** A JSON log line as message and error; any other line as it is. */
function readable(line: string): string {
  try {
    const { msg, err } = JSON.parse(line) as { msg?: string; err?: { message?: string } };
    return `  ${msg ?? line}${err?.message ? `: ${err.message}` : ''}`;
  } catch {
    return `  ${line}`;
  }
}
