/** `down`: stops the running cluster; its data stays for the next `up`. */
import { DATA_DIR_FLAG, runningCluster } from '../cluster/running.ts';
import type { Verb } from '../verb.ts';

export const verb: Verb = {
  usage: '[flags]',
  flags: DATA_DIR_FLAG,
  run: async (session) => {
    await runningCluster(session).stopAll();
    session.line('cluster stopped');
  },
};
