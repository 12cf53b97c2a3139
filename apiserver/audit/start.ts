/** From the options of the command line to an auditor; undefined when no log is asked for. */
import type { Clock } from '../../machinery/process/clock.ts';
import type { Logger } from '../../machinery/process/logger.ts';
import type { Metrics } from '../../machinery/process/metrics.ts';
import { type Auditor, createAuditor } from './auditor.ts';
import { openAuditLog } from './log-file.ts';
import { METADATA_OF_ALL, readPolicyFile } from './policy.ts';

export interface AuditOptions {
  readonly auditLogPath: string;
  readonly auditPolicyFile: string;
  /** Megabytes. */
  readonly auditLogMaxsize: number;
  readonly auditLogMaxbackup: number;
}

const MEGABYTE = 1024 * 1024;

/** Throws one sentence for a policy that cannot be read or a log that cannot be opened. */
export async function startAudit(
  options: AuditOptions,
  deps: { readonly clock: Clock; readonly logger: Logger; readonly metrics: Metrics },
): Promise<Auditor | undefined> {
  // A policy is checked even when nothing is logged: upstream refuses a bad one too.
  const policy = options.auditPolicyFile === '' ? METADATA_OF_ALL : readPolicyFile(options.auditPolicyFile);
  if (options.auditLogPath === '') return undefined;
  const { clock, logger, metrics } = deps;
  const lost = metrics.counter('apiserver_audit_error_total', 'Audit events that could not be written');
  const log = await openAuditLog({
    path: options.auditLogPath,
    maxBytes: options.auditLogMaxsize * MEGABYTE,
    maxBackups: options.auditLogMaxbackup,
    clock,
    onError: (err, count) => {
      lost.inc(count);
      logger.error({ err, count }, 'audit events could not be written');
    },
  });
  return createAuditor({ policy, log, clock, total: metrics.counter('apiserver_audit_event_total', 'Audit events made') });
}
