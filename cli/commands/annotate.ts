/** `annotate`: sets and removes annotations. */
import type { Verb } from '../verb.ts';
import { metadataFlags, setMetadata } from './set-metadata.ts';

export const verb: Verb = {
  usage: '[--overwrite] (-f FILENAME | TYPE NAME) KEY_1=VAL_1 ... KEY_N=VAL_N [--resource-version=version]',
  flags: metadataFlags('kubectl-annotate'),
  run: (session, args) => setMetadata(session, args, { member: 'annotations', noun: 'annotation', done: () => 'annotated' }),
};
