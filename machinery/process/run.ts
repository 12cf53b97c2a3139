/**
 * Runs a component as a process: options, logger, signals, the word to the parent that it is ready, and the exit code. Every `main.ts` is one call.
 *
 * Exit codes: 0 ended on request, 1 failed (bad options, port taken, lost lease, unexpected error). A child whose parent is gone ends too, however
 * the parent died: its IPC channel closes.
 */
import { setMaxListeners } from 'node:events';
import { createRequire } from 'node:module';
import { type Clock, systemClock } from './clock.ts';
import type { RunningComponent, StartComponent } from './component.ts';
import { armFailpoints } from './failpoints.ts';
import { createLogger, type Logger } from './logger.ts';
import { formatUsage, OptionsError, type OptionsOf, type OptionsTable, parseOptions } from './options.ts';
import { systemRandom } from './random.ts';

/** What a child tells its parent over IPC. */
export type ComponentMessage =
  | { readonly type: 'ready'; readonly address: string }
  | { readonly type: 'listening'; readonly address: string };

/** What a parent tells a child that was started with --wait-for-order. */
export type ParentMessage = { readonly type: 'start' };

/** A stop that takes longer is cut off. */
const DRAIN_MS = 10_000;
/** With the parent gone nobody waits for a tidy end. */
const ORPHAN_DRAIN_MS = 1_000;

/** Never returns: the process exits with the component. `table` should include `processOptions`. */
export async function runMain<T extends OptionsTable>(name: string, table: T, start: StartComponent<OptionsOf<T>>): Promise<never> {
  const options = readOptions(name, table);
  const common = options as Readonly<Record<string, unknown>>;
  const logger = createLogger(name, typeof common['v'] === 'number' ? common['v'] : 0);
  process.on('uncaughtException', (error, origin) => {
    logger.fatal({ err: error, origin }, 'unexpected error');
    process.exit(1);
  });
  if (typeof common['failpoints'] === 'string') armFailpoints(common['failpoints']);
  const stop = stopSignal(logger, systemClock);
  let started = false;
  try {
    if (common['waitForOrder'] === true && process.channel) {
      logger.debug('waits for the word of its parent');
      await order(stop);
    }
    const running = await start(options, { clock: systemClock, random: systemRandom, logger, signal: stop });
    started = true;
    announce(running);
    await running.done;
    process.exit(0);
  } catch (error) {
    if (stop.aborted && isAbort(error, stop)) process.exit(0);
    // whoever started it by hand has made a mistake: a taken port, a missing file; the trace is for defects and for the log of a parent
    const byHand = !process.channel && !started && !isDefect(error);
    logger[byHand ? 'debug' : 'fatal']({ err: error }, 'ended by an error');
    if (byHand || process.stderr.isTTY) process.stderr.write(`${name}: ${messageWithCauses(error)}\n`);
    process.exit(1);
  }
}

function readOptions<T extends OptionsTable>(name: string, table: T): OptionsOf<T> {
  const argv = process.argv.slice(2);
  if (argv.includes('--help') || argv.includes('-h')) {
    process.stdout.write(formatUsage(name, table));
    process.exit(0);
  }
  if (argv.includes('--version')) {
    process.stdout.write(`${name} ${ownVersion()}\n`);
    process.exit(0);
  }
  try {
    return parseOptions(table, argv);
  } catch (error) {
    if (!(error instanceof OptionsError)) throw error;
    process.stderr.write(`${error.problems.map((problem) => `${name}: ${problem}`).join('\n')}\nSee '${name} --help'.\n`);
    process.exit(1);
  }
}

/** Aborted by SIGTERM, SIGINT or the loss of the parent; a second signal, or the drain time, ends the process at once. */
function stopSignal(logger: Logger, clock: Clock): AbortSignal {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal); // everything in the process may listen to it
  const stop = (why: string, drainMs: number): void => {
    if (controller.signal.aborted) process.exit(1);
    logger.info({ why }, 'stopping');
    clock.setTimer(drainMs, () => process.exit(1), { unref: true });
    controller.abort(new Error(`stopped by ${why}`));
  };
  process.on('SIGTERM', () => stop('SIGTERM', DRAIN_MS));
  process.on('SIGINT', () => stop('SIGINT', DRAIN_MS));
  if (process.channel) {
    process.on('disconnect', () => stop('the end of the parent process', ORPHAN_DRAIN_MS));
    process.channel.unref();
  }
  return controller.signal;
}

/** Settles at the parent's word: it may still be making the files that the start needs while we load our code. */
function order(stop: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    process.channel?.ref(); // nothing else keeps us alive yet
    process.once('message', () => {
      process.channel?.unref();
      resolve();
    });
    stop.addEventListener('abort', () => reject(stop.reason), { once: true });
  });
}

function announce(running: RunningComponent): void {
  const send = (message: ComponentMessage): void => {
    if (process.connected) process.send?.(message, undefined, {}, () => undefined);
  };
  send({ type: 'listening', address: running.address });
  running.ready.then(
    () => send({ type: 'ready', address: running.address }),
    () => undefined, // `done` rejects with it
  );
}

/** True for the signal's own reason, alone or as a cause. */
function isAbort(error: unknown, signal: AbortSignal): boolean {
  for (let e: unknown = error; e instanceof Error; e = e.cause) if (e === signal.reason || e.name === 'AbortError') return true;
  return false;
}

/** True for what only wrong code throws. System errors of Node (with a code) may be TypeErrors too. */
function isDefect(error: unknown): boolean {
  const defects = [TypeError, ReferenceError, RangeError];
  return !(error instanceof Error) || (defects.some((type) => error instanceof type) && !('code' in error));
}

/** On one line; a cause that its wrapper quotes already is not said twice. */
function messageWithCauses(error: unknown): string {
  let text = '';
  for (let e: unknown = error; e !== undefined; e = e instanceof Error ? e.cause : undefined) {
    const message = e instanceof Error ? e.message : String(e);
    if (!text.includes(message)) text += text === '' ? message : `: ${message}`;
  }
  return text.replaceAll('\n', ' ');
}

function ownVersion(): string {
  const require = createRequire(import.meta.url);
  for (const up of ['../../package.json', '../package.json', '../../../package.json']) {
    try {
      const found = require(up) as { name?: string; version?: string };
      if (found.name === 'flyball') return found.version ?? 'unknown';
    } catch {
      // looked for in the next place: sources and built files lie at different depths
    }
  }
  return 'unknown';
}
