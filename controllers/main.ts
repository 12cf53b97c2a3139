/** The controllers as a process. */
import { runMain } from '../machinery/process/run.ts';
import { controllersOptions } from './options.ts';
import { startControllers } from './start.ts';

await runMain('controllers', controllersOptions, startControllers);
