/**
 * Rules that validating and mutating admission policies share; all but what the expressions themselves say. Mirrors kubernetes
 * `admissionregistration/validation`.
 */
import { deepEqual } from '../../../machinery/api/equality.ts';
import { type FieldError, invalidValue, required } from '../../../machinery/api/field-error.ts';
import { dns1035Label, dnsSubdomain } from '../../../machinery/api/names.ts';
import type { MatchCondition, MatchResources, ParamKind, Variable } from '../../../machinery/api/types/admissionregistration.k8s.io.v1.ts';
import { enumErrors, FAILURE_POLICIES, matchConditionErrors, matchResourcesErrors } from './rules.ts';

/** Words that CEL keeps for itself. */
const RESERVED = new Set(
  ('true false null in as break const continue else for function if import let loop package namespace return ' + 'var void while').split(
    ' ',
  ),
);

export interface PolicySpec {
  failurePolicy?: string;
  paramKind?: ParamKind;
  matchConstraints?: MatchResources;
  matchConditions?: MatchCondition[];
  variables?: Variable[];
}

/** What stands before the validations or mutations of a policy. Conditions that do not change are not checked again. */
export function policyErrors(spec: PolicySpec, old: PolicySpec | undefined, errors: FieldError[]): void {
  enumErrors(spec.failurePolicy, FAILURE_POLICIES, 'spec.failurePolicy', errors);
  if (spec.paramKind) paramKindErrors(spec.paramKind, 'spec.paramKind', errors);
  const path = 'spec.matchConstraints';
  if (!spec.matchConstraints) errors.push(required(path));
  else {
    matchResourcesErrors(spec.matchConstraints, path, errors);
    if ((spec.matchConstraints.resourceRules?.length ?? 0) === 0) errors.push(required(`${path}.resourceRules`));
  }
  const same = old && deepEqual(old.paramKind, spec.paramKind) && deepEqual(old.matchConditions, spec.matchConditions);
  if (!same) matchConditionErrors(spec.matchConditions, 'spec.matchConditions', errors);
}

export function variableErrors(variables: readonly Variable[] | undefined, errors: FieldError[]): void {
  variables?.forEach(({ name = '', expression = '' }, i) => {
    const path = `spec.variables[${i}]`;
    if (name.trim() === '') errors.push(required(`${path}.name`, 'name is not specified'));
    else if (!/^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name) || RESERVED.has(name)) {
      errors.push(invalidValue(`${path}.name`, name, 'must be a valid CEL identifier'));
    }
    if (expression.trim() === '') errors.push(required(`${path}.expression`, 'expression is not specified'));
  });
}

function paramKindErrors({ apiVersion = '', kind = '' }: ParamKind, path: string, errors: FieldError[]): void {
  if (apiVersion === '') errors.push(required(`${path}.apiVersion`));
  else apiVersionErrors(apiVersion, `${path}.apiVersion`, errors);
  if (kind === '') {
    errors.push(required(`${path}.kind`));
    return;
  }
  const details = dns1035Label(kind.toLowerCase());
  if (details.length > 0) {
    errors.push(invalidValue(`${path}.kind`, kind, `may have mixed case, but should otherwise match: ${details.join(',')}`));
  }
}

function apiVersionErrors(apiVersion: string, path: string, errors: FieldError[]): void {
  const parts = apiVersion === '/' ? [''] : apiVersion.split('/');
  if (parts.length > 2) {
    errors.push(invalidValue(path, apiVersion, `unexpected GroupVersion string: ${apiVersion}`));
    return;
  }
  const version = parts.at(-1)!;
  const group = parts.length === 2 ? parts[0]! : '';
  const groupDetails = group === '' ? [] : dnsSubdomain(group);
  if (groupDetails.length > 0) errors.push(invalidValue(path, group, groupDetails.join(',')));
  if (version === '') {
    errors.push(invalidValue(path, apiVersion, 'version must be specified'));
    return;
  }
  const details = dns1035Label(version);
  if (details.length > 0) errors.push(invalidValue(path, version, details.join(',')));
}
