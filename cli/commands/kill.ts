/** `kill`: Kills a component of the running cluster with SIGKILL, so that one can watch what the others do without it. */
import { actVerb } from '../cluster/act-verb.ts';

export const verb = actVerb('kill', 'killed');
