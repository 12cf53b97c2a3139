/**
 * When a job gives up and when it is done early. Mirrors kubernetes `batch/validation` validatePodFailurePolicy and validateSuccessPolicy.
 */
import { duplicate, type FieldError, invalidValue, notSupported, required, tooLong, tooMany } from '../../../machinery/api/field-error.ts';
import { qualifiedName } from '../../../machinery/api/names.ts';
import type { JobSpec, PodFailurePolicyRule, SuccessPolicyRule } from '../../../machinery/api/types/batch.v1.ts';
import { nonNegative } from '../validation/numbers.ts';
import { indexCount } from './index-intervals.ts';

const MAX_RULES = 20;
const MAX_EXIT_CODES = 255;
const MAX_INDEXES_LENGTH = 64 * 1024;
const ACTIONS = ['Count', 'FailIndex', 'FailJob', 'Ignore'];
const OPERATORS = ['In', 'NotIn'];
const STATUSES = ['False', 'True', 'Unknown'];
const choices = (values: readonly string[]): string => `valid values: [${values.map((v) => JSON.stringify(v)).join(' ')}]`;

export function podFailurePolicyErrors(spec: JobSpec, path: string, errors: FieldError[]): void {
  const rules = spec.podFailurePolicy!.rules ?? [];
  if (rules.length > MAX_RULES) errors.push(tooMany(`${path}.rules`, rules.length, MAX_RULES));
  const template = spec.template?.spec;
  const containers = new Set([...(template?.containers ?? []), ...(template?.initContainers ?? [])].map((c) => c.name));
  rules.forEach((rule, i) => {
    ruleErrors(rule, spec, containers, [`${path}.rules[${i}]`, errors]);
  });
}

/** Upstream prints no value here. */
export const invalidRule = (field: string, detail: string): FieldError => ({
  type: 'FieldValueInvalid',
  field,
  body: `Invalid value: ${detail}`,
  message: `${field}: Invalid value: ${detail}`,
});

function ruleErrors(
  rule: PodFailurePolicyRule,
  spec: JobSpec,
  containers: ReadonlySet<string>,
  [path, errors]: readonly [string, FieldError[]],
): void {
  const action: string = rule.action ?? '';
  if (action === '') errors.push(required(`${path}.action`, choices(ACTIONS)));
  else if (action === 'FailIndex' && spec.backoffLimitPerIndex === undefined) {
    errors.push(invalidValue(`${path}.action`, action, 'requires the backoffLimitPerIndex to be set'));
  } else if (!ACTIONS.includes(action)) errors.push(notSupported(`${path}.action`, action, ACTIONS));
  const conditions = rule.onPodConditions ?? [];
  if (rule.onExitCodes) exitCodeErrors(rule.onExitCodes, containers, `${path}.onExitCodes`, errors);
  if (conditions.length > 0) conditionPatternErrors(conditions, `${path}.onPodConditions`, errors);
  if (rule.onExitCodes && conditions.length > 0)
    errors.push(invalidRule(path, 'specifying both OnExitCodes and OnPodConditions is not supported'));
  if (!rule.onExitCodes && conditions.length === 0)
    errors.push(invalidRule(path, 'specifying one of OnExitCodes and OnPodConditions is required'));
}

type ExitCodes = NonNullable<PodFailurePolicyRule['onExitCodes']>;

function exitCodeErrors(codes: ExitCodes, containers: ReadonlySet<string>, path: string, errors: FieldError[]): void {
  const operator: string = codes.operator ?? '';
  if (operator === '') errors.push(required(`${path}.operator`, choices(OPERATORS)));
  else if (!OPERATORS.includes(operator)) errors.push(notSupported(`${path}.operator`, operator, OPERATORS));
  if (codes.containerName !== undefined && !containers.has(codes.containerName)) {
    const detail = 'must be one of the container or initContainer names in the pod template';
    errors.push(invalidValue(`${path}.containerName`, codes.containerName, detail));
  }
  const values = codes.values ?? [];
  if (values.length === 0) errors.push(invalidValue(`${path}.values`, codes.values ?? null, 'at least one value is required'));
  else if (values.length > MAX_EXIT_CODES) errors.push(tooMany(`${path}.values`, values.length, MAX_EXIT_CODES));
  let ordered = true;
  const seen = new Set<number>();
  values.forEach((value, i) => {
    if (operator === 'In' && value === 0) errors.push(invalidValue(`${path}.values[${i}]`, value, 'must not be 0 for the In operator'));
    if (seen.has(value)) errors.push(duplicate(`${path}.values[${i}]`, value));
    seen.add(value);
    if (i > 0 && values[i - 1]! > value) ordered = false;
  });
  if (!ordered) errors.push(invalidValue(`${path}.values`, values, 'must be ordered'));
}

function conditionPatternErrors(patterns: readonly { type?: string; status?: string }[], path: string, errors: FieldError[]): void {
  if (patterns.length > MAX_RULES) errors.push(tooMany(path, patterns.length, MAX_RULES));
  patterns.forEach(({ type = '', status = '' }, i) => {
    for (const detail of qualifiedName(type)) errors.push(invalidValue(`${path}[${i}].type`, type, detail));
    if (status === '') errors.push(required(`${path}[${i}].status`, choices(STATUSES)));
    else if (!STATUSES.includes(status)) errors.push(notSupported(`${path}[${i}].status`, status, STATUSES));
  });
}

export function successPolicyErrors(spec: JobSpec, path: string, errors: FieldError[]): void {
  const rules = spec.successPolicy!.rules ?? [];
  if (spec.completionMode !== 'Indexed') {
    const shown = { Rules: rules.map((r) => ({ SucceededIndexes: r.succeededIndexes ?? null, SucceededCount: r.succeededCount ?? null })) };
    errors.push(invalidValue(path, shown, 'requires indexed completion mode'));
    return;
  }
  if (rules.length === 0)
    errors.push(required(`${path}.rules`, 'at least one rules must be specified when the successPolicy is specified'));
  if (rules.length > MAX_RULES) errors.push(tooMany(`${path}.rules`, rules.length, MAX_RULES));
  rules.forEach((rule, i) => {
    successRuleErrors(rule, spec.completions ?? 0, `${path}.rules[${i}]`, errors);
  });
}

function successRuleErrors(rule: SuccessPolicyRule, completions: number, path: string, errors: FieldError[]): void {
  const { succeededCount: count, succeededIndexes: indexes } = rule;
  if (count === undefined && indexes === undefined) {
    errors.push(required(path, 'at least one of succeededCount or succeededIndexes must be specified'));
  }
  // of a list that cannot be read no index counts
  let total = 0;
  if (indexes !== undefined) {
    const at = `${path}.succeededIndexes`;
    if (Buffer.byteLength(indexes) > MAX_INDEXES_LENGTH) errors.push(tooLong(at, MAX_INDEXES_LENGTH));
    const counted = indexCount(indexes, completions);
    if (typeof counted === 'string') errors.push(invalidValue(at, indexes, `error parsing succeededIndexes: ${counted}`));
    else total = counted;
  }
  if (count === undefined) return;
  nonNegative(count, `${path}.succeededCount`, errors);
  const at = `${path}.succeededCount`;
  if (count > completions)
    errors.push(invalidValue(at, count, `must be less than or equal to ${completions} (the number of specified completions)`));
  if (indexes !== undefined && count > total) {
    const detail = `must be less than or equal to ${total} (the number of indexes in the specified succeededIndexes field)`;
    errors.push(invalidValue(at, count, detail));
  }
}
