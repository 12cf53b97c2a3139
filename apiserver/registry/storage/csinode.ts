/**
 * CSINode: which storage drivers a node has. Mirrors kubernetes `pkg/registry/storage/csinode`.
 */
import { deepEqual } from '../../../machinery/api/equality.ts';
import { duplicate, type FieldError, invalidValue, required } from '../../../machinery/api/field-error.ts';
import { qualifiedName } from '../../../machinery/api/names.ts';
import type { CSINode, CSINodeDriver } from '../../../machinery/api/types/storage.k8s.io.v1.ts';
import { defineKind } from '../define.ts';
import { ageCell } from '../tables/cells.ts';
import { driverNameErrors } from '../validation/driver-names.ts';
import { IMMUTABLE } from '../validation/metadata.ts';
import { nonNegative } from '../validation/numbers.ts';

const MAX_NODE_ID = 256;

function driverErrors(driver: CSINodeDriver, names: Set<string>, path: string, errors: FieldError[]): void {
  const { name = '', nodeID = '', topologyKeys = [] } = driver;
  driverNameErrors(name, `${path}.name`, errors);
  if (nodeID === '') errors.push(required(`${path}.nodeID`));
  else if (Buffer.byteLength(nodeID) > MAX_NODE_ID) {
    errors.push(invalidValue(`${path}.nodeID`, nodeID, `must be ${MAX_NODE_ID} characters or less`));
  }
  nonNegative(driver.allocatable?.count, `${path}.allocatable.count`, errors);
  if (names.has(name)) errors.push(duplicate(`${path}.name`, name));
  names.add(name);
  // Mistakes in topology keys are told of the driver.
  topologyKeys?.forEach((key, i) => {
    if (key === '') errors.push(required(path));
    if (topologyKeys.indexOf(key) < i) errors.push(duplicate(path, key));
    for (const detail of qualifiedName(key)) errors.push(invalidValue(path, key, detail));
  });
}

function validate({ spec }: CSINode): FieldError[] {
  const errors: FieldError[] = [];
  const names = new Set<string>();
  spec?.drivers?.forEach((driver, i) => {
    driverErrors(driver, names, `spec.drivers[${i}]`, errors);
  });
  return errors;
}

/** Drivers come and go; of one that stays only what it can hold may change. */
function validateUpdate(object: CSINode, old: CSINode): FieldError[] {
  const errors = validate(object);
  for (const before of old.spec?.drivers ?? []) {
    const driver = object.spec?.drivers?.find((d) => d.name === before.name);
    if (driver === undefined || deepEqual({ ...driver, allocatable: undefined }, { ...before, allocatable: undefined })) continue;
    errors.push(invalidValue('spec.drivers', driver, IMMUTABLE));
  }
  return errors;
}

export const csinode = defineKind<CSINode>({
  group: 'storage.k8s.io',
  resource: 'csinodes',
  kind: 'CSINode',
  unconditionalUpdate: false,
  deleteAnswer: 'object',
  strategy: { validate, validateUpdate },
  cells: (object, now) => [object.metadata.name, object.spec?.drivers?.length ?? 0, ageCell(object.metadata.creationTimestamp, now)],
});
