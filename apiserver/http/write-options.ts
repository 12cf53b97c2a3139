/**
 * The options of writes, from the query or (delete) from the body. Mirrors metav1 CreateOptions, UpdateOptions, PatchOptions and
 * DeleteOptions and their validation.
 */
import { type FieldError, forbiddenField, invalidValue, notSupported, required, tooLong } from '../../machinery/api/field-error.ts';
import { invalid } from '../../machinery/api/status.ts';
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

const MAX_FIELD_MANAGER = 128;

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
    ...fieldManagerErrors(manager),
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

/** `kubectl/v1.36 (linux)` → `kubectl`; at most 128 bytes. */
function agentName(context: RequestContext): string {
  const agent = (header(context, 'user-agent') ?? '').split('/', 1)[0]!;
  return (agent === '' ? 'unknown' : agent).slice(0, MAX_FIELD_MANAGER);
}

function fieldManagerErrors(manager: string): FieldError[] {
  const errors: FieldError[] = [];
  if (Buffer.byteLength(manager) > MAX_FIELD_MANAGER) errors.push(tooLong('fieldManager', MAX_FIELD_MANAGER));
  let position = 0;
  for (const character of manager) {
    const code = character.codePointAt(0)!;
    if (!isPrintable(character, code)) {
      const name = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
      const shown = code > 0x7f && isPrintableBlank(code) ? `${name} '${character}'` : name;
      errors.push(invalidValue('fieldManager', manager, `invalid character ${shown} (at position ${position})`));
      break;
    }
    position += Buffer.byteLength(character);
  }
  return errors;
}

const isPrintableBlank = (_code: number): boolean => false;
const isPrintable = (character: string, code: number): boolean => code === 0x20 || !/[\p{C}\p{Z}]/u.test(character);

export function dryRunErrors(values: readonly string[]): FieldError[] {
  return values.every((value) => value === 'All') ? [] : [notSupported('dryRun', values as unknown as string[], ['All'])];
}

function fieldValidationErrors(value: string): FieldError[] {
  const supported = ['', 'Ignore', 'Strict', 'Warn'];
  return supported.includes(value) ? [] : [notSupported('fieldValidation', value, supported)];
}
