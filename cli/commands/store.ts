/** `store`: checks, backs up and restores the store of an API server. The work is the API server's own; here it is only started. */
import { dirname, extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { findCode } from '../../cluster/code.ts';
import type { Verb } from '../verb.ts';

export const verb: Verb = {
  usage: '(check | backup FILE | restore FILE) [flags]',
  passThrough: true,
  run: async (_session, words) => {
    const server = findCode().command('apiserver').at(-1)!;
    const path = join(dirname(server), 'storage', 'tool', `main${extname(server)}`);
    process.argv = [process.argv[0], path, ...words];
    await import(pathToFileURL(path).href);
    return process.exitCode;
  },
};
