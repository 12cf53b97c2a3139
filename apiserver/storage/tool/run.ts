/** `store check`, `store backup`, `store restore`: what they say and how they end. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { systemClock } from '../../../machinery/process/clock.ts';
import { formatUsage, type OptionsTable, parseOptions } from '../../../machinery/process/options.ts';
import { systemRandom } from '../../../machinery/process/random.ts';
import { openLevelStore } from '../level/store.ts';
import { writeBackup } from './backup-file.ts';
import { type Checked, checkStore } from './check.ts';
import { backupOptions, checkOptions, restoreOptions } from './options.ts';
import { restoreBackup } from './restore.ts';

export interface Output {
  out(line: string): void;
  err(line: string): void;
}

interface Tool {
  readonly words: string;
  readonly summary: string;
  readonly table: OptionsTable;
  /** Answers the exit code. */
  run(words: Words, output: Output): Promise<number>;
}

interface Words {
  readonly file: string;
  readonly flags: readonly string[];
}

const TOOLS: Readonly<Record<string, Tool>> = {
  check: {
    words: 'check',
    summary: 'Look whether a store is whole, and what is in it. Changes nothing. Ends with 1 and names the place when it is damaged.',
    table: checkOptions,
    run: async ({ flags }, output) => {
      const store = storeIn(parseOptions(checkOptions, flags).dataDir);
      const checked = await checkStore(store);
      for (const line of reportOf(store, checked)) output.out(line);
      for (const damage of checked.damage) output.err(`damaged: ${damage}`);
      return checked.damage.length === 0 ? 0 : 1;
    },
  },
  backup: {
    words: 'backup FILE',
    summary:
      'Write the state of a store into a file. No API server may have it open; a running one is asked by `flyball store backup FILE`.',
    table: backupOptions,
    run: async ({ file, flags }, output) => {
      const store = await openLevelStore(storeIn(parseOptions(backupOptions, flags).dataDir));
      try {
        const { revision, count, bytes } = await writeBackup(store, resolve(file));
        output.out(`${file}: ${count} objects at revision ${revision}, ${bytes} bytes`);
      } finally {
        await store.close();
      }
      return 0;
    },
  },
  restore: {
    words: 'restore FILE',
    summary: 'Make a store of a backup, in a data directory that has none. Clients start anew: the revision moves on, and history is gone.',
    table: restoreOptions,
    run: async ({ file, flags }, output) => {
      const { dataDir, bumpRevision } = parseOptions(restoreOptions, flags);
      const store = join(resolve(dataDir), 'store');
      const { revision, count } = await restoreBackup(resolve(file), store, { bumpRevision, random: systemRandom, clock: systemClock });
      output.out(`${store}: ${count} objects; the revision is ${revision}, everything before it is compacted`);
      return 0;
    },
  },
};

/** Answers the exit code; 2 when the words make no sense. */
export async function runTool(words: readonly string[], output: Output): Promise<number> {
  const [name = '', ...rest] = words;
  const tool = Object.hasOwn(TOOLS, name) ? TOOLS[name] : undefined;
  if (tool === undefined) {
    const isAsked = ['', 'help', '--help', '-h'].includes(name);
    (isAsked ? output.out : output.err)(`${isAsked ? '' : `store: there is no "${name}"\n`}${usage()}`);
    return isAsked ? 0 : 2;
  }
  if (rest.includes('--help') || rest.includes('-h')) {
    output.out(`${tool.summary}\n\n${formatUsage(`store ${tool.words}`, tool.table).trimEnd()}`);
    return 0;
  }
  const takesFile = tool.words.includes(' ');
  const file = takesFile && rest[0] !== undefined && !rest[0].startsWith('-') ? rest[0] : undefined;
  if (takesFile && file === undefined) {
    output.err(`store: which file? Usage: store ${tool.words} [flags]`);
    return 2;
  }
  try {
    return await tool.run({ file: file ?? '', flags: file === undefined ? rest : rest.slice(1) }, output);
  } catch (error) {
    output.err(`store ${name}: ${adviceFor(error)}`);
    return 1;
  }
}

function usage(): string {
  const rows = Object.values(TOOLS).map(({ words, summary }) => `  ${words.padEnd(13)}  ${summary}`);
  return `Check, back up and restore the store of an API server.\n\nUsage: store COMMAND [flags]\n\nCommands:\n${rows.join('\n')}`;
}

function adviceFor(error: unknown): string {
  if ((error as NodeJS.ErrnoException).code === 'EEXIST') return `${(error as NodeJS.ErrnoException).path} exists; nothing is overwritten`;
  return error instanceof Error ? error.message : String(error);
}

function storeIn(dataDir: string): string {
  const store = join(resolve(dataDir), 'store');
  if (!existsSync(store))
    throw new Error(`${resolve(dataDir)} has no store in it; name the data directory of the API server with --data-dir`);
  return store;
}

function* reportOf(store: string, { damage, torn, epoch, onDisk, found }: Checked): Iterable<string> {
  yield `store        ${store}`;
  yield `state        ${damage.length === 0 ? 'whole' : 'damaged'}`;
  if (epoch !== undefined) yield `epoch        ${epoch}`;
  yield `on disk      ${onDisk} bytes`;
  for (const { file, at, bytes } of torn) {
    yield `unfinished   ${bytes} bytes of ${file} from ${at}: a write that was under way, acknowledged to nobody`;
  }
  if (found === undefined) return;
  yield `revision     ${found.revision}`;
  yield `history      ${found.changes} changes after revision ${found.compacted}`;
  yield `objects      ${found.objects}, with their history ${found.used} bytes`;
  for (const [resource, count] of [...found.resources].sort()) yield `             ${String(count).padStart(6)}  ${resource}`;
}
