/**
 * How a component is ended: by whoever started it, or by its own handle; both are one signal to everything inside.
 */
import { setMaxListeners } from 'node:events';
import type { RunningComponent } from './component.ts';

export interface Stopping {
  readonly signal: AbortSignal;
  /** The handle of a component whose `done` follows from the signal. */
  handle(running: Omit<RunningComponent, 'stop'>): RunningComponent;
}

export function stoppedWith(parent: AbortSignal): Stopping {
  const abort = new AbortController();
  const signal = AbortSignal.any([parent, abort.signal]);
  setMaxListeners(0, signal); // everything in the component may listen to it
  return {
    signal,
    handle: (running) => ({
      ...running,
      stop: async () => {
        abort.abort(new Error('stopped'));
        await running.done;
      },
    }),
  };
}
