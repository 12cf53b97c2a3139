/** The scheduler as a process. */
import { runMain } from '../machinery/process/run.ts';
import { schedulerOptions } from './options.ts';
import { startScheduler } from './start.ts';

await runMain('kube-scheduler', schedulerOptions, startScheduler);
