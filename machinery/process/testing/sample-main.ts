/** A component that does nothing, for tests of `runMain`: run as a process of its own. */
import { processOptions } from '../component-options.ts';
import { defineOptions } from '../options.ts';
import { runMain } from '../run.ts';

const options = defineOptions({
  ...processOptions,
  fail: { type: 'string', default: '', help: 'fails with this text at the start' },
  stuck: { type: 'boolean', default: false, help: 'does not stop when told to' },
});

await runMain('sample', options, async ({ fail, stuck }, { signal, clock }) => {
  if (fail !== '') throw new Error(fail, { cause: new Error('the cause of it') });
  const done = new Promise<void>((resolve) => {
    if (!stuck) signal.addEventListener('abort', () => resolve(), { once: true });
  });
  const keepAlive = (): void => void clock.setTimer(1_000, keepAlive);
  keepAlive();
  return { address: 'http://127.0.0.1:1', ready: Promise.resolve(), done, stop: () => done };
});
