/** What `kill`, `pause`, `resume`, `start` and `restart` share: one or more components by name, one order each. */
import type { Action } from '../../cluster/cluster.ts';
import { usageError } from '../errors.ts';
import type { Verb } from '../verb.ts';
import { DATA_DIR_FLAG, runningCluster } from './running.ts';

/** `done` is what is printed after the component's name: `scheduler killed`. */
export function actVerb(action: Action, done: string): Verb {
  return {
    usage: 'COMPONENT...   (as flyball ps names them: apiserver, controllers, scheduler, kubelet-node-1, or just node-1)',
    flags: DATA_DIR_FLAG,
    run: async (session, args) => {
      if (args.length === 0) throw usageError(session.verb, 'a COMPONENT is required; see flyball ps');
      const cluster = runningCluster(session);
      for (const name of args) {
        await cluster[action](name);
        session.line(`${name} ${done}`);
      }
    },
  };
}
