/** `restart`: Stops a component as an update would (SIGTERM) and starts it again. */
import { actVerb } from '../cluster/act-verb.ts';

export const verb = actVerb('restart', 'restarted');
