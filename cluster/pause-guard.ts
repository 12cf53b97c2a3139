/**
 * A stopped process cannot notice that its parent has died, and would stay stopped for ever. While one is paused, a shell holds a pipe from us; when the
 * pipe closes, because we ended in whatever way, it kills the paused process.
 */
import { spawn } from 'node:child_process';

/** Returns what ends the guard without harm to the process. */
export function guardPaused(pid: number): () => void {
  const guard = spawn('/bin/sh', ['-c', `read -r word; [ "$word" = resumed ] || kill -KILL ${pid}`], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  guard.on('error', () => undefined); // no shell: then a paused process is only safe while we live
  guard.stdin.on('error', () => undefined);
  guard.unref();
  return () => {
    guard.stdin.end('resumed\n');
  };
}
