/**
 * ControllerRevision: an immutable snapshot of a workload's template. Mirrors kubernetes `pkg/registry/apps/controllerrevision`.
 */
import { type FieldError, required } from '../../../machinery/api/field-error.ts';
import { controllerOf } from '../../../machinery/api/object.ts';
import type { ControllerRevision } from '../../../machinery/api/types/apps.v1.ts';
import { defineKind } from '../define.ts';
import { ageCell } from '../tables/cells.ts';
import { immutableField, nonNegative } from '../validation/numbers.ts';

function validate(object: ControllerRevision, isUpdate = false): FieldError[] {
  const errors: FieldError[] = [];
  // an update that takes the data away is told that it may not change
  if (object.data === undefined || object.data === null) {
    if (!isUpdate) errors.push(required('data', 'data is mandatory'));
  } else if (typeof object.data !== 'object' || Array.isArray(object.data))
    errors.push(required('data', 'data must be a valid JSON object'));
  nonNegative(object.revision, 'revision', errors);
  return errors;
}

/** How the kubectl column names an owner: `deployment.apps/web`. */
function ownerCell(object: ControllerRevision): string {
  const owner = controllerOf(object);
  if (owner === undefined) return '<none>';
  const slash = owner.apiVersion.indexOf('/');
  const group = slash < 0 ? '' : `.${owner.apiVersion.slice(0, slash)}`;
  return `${owner.kind.toLowerCase()}${group}/${owner.name}`;
}

export const controllerrevision = defineKind<ControllerRevision>({
  group: 'apps',
  resource: 'controllerrevisions',
  kind: 'ControllerRevision',
  strategy: {
    validate: (object) => validate(object),
    validateUpdate: (object, old) => {
      const errors = validate(object, true);
      immutableField(object.data, old.data, 'data', errors);
      return errors;
    },
  },
  cells: (object, now) => [object.metadata.name, ownerCell(object), object.revision ?? 0, ageCell(object.metadata.creationTimestamp, now)],
});
