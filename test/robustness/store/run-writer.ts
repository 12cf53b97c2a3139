/** Runs the writer, kills it, and reads what it told. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../../machinery/process/clock.ts';
import { type Bundle, bundled } from '../bundle.ts';

export interface WriterOptions {
  readonly directory: string;
  readonly seed: number;
  readonly keys: number;
  readonly writers: number;
  readonly textBytes: number;
  readonly compactEveryMs?: number;
  readonly failpoints?: string;
  readonly mutants?: readonly string[];
}

export interface Acknowledged {
  readonly revision: number;
  readonly key: string;
  /** Undefined when it was deleted. */
  readonly text: string | undefined;
}

export interface Told {
  /** Undefined when it did not come so far. */
  readonly opened: { readonly revision: number; readonly compacted: number } | undefined;
  readonly acknowledged: readonly Acknowledged[];
  /** What a watcher was shown, commit by commit. */
  readonly seen: readonly { readonly first: number; readonly last: number; readonly count: number }[];
  /** Length of each log file when a flush last returned. */
  readonly flushed: ReadonlyMap<string, number>;
  readonly failed: boolean;
  readonly end: number | NodeJS.Signals | null;
  readonly errors: string;
}

export const bundleWriter = (): Promise<Bundle> => bundled(fileURLToPath(new URL('./writer.ts', import.meta.url)));

export interface Run {
  readonly bundle: string;
  readonly options: WriterOptions;
  /** Called once the first write was acknowledged. Without it the process must end by itself. */
  readonly strike?: (writer: ChildProcess) => Promise<unknown>;
}

/** Resolves when the process is gone; one that nothing ends is killed after `limitMs`. */
export async function runWriter({ bundle, options, strike }: Run, limitMs = 20_000): Promise<Told> {
  const child = spawn(process.execPath, [bundle, JSON.stringify(options)], { stdio: ['ignore', 'pipe', 'pipe'] });
  const cancel = systemClock.setTimer(limitMs, () => child.kill('SIGKILL'));
  let output = '';
  let errors = '';
  let struck = false;
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk;
    if (struck || !output.includes('\nack ')) return;
    struck = true;
    void strike?.(child);
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    errors += chunk;
  });
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  cancel();
  return { ...read(output), end: signal ?? code, errors };
}

export const killAfter =
  (ms: number) =>
  async (writer: ChildProcess): Promise<void> => {
    await systemClock.sleep(ms);
    writer.kill('SIGKILL');
  };

function read(output: string): Omit<Told, 'end' | 'errors'> {
  const acknowledged: Acknowledged[] = [];
  const seen: Told['seen'][number][] = [];
  const flushed = new Map<string, number>();
  let opened: Told['opened'];
  let failed = false;
  for (const line of output.slice(0, output.lastIndexOf('\n') + 1).split('\n')) {
    const [what, a, b, c] = line.split(' ');
    if (what === 'open') opened = { revision: Number(a), compacted: Number(b) };
    else if (what === 'sync') flushed.set(a, Number(b));
    else if (what === 'seen') seen.push({ first: Number(a), last: Number(b), count: Number(c) });
    else if (what === 'ack') acknowledged.push({ revision: Number(a), key: b, text: c === '-' ? undefined : c });
    else if (what === 'failed') failed = true;
  }
  return { opened, acknowledged, seen, flushed, failed };
}
