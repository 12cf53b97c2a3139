/** The API server under a flood, as a process: the real one, which also tells what it holds and how long its event loop was held up. Never part of what is built. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { apiServerOptions } from '../../../apiserver/options.ts';
import { startApiServer } from '../../../apiserver/start.ts';
import { runMain } from '../../../machinery/process/run.ts';
import type { Figures } from './server.ts';

const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();
const gc = (globalThis as { gc?: () => void }).gc;

process.on('message', (message: { type?: string; collect?: boolean }) => {
  if (message.type !== 'figures') return;
  if (message.collect) gc?.();
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  const figures: Figures = {
    heapMb: heapUsed / 2 ** 20,
    externalMb: (external + arrayBuffers) / 2 ** 20,
    delayP99Ms: delay.percentile(99) / 1e6,
    delayMaxMs: delay.max / 1e6,
    resources: process.getActiveResourcesInfo().length,
  };
  delay.reset();
  process.send?.({ type: 'figures', figures });
});
process.channel?.unref();

await runMain('kube-apiserver', apiServerOptions, startApiServer);
