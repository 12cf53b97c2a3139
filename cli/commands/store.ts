/** `store`: checks, backs up and restores the store of an API server. What needs its files is the API server's own work; here it is only started. */
import { dirname, extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { findCode } from '../../cluster/code.ts';
import { CliError } from '../errors.ts';
import type { Session } from '../session.ts';
import type { Verb } from '../verb.ts';

/** The tool reads its words itself. */
async function runTool(words: readonly string[]): Promise<unknown> {
  const server = findCode().command('apiserver').at(-1)!;
  const path = join(dirname(server), 'storage', 'tool', `main${extname(server)}`);
  process.argv = [process.argv[0], path, ...words];
  await import(pathToFileURL(path).href);
  return process.exitCode;
}

const check: Verb = {
  usage: '[--data-dir DIRECTORY]',
  passThrough: true,
  run: (_session, words) => runTool(['check', ...words]),
};

const restore: Verb = {
  usage: 'FILE [--data-dir DIRECTORY] [--bump-revision NUMBER]',
  passThrough: true,
  run: (_session, words) => runTool(['restore', ...words]),
};

const backup: Verb = {
  usage: 'FILE [flags]',
  flags: {
    'data-dir': { type: 'string', help: 'Data directory of an API server that is not running; without it the running one is asked' },
  },
  run: async (session: Session, [file, ...more]) => {
    if (file === undefined || more.length > 0) throw new CliError('exactly one FILE to write the backup to is required');
    const dataDir = session.flags.string('data-dir');
    if (dataDir !== '') return runTool(['backup', file, '--data-dir', dataDir]);
    const { onlineBackup } = await import('../store/online-backup.ts');
    return onlineBackup(session, file);
  },
};

export const verb: Verb = {
  usage: 'SUBCOMMAND',
  verbs: {
    check: { summary: 'Look whether the store of a stopped API server is whole, and what is in it', load: async () => check },
    backup: { summary: 'Write the state of the store into a file, from a running API server or a stopped one', load: async () => backup },
    restore: { summary: 'Make a store of a backup, in a data directory that has none', load: async () => restore },
  },
};
