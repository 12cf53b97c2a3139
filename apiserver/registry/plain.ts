/**
 * The definition of a kind that has no file of its own: stored as it was sent, status only through its subresource, printed by name and age.
 */
import type { ResourceInfo } from '../../machinery/api/schema/resources.ts';
import { defineKind } from './define.ts';
import type { ResourceDefinition } from './resource.ts';
import { dropStatus, keepStatus, statusView } from './status.ts';

export function plainDefinition(info: ResourceInfo): ResourceDefinition {
  const withStatus = info.subresources?.some((s) => s.name === 'status') === true;
  return defineKind({
    group: info.group,
    version: info.version,
    resource: info.plural,
    kind: info.kind,
    strategy: withStatus ? { prepareForCreate: dropStatus, prepareForUpdate: keepStatus } : {},
    ...(withStatus && { status: statusView() }),
  });
}
