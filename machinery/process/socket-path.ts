/**
 * Which paths may be of a Unix socket. Whoever listens and whoever tells others where asks here, so that no kubeconfig names a socket that cannot be there.
 */
import { join } from 'node:path';

/** The system's limit is 107 bytes on Linux, 103 on macOS. */
const MAX_BYTES = 100;

export const fitsSocket = (path: string): boolean => Buffer.byteLength(path) <= MAX_BYTES;

/** Of the API server in its data directory; none when the directory's path is too long for one. */
export function apiSocketOf(dataDir: string): string | undefined {
  const path = join(dataDir, 'apiserver.sock');
  return fitsSocket(path) ? path : undefined;
}
