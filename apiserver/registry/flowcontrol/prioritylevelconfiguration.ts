/**
 * PriorityLevelConfiguration: how much of the server a level of requests gets. Mirrors kubernetes `pkg/registry/flowcontrol`.
 */
import type { PriorityLevelConfiguration } from '../../../machinery/api/types/flowcontrol.apiserver.k8s.io.v1.ts';
import { defineKind } from '../define.ts';
import { dropStatus, keepStatus, statusView } from '../status.ts';
import { ageCell } from '../tables/cells.ts';

const DEFAULT_SHARES = 30;

function applyDefaults({ spec }: PriorityLevelConfiguration): void {
  if (spec?.exempt) {
    spec.exempt.nominalConcurrencyShares ??= 0;
    spec.exempt.lendablePercent ??= 0;
  }
  const limited = spec?.limited;
  if (!limited) return;
  limited.nominalConcurrencyShares ??= DEFAULT_SHARES;
  limited.lendablePercent ??= 0;
  const queuing = limited.limitResponse?.queuing;
  if (!queuing) return;
  if (!queuing.queues) queuing.queues = 64;
  if (!queuing.handSize) queuing.handSize = 8;
  if (!queuing.queueLengthLimit) queuing.queueLengthLimit = 50;
}

export const prioritylevelconfiguration = defineKind<PriorityLevelConfiguration>({
  group: 'flowcontrol.apiserver.k8s.io',
  resource: 'prioritylevelconfigurations',
  kind: 'PriorityLevelConfiguration',
  generation: 'spec',
  strategy: { default: applyDefaults, prepareForCreate: dropStatus, prepareForUpdate: keepStatus },
  status: statusView(),
  cells: ({ metadata, spec }, now) => {
    const queuing = spec?.limited?.limitResponse?.queuing;
    return [
      metadata.name,
      spec?.type ?? '',
      spec?.limited?.nominalConcurrencyShares ?? '<none>',
      queuing?.queues ?? '<none>',
      queuing?.handSize ?? '<none>',
      queuing?.queueLengthLimit ?? '<none>',
      ageCell(metadata.creationTimestamp, now),
    ];
  },
});
