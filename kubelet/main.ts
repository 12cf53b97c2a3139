/** The kubelet as a process. */
import { runMain } from '../machinery/process/run.ts';
import { kubeletOptions } from './options.ts';
import { startKubelet } from './start.ts';

await runMain('kubelet', kubeletOptions, startKubelet);
