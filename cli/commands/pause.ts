/** `pause`: Freezes a component (SIGSTOP): alive but silent, as a process on an overloaded machine. */
import { actVerb } from '../cluster/act-verb.ts';

export const verb = actVerb('pause', 'paused');
