/** The command line of the scheduler. Upstream's names where upstream has the flag. */
import { clientOptions, leaderElectionOptions } from '../machinery/process/component-options.ts';
import { defineOptions, type OptionsOf } from '../machinery/process/options.ts';

export const schedulerOptions = defineOptions({
  ...clientOptions,
  ...leaderElectionOptions,
  securePort: {
    type: 'integer',
    default: 10259,
    min: 0,
    max: 65535,
    help: 'port of health, metrics and debug pages; a free one when it is taken or 0',
  },
  schedulerName: { type: 'string', default: 'default-scheduler', help: 'pods whose spec.schedulerName is this are ours' },
  percentageOfNodesToScore: {
    type: 'integer',
    default: 0,
    min: 0,
    max: 100,
    help: 'of a large cluster so much is looked at for each pod; 0: by its size',
  },
  podInitialBackoffSeconds: { type: 'number', default: 1, min: 0, help: 'first back-off of a pod that found no node' },
  podMaxBackoffSeconds: { type: 'number', default: 10, min: 0, help: 'longest back-off' },
});

export type SchedulerOptions = OptionsOf<typeof schedulerOptions>;
