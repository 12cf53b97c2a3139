/**
 * ServiceCIDR: a range that cluster IPs come from. Mirrors kubernetes `pkg/registry/networking/servicecidr`.
 */
import { type FieldError, invalidValue, required } from '../../../machinery/api/field-error.ts';
import type { ServiceCIDR } from '../../../machinery/api/types/networking.k8s.io.v1.ts';
import { defineKind } from '../define.ts';
import { dropStatus, keepStatus, statusView } from '../status.ts';
import { ageCell } from '../tables/cells.ts';
import { canonicalCidrErrors, parseNetwork } from '../validation/ip.ts';
import { IMMUTABLE } from '../validation/metadata.ts';

const PATH = 'spec.cidrs';

function validate({ spec }: ServiceCIDR): FieldError[] {
  const cidrs = spec?.cidrs ?? [];
  if (cidrs.length === 0) return [required(PATH, 'at least one CIDR required')];
  if (cidrs.length > 2) return [invalidValue(PATH, { CIDRs: cidrs }, 'may only hold up to 2 values')];
  const errors: FieldError[] = [];
  cidrs.forEach((cidr, i) => {
    canonicalCidrErrors(cidr, `${PATH}[${i}]`, errors);
  });
  const [first, second] = cidrs.map((cidr) => parseNetwork(cidr)?.family);
  if (first !== undefined && first === second) {
    const detail = 'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64';
    errors.push(invalidValue(PATH, cidrs, detail));
  }
  return errors;
}

/** Nothing may change, but a range of the other family may come. */
function validateUpdate(object: ServiceCIDR, old: ServiceCIDR): FieldError[] {
  const cidrs = object.spec?.cidrs ?? [];
  const before = old.spec?.cidrs ?? [];
  const grows = before.length === 1 && cidrs.length === 2;
  if (!grows && cidrs.length !== before.length) return [invalidValue(PATH, object.spec?.cidrs, IMMUTABLE)];
  const errors = before.flatMap((cidr, i) => (cidr === cidrs[i] ? [] : invalidValue(`${PATH}[${i}]`, cidrs[i], IMMUTABLE)));
  return grows ? [...errors, ...validate(object)] : errors;
}

export const servicecidr = defineKind<ServiceCIDR>({
  group: 'networking.k8s.io',
  resource: 'servicecidrs',
  kind: 'ServiceCIDR',
  strategy: { prepareForCreate: dropStatus, prepareForUpdate: keepStatus, validate, validateUpdate },
  status: statusView({ keepMetadata: true }),
  cells: (object, now) => [object.metadata.name, (object.spec?.cidrs ?? []).join(','), ageCell(object.metadata.creationTimestamp, now)],
});
