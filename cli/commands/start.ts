/** `start`: Starts a component that was killed or left out; settles when it is ready. */
import { actVerb } from '../cluster/act-verb.ts';

export const verb = actVerb('start', 'started');
