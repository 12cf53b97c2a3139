/**
 * GET /debug/flyball/backup: the state of the store at one revision, as `flyball store backup` writes it into a file, while everything goes on. Ours
 * alone: upstream leaves it to `etcdctl snapshot save`. All Secrets are in it, so it is for administrators whatever the authorizer says.
 */
import { Readable } from 'node:stream';
import { forbidden } from '../../machinery/api/status.ts';
import type { RequestContext } from '../http/context.ts';
import { methodNotAllowedPath } from '../http/refusals.ts';
import type { Store } from '../storage/interface.ts';
import { backupLines } from '../storage/tool/backup-file.ts';
import type { Answer } from './answer.ts';

export const BACKUP_PATH = '/debug/flyball/backup';
const CHUNK = 64 * 1024;

export function backupAnswer(store: Store, context: RequestContext): Answer {
  if (context.method !== 'GET') throw methodNotAllowedPath();
  if (!context.user.groups?.includes('system:masters')) {
    throw forbidden({ group: '', resource: '' }, '', 'a backup holds everything: only members of system:masters may read it');
  }
  const { reply } = context;
  const lines = Readable.from(chunks(store));
  reply.hijack();
  reply.raw.writeHead(200, { 'content-type': 'application/x-ndjson', 'cache-control': 'no-store' });
  // Cut off, it lacks its last line, by which the reader knows.
  lines.on('error', () => reply.raw.destroy());
  context.cleanups.push(() => lines.destroy());
  lines.pipe(reply.raw as unknown as NodeJS.WritableStream);
  return { type: 'sent' };
}

function* chunks(store: Store): Generator<Buffer> {
  let gathered: Buffer[] = [];
  let bytes = 0;
  for (const line of backupLines(store)) {
    gathered.push(line);
    bytes += line.length;
    if (bytes < CHUNK) continue;
    yield Buffer.concat(gathered);
    gathered = [];
    bytes = 0;
  }
  yield Buffer.concat(gathered);
}
