/**
 * The log file of a component. It is kept over restarts, so that a crash can be read about afterwards; one that has grown large is put aside at the next
 * start as `<name>.log.1`, in place of what was put aside before. So the logs of a cluster that is started again and again keep a bound.
 */
import { mkdirSync, openSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

const MAX_BYTES = 8 * 1024 * 1024;

/** A descriptor that appends. */
export function openLog(path: string, maxBytes = MAX_BYTES): number {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > maxBytes) renameSync(path, `${path}.1`);
  return openSync(path, 'a', 0o600);
}
