/**
 * IPAddress: an address in use, and by whom. Mirrors kubernetes `pkg/registry/networking/ipaddress`. A row has one cell more than it has columns.
 */

import { deepEqual } from '../../../machinery/api/equality.ts';
import { type FieldError, invalidValue, required } from '../../../machinery/api/field-error.ts';
import { dnsSubdomain } from '../../../machinery/api/names.ts';
import type { IPAddress } from '../../../machinery/api/types/networking.k8s.io.v1.ts';
import { defineKind } from '../define.ts';
import { ageCell } from '../tables/cells.ts';
import { canonicalIpDetails } from '../validation/ip.ts';
import { IMMUTABLE } from '../validation/metadata.ts';
import { requiredSegmentErrors, segmentErrors } from '../validation/references.ts';

function parentCell({ spec }: IPAddress): string {
  const parent = spec?.parentRef;
  if (!parent) return '<none>';
  const resource = (parent.group ? `${parent.resource}.${parent.group}` : parent.resource).toLowerCase();
  return [resource, parent.namespace, parent.name].filter((part) => part).join('/');
}

function validate({ spec }: IPAddress): FieldError[] {
  const parent = spec?.parentRef;
  const path = 'spec.parentRef';
  if (!parent) return [required(path)];
  const errors: FieldError[] = [];
  // services are of the core group, whose name is empty
  if (parent.group) for (const detail of dnsSubdomain(parent.group)) errors.push(invalidValue(`${path}.group`, parent.group, detail));
  requiredSegmentErrors(parent.resource, `${path}.resource`, errors);
  requiredSegmentErrors(parent.name, `${path}.name`, errors);
  if (parent.namespace) segmentErrors(parent.namespace, `${path}.namespace`, errors);
  return errors;
}

/** Only what is required is looked at again; what it is must not change. */
function validateUpdate({ spec }: IPAddress, old: IPAddress): FieldError[] {
  const parent = spec?.parentRef;
  const path = 'spec.parentRef';
  const errors: FieldError[] = [];
  if (!parent) errors.push(required(path));
  else for (const member of ['resource', 'name'] as const) if (!parent[member]) errors.push(required(`${path}.${member}`));
  if (!deepEqual(parent, old.spec?.parentRef)) {
    const { group = '', resource = '', namespace = '', name = '' } = parent ?? {};
    const printed = parent && { Group: group, Resource: resource, Namespace: namespace, Name: name };
    errors.push(invalidValue(path, printed, IMMUTABLE));
  }
  return errors;
}

export const ipaddress = defineKind<IPAddress>({
  group: 'networking.k8s.io',
  resource: 'ipaddresses',
  kind: 'IPAddress',
  nameRule: (name) => canonicalIpDetails(name),
  strategy: { validate, validateUpdate },
  cells: (object, now) => [object.metadata.name, parentCell(object), ageCell(object.metadata.creationTimestamp, now)],
});
