/** The API server as a process. */
import { runMain } from '../machinery/process/run.ts';
import { apiServerOptions } from './options.ts';
import { startApiServer } from './start.ts';

await runMain('kube-apiserver', apiServerOptions, startApiServer);
