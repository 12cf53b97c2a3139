/**
 * The API server under test, as a process: the real one, with a journal of what its store gives to the disk, and with seeded bugs when asked for.
 * Bundled by server.ts; never part of what is built.
 */
import { apiServerOptions } from '../../apiserver/options.ts';
import { startApiServer } from '../../apiserver/start.ts';
import { armMutants } from '../../machinery/process/mutants.ts';
import { runMain } from '../../machinery/process/run.ts';
import { keepJournal } from './journal.ts';

const { ROBUSTNESS_JOURNAL: directory, ROBUSTNESS_MUTANTS: mutants = '' } = process.env;
armMutants(...mutants.split(',').filter((name) => name !== ''));
if (directory !== undefined) keepJournal(directory);
await runMain('kube-apiserver', apiServerOptions, startApiServer);
