/**
 * ResourceQuota: how much of each resource a namespace may use. Mirrors kubernetes `pkg/registry/core/resourcequota`.
 */

import { deepEqual } from '../../../machinery/api/equality.ts';
import { type FieldError, invalidValue } from '../../../machinery/api/field-error.ts';
import type { ResourceQuota } from '../../../machinery/api/types/core.v1.ts';
import { defineKind } from '../define.ts';
import { dropStatus, keepStatus, statusView } from '../status.ts';
import { ageCell } from '../tables/cells.ts';
import { IMMUTABLE } from '../validation/metadata.ts';
import { isQuotaResource, quantityErrors, resourceNameErrors } from '../validation/resources.ts';
import { scopeErrors } from './resourcequota-scopes.ts';

function listErrors(list: Record<string, string> | undefined, path: string, errors: FieldError[]): void {
  for (const name of Object.keys(list ?? {}).sort()) {
    const at = `${path}[${name}]`;
    resourceNameErrors(name, at, errors);
    if (!name.includes('/') && !isQuotaResource(name)) errors.push(invalidValue(at, name, 'must be a standard resource for quota'));
    quantityErrors(name, list![name]!, at, errors);
  }
}

function validate({ spec }: ResourceQuota): FieldError[] {
  const errors: FieldError[] = [];
  listErrors(spec?.hard, 'spec.hard', errors);
  scopeErrors(spec ?? {}, errors);
  return errors;
}

/** `requests.cpu: 1/2` for what is not a limit, and the limits. */
function usage({ status }: ResourceQuota, limits: boolean): string {
  return Object.keys(status?.hard ?? {})
    .filter((name) => name.startsWith('limits') === limits)
    .sort()
    .map((name) => `${name}: ${status?.used?.[name] ?? '0'}/${status!.hard![name]}`)
    .join(', ');
}

export const resourcequota = defineKind<ResourceQuota>({
  resource: 'resourcequotas',
  kind: 'ResourceQuota',
  deleteAnswer: 'object',
  strategy: {
    prepareForCreate: dropStatus,
    prepareForUpdate: keepStatus,
    validate,
    validateUpdate: (object, old) => {
      const errors = validate(object);
      const asSet = (scopes: readonly string[] | undefined): string[] => [...new Set(scopes)].sort();
      if (!deepEqual(asSet(object.spec?.scopes), asSet(old.spec?.scopes))) {
        errors.push(invalidValue('spec.scopes', object.spec?.scopes, IMMUTABLE));
      }
      return errors;
    },
  },
  status: statusView({
    validate: ({ status }) => {
      const errors: FieldError[] = [];
      listErrors(status?.hard, 'status.hard', errors);
      listErrors(status?.used, 'status.used', errors);
      return errors;
    },
  }),
  cells: (object, now) => [
    object.metadata.name,
    usage(object, false),
    usage(object, true),
    ageCell(object.metadata.creationTimestamp, now),
  ],
});
