/** `controllers`: runs it alone, in the foreground, with its own flags (`flyball controllers --help`). */
import { componentVerb } from '../cluster/component-verb.ts';

export const verb = componentVerb('controllers');
