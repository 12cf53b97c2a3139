/**
 * The options of writes, from the query or (delete) from the body. Mirrors metav1 CreateOptions, UpdateOptions, PatchOptions and
 * DeleteOptions and their validation.
 */
import { type FieldError, forbiddenField, notSupported, required } from '../../machinery/api/field-error.ts';
import { invalid } from '../../machinery/api/status.ts';
import { fieldManagerErrors, isPrintable, MAX_FIELD_MANAGER } from '../registry/validation/field-manager.ts';
import type { RequestContext } from './context.ts';
import { header } from './context.ts';

export type FieldValidation = 'Strict' | 'Warn' | 'Ignore';

export interface WriteOptions {
  readonly dryRun: boolean;
  /** Who writes, for managedFields: the fieldManager parameter or the user agent up to its slash. */
  readonly fieldManager: string;
  readonly fieldValidation: FieldValidation;
  readonly force: boolean;
}

/** `kind` is CreateOptions, UpdateOptions or PatchOptions; `apply` tells a server-side apply from other patches. */
export function writeOptions(
  context: RequestContext,
  kind: 'CreateOptions' | 'UpdateOptions' | 'PatchOptions',
  apply = false,
): WriteOptions {
  const { query } = context.info;
  const errors: FieldError[] = [];
  const manager = query.get('fieldManager') ?? '';
  if (kind === 'PatchOptions') {
    const force = query.get('force');
    if (!apply && force !== undefined) errors.push(forbiddenField('force', 'may not be specified for non-apply patch'));
    if (apply && manager === '') errors.push(required('fieldManager', 'is required for apply patch'));
  }
  errors.push(
    ...fieldManagerErrors(manager, 'fieldManager'),
    ...dryRunErrors(query.all('dryRun')),
    ...fieldValidationErrors(query.get('fieldValidation') ?? ''),
  );
  if (errors.length > 0) throw invalid({ group: 'meta.k8s.io', kind }, '', errors);
  return {
    dryRun: query.has('dryRun'),
    fieldManager: manager === '' ? agentName(context) : manager,
    fieldValidation: (query.get('fieldValidation') || 'Warn') as FieldValidation,
    force: isTrue(query.get('force')),
  };
}

/** Go's form decoding of a bool parameter: anything but `0` and `false` is true. */
export function isTrue(value: string | undefined): boolean {
  return value !== undefined && value !== '0' && value.toLowerCase() !== 'false';
}

/** `kubectl/v1.36 (linux)` → `kubectl`; what can be printed of it, at most 128 bytes. */
function agentName(context: RequestContext): string {
  let name = '';
  let size = 0;
  for (const character of (header(context, 'user-agent') ?? '').split('/', 1)[0]!) {
    if (!isPrintable(character)) continue;
    size += Buffer.byteLength(character);
    if (size > MAX_FIELD_MANAGER) break;
    name += character;
  }
  return name === '' ? 'unknown' : name;
}

export function dryRunErrors(values: readonly string[]): FieldError[] {
  return values.every((value) => value === 'All') ? [] : [notSupported('dryRun', values as unknown as string[], ['All'])];
}

function fieldValidationErrors(value: string): FieldError[] {
  const supported = ['', 'Ignore', 'Strict', 'Warn'];
  return supported.includes(value) ? [] : [notSupported('fieldValidation', value, supported)];
}
