/** `resume`: Lets a frozen component go on (SIGCONT). */
import { actVerb } from '../cluster/act-verb.ts';

export const verb = actVerb('resume', 'resumed');
