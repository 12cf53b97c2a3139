/**
 * CSINode: which storage drivers a node has. Mirrors kubernetes `pkg/registry/storage/csinode`.
 */
import type { CSINode } from '../../../machinery/api/types/storage.k8s.io.v1.ts';
import { defineKind } from '../define.ts';
import { ageCell } from '../tables/cells.ts';

export const csinode = defineKind<CSINode>({
  group: 'storage.k8s.io',
  resource: 'csinodes',
  kind: 'CSINode',
  unconditionalUpdate: false,
  deleteAnswer: 'object',
  cells: (object, now) => [object.metadata.name, object.spec?.drivers?.length ?? 0, ageCell(object.metadata.creationTimestamp, now)],
});
