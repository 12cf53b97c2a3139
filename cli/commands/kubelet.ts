/** `kubelet`: runs it alone, in the foreground, with its own flags (`flyball kubelet --help`). */
import { componentVerb } from '../cluster/component-verb.ts';

export const verb = componentVerb('kubelet');
