/** What the API server may log as an error when its disk is made to fail, and nothing else. */
import { readFileSync } from 'node:fs';
import { errorLines } from '../../scripts/chaos/checks.ts';

const OF_A_FAILED_DISK = /the store could not write and takes no more writes|the store failed; nothing can be written any more/;

export function unexpectedLines(path: string, writesMayFail: boolean): string[] {
  return errorLines('apiserver', readFileSync(path, 'utf8')).filter((line) => !writesMayFail || !OF_A_FAILED_DISK.test(line));
}
