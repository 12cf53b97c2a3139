#!/usr/bin/env node
/** The `flyball` command: wires the terminal, the clock and the signals to the verbs, and ends the process with their exit code. */
import { writeSync } from 'node:fs';
import { systemClock } from '../machinery/process/clock.ts';
import { systemRandom } from '../machinery/process/random.ts';
import { dispatch } from './dispatch.ts';
import { readSurroundings } from './options.ts';

const interrupted = new AbortController();

/** Synchronous, so that nothing is lost at the exit; waits for a slow pipe, ends quietly when the reader is gone (`| head`). */
function write(fd: number, text: string | Buffer): void {
  let rest = typeof text === 'string' ? Buffer.from(text) : text;
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(fd, rest));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EPIPE') process.exit(0);
      if (code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}

async function readStdin(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

let interrupts = 0;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    if (++interrupts > 1) process.exit(130);
    interrupted.abort(new Error('interrupted'));
  });
}

const code = await dispatch(process.argv.slice(2), {
  clock: systemClock,
  random: systemRandom,
  signal: interrupted.signal,
  surroundings: readSurroundings(),
  writeOut: (text) => write(1, text),
  writeErr: (text) => write(2, text),
  readStdin,
  isTerminal: process.stdout.isTTY === true,
});
process.exit(code);
