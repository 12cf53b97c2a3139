/**
 * CSIDriver: what a storage driver can do. Mirrors kubernetes `pkg/registry/storage/csidriver`.
 */
import { deepEqual } from '../../../machinery/api/equality.ts';
import { duplicate, type FieldError, invalidValue, notSupported } from '../../../machinery/api/field-error.ts';
import type { CSIDriver, CSIDriverSpec } from '../../../machinery/api/types/storage.k8s.io.v1.ts';
import { defineKind } from '../define.ts';
import { ageCell } from '../tables/cells.ts';
import { immutableField } from '../validation/numbers.ts';

const MIN_TOKEN_SECONDS = 10 * 60;
const MAX_TOKEN_SECONDS = 2 ** 32;
const MIN_PERIOD_SECONDS = 10;
const GROUP_POLICIES = ['File', 'None', 'ReadWriteOnceWithFSType'];
const MODES = ['Persistent', 'Ephemeral'];

function applyDefaults(object: CSIDriver): void {
  object.spec ??= {};
  const { spec } = object;
  spec.attachRequired ??= true;
  spec.podInfoOnMount ??= false;
  spec.storageCapacity ??= false;
  spec.fsGroupPolicy ??= 'ReadWriteOnceWithFSType';
  if ((spec.volumeLifecycleModes?.length ?? 0) === 0) spec.volumeLifecycleModes = ['Persistent'];
  spec.requiresRepublish ??= false;
  spec.seLinuxMount ??= false;
}

function tokenErrors(requests: CSIDriverSpec['tokenRequests'], errors: FieldError[]): void {
  const audiences = new Set<string>();
  requests?.forEach(({ audience = '', expirationSeconds }, i) => {
    const path = `spec.tokenRequests[${i}]`;
    if (audiences.has(audience)) {
      errors.push(duplicate(`${path}.audience`, audience));
      return;
    }
    audiences.add(audience);
    if (expirationSeconds === undefined) return;
    const at = `${path}.expirationSeconds`;
    if (expirationSeconds < MIN_TOKEN_SECONDS) {
      errors.push(invalidValue(at, expirationSeconds, 'may not specify a duration less than 10 minutes'));
    }
    if (expirationSeconds > MAX_TOKEN_SECONDS) {
      errors.push(invalidValue(at, expirationSeconds, 'may not specify a duration larger than 2^32 seconds'));
    }
  });
}

function validate({ spec }: CSIDriver): FieldError[] {
  const errors: FieldError[] = [];
  const policy: string | undefined = spec.fsGroupPolicy;
  if (policy !== undefined && !GROUP_POLICIES.includes(policy)) errors.push(notSupported('spec.fsGroupPolicy', policy, GROUP_POLICIES));
  tokenErrors(spec.tokenRequests, errors);
  for (const mode of spec.volumeLifecycleModes ?? []) {
    if (!MODES.includes(mode)) errors.push(notSupported('spec.volumeLifecycleModes', mode, MODES));
  }
  const period = spec.nodeAllocatableUpdatePeriodSeconds;
  if (period !== undefined && period < MIN_PERIOD_SECONDS) {
    const detail = `must be greater than or equal to ${MIN_PERIOD_SECONDS} seconds`;
    errors.push(invalidValue('spec.nodeAllocatableUpdatePeriodSeconds', period, detail));
  }
  if (spec.serviceAccountTokenInSecrets !== undefined && (spec.tokenRequests?.length ?? 0) === 0) {
    const detail = 'serviceAccountTokenInSecrets is set but no tokenRequests are specified';
    errors.push(invalidValue('spec.serviceAccountTokenInSecrets', spec.serviceAccountTokenInSecrets, detail));
  }
  return errors;
}

/** The path of attachRequired is upstream's. */
function validateUpdate(object: CSIDriver, old: CSIDriver): FieldError[] {
  const errors = validate(object);
  immutableField(object.spec.attachRequired, old.spec.attachRequired, 'spec.attachedRequired', errors);
  immutableField(object.spec.volumeLifecycleModes, old.spec.volumeLifecycleModes, 'spec.volumeLifecycleModes', errors);
  return errors;
}

const TOKEN_WARNING =
  'spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes';

/** Said when the requests for tokens come or change, not at every update. */
function warnings({ spec }: CSIDriver, old: CSIDriver | undefined): string[] {
  if ((spec.tokenRequests?.length ?? 0) === 0 || spec.serviceAccountTokenInSecrets !== undefined) return [];
  const same = old !== undefined && deepEqual(spec.tokenRequests, old.spec.tokenRequests);
  return same && old.spec.serviceAccountTokenInSecrets === undefined ? [] : [TOKEN_WARNING];
}

export const csidriver = defineKind<CSIDriver>({
  group: 'storage.k8s.io',
  resource: 'csidrivers',
  kind: 'CSIDriver',
  generation: 'deferred',
  unconditionalUpdate: false,
  deleteAnswer: 'object',
  strategy: {
    default: applyDefaults,
    validate,
    validateUpdate,
    warnings,
  },
  cells: ({ metadata, spec }, now) => [
    metadata.name,
    spec.attachRequired !== false,
    spec.podInfoOnMount === true,
    spec.storageCapacity === true,
    (spec.tokenRequests?.length ?? 0) > 0 ? spec.tokenRequests!.map((request) => request.audience ?? '').join(',') : '<unset>',
    spec.requiresRepublish === true,
    (spec.volumeLifecycleModes ?? []).join(',') || '<none>',
    ageCell(metadata.creationTimestamp, now),
  ],
});
