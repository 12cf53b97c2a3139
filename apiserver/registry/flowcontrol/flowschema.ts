/**
 * FlowSchema: which requests share a queue. Mirrors kubernetes `pkg/registry/flowcontrol/flowschema`. Rows are sorted by precedence.
 */
import type { FlowSchema } from '../../../machinery/api/types/flowcontrol.apiserver.k8s.io.v1.ts';
import { defineKind } from '../define.ts';
import { dropStatus, keepStatus, statusView } from '../status.ts';
import { ageCell } from '../tables/cells.ts';

const DEFAULT_PRECEDENCE = 1000;

const missingLevel = ({ status }: FlowSchema): string => status?.conditions?.find((c) => c.type === 'Dangling')?.status ?? '?';

export const flowschema = defineKind<FlowSchema>({
  group: 'flowcontrol.apiserver.k8s.io',
  resource: 'flowschemas',
  kind: 'FlowSchema',
  generation: 'spec',
  strategy: {
    default: ({ spec }) => {
      if (spec && !spec.matchingPrecedence) spec.matchingPrecedence = DEFAULT_PRECEDENCE;
    },
    prepareForCreate: dropStatus,
    prepareForUpdate: keepStatus,
  },
  status: statusView(),
  cells: (object, now) => [
    object.metadata.name,
    object.spec?.priorityLevelConfiguration?.name ?? '<none>',
    object.spec?.matchingPrecedence ?? 0,
    object.spec?.distinguisherMethod?.type ?? '<none>',
    ageCell(object.metadata.creationTimestamp, now),
    missingLevel(object),
  ],
  order: (a, b) =>
    (a.spec?.matchingPrecedence ?? 0) - (b.spec?.matchingPrecedence ?? 0) || ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1),
});
