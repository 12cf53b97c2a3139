/**
 * IPAddress: an address in use, and by whom. Mirrors kubernetes `pkg/registry/networking/ipaddress`. A row has one cell more than it has columns.
 */

import { VALID } from '../../../machinery/api/names.ts';
import type { IPAddress } from '../../../machinery/api/types/networking.k8s.io.v1.ts';
import { defineKind } from '../define.ts';
import { ageCell } from '../tables/cells.ts';
import { ipFamily } from '../validation/ip.ts';

function parentCell({ spec }: IPAddress): string {
  const parent = spec?.parentRef;
  if (!parent) return '<none>';
  const resource = parent.group ? `${parent.resource}.${parent.group}` : parent.resource;
  return [resource, parent.namespace, parent.name].filter((part) => part).join('/');
}

export const ipaddress = defineKind<IPAddress>({
  group: 'networking.k8s.io',
  resource: 'ipaddresses',
  kind: 'IPAddress',
  nameRule: (name) => (ipFamily(name) === undefined ? ['must be a valid IP address'] : VALID),
  cells: (object, now) => [object.metadata.name, parentCell(object), ageCell(object.metadata.creationTimestamp, now)],
});
