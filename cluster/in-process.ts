/**
 * Runs a component inside this process: the same `start` function that its main calls. For tests and simulations. A kill here is a stop, since nothing
 * but a process can die without a word; whatever must survive a real kill is tested with child processes.
 */
import { setMaxListeners } from 'node:events';
import type { Clock } from '../machinery/process/clock.ts';
import type { RunningComponent } from '../machinery/process/component.ts';
import type { Logger } from '../machinery/process/logger.ts';
import { parseOptions } from '../machinery/process/options.ts';
import type { Random } from '../machinery/process/random.ts';
import type { Code } from './code.ts';
import type { ProcessPlan } from './components.ts';
import type { ProcessState, ProcessStatus, Runner } from './runner.ts';

export interface InProcessOptions {
  readonly plan: ProcessPlan;
  readonly code: Code;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

interface Running {
  readonly component: Promise<RunningComponent>;
  readonly stop: AbortController;
}

export class InProcessRunner implements Runner {
  readonly name: string;
  readonly #options: InProcessOptions;
  #running: Running | undefined;
  #state: ProcessState = 'dead';
  #address = '';
  #starts = 0;
  #ended: string | undefined;

  constructor(options: InProcessOptions) {
    this.name = options.plan.name;
    this.#options = options;
  }

  status(): ProcessStatus {
    return {
      name: this.name,
      ...(this.#running && { pid: process.pid }),
      state: this.#state,
      ready: this.#state === 'ready',
      address: this.#address,
      restarts: Math.max(0, this.#starts - 1),
      ...(this.#ended !== undefined && { ended: this.#ended }),
    };
  }

  async start(after?: Promise<void>): Promise<void> {
    if (this.#running) throw new Error(`${this.name} is running already`);
    const { plan, code, clock, random, logger } = this.#options;
    const stop = new AbortController();
    setMaxListeners(0, stop.signal);
    this.#state = 'starting';
    this.#starts++;
    this.#ended = undefined;
    const component = Promise.all([code.load(plan.spec), after]).then(([{ start, options }]) =>
      start(parseOptions(options, plan.argv, {}), { clock, random, logger: logger.child({ component: this.name }), signal: stop.signal }),
    );
    const running = { component, stop };
    this.#running = running;
    try {
      const started = await component;
      this.#address = started.address;
      this.#watchEnd(started, running);
      await started.ready;
      if (this.#running === running) this.#state = 'ready';
    } catch (error) {
      this.#end(running, error instanceof Error ? error.message : String(error));
      throw error;
    }
  }

  async stop(): Promise<void> {
    const running = this.#running;
    if (!running) return;
    running.stop.abort(new Error(`${this.name} is stopped`));
    const component = await running.component.catch(() => undefined);
    await component?.stop().catch(() => undefined);
    await component?.done.catch(() => undefined);
    this.#end(running, 'stopped');
  }

  async kill(): Promise<void> {
    if (!this.#running) throw new Error(`${this.name} is not running`);
    await this.stop();
  }

  pause(): Promise<void> {
    return Promise.reject(new Error('a component inside this process cannot be paused'));
  }

  resume(): Promise<void> {
    return Promise.reject(new Error('a component inside this process cannot be paused'));
  }

  #watchEnd(started: RunningComponent, running: Running): void {
    started.done.then(
      () => this.#end(running, 'ended'),
      (error: unknown) => {
        if (!running.stop.signal.aborted) this.#options.logger.error({ err: error, component: this.name }, 'component ended by an error');
        this.#end(running, error instanceof Error ? error.message : String(error));
      },
    );
  }

  #end(running: Running, how: string): void {
    if (this.#running !== running) return;
    this.#running = undefined;
    this.#state = 'dead';
    this.#address = '';
    this.#ended = how;
  }
}
