/** The id that ties a request to its audit events: the client's own, or one of ours. Sent back as `Audit-Id`. Mirrors apiserver `filters/audit_init.go`. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Random } from '../../machinery/process/random.ts';

export function auditId(headers: IncomingHttpHeaders, random: Random): string {
  const sent = headers['audit-id'];
  // What could not stand in a header of an answer is replaced.
  return typeof sent === 'string' && /^[\x20-\x7e]{1,1024}$/.test(sent) ? sent : random.uuid();
}
