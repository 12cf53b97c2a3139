/**
 * Which requests a webhook or a policy is asked about: rules, selectors, conditions. Mirrors kubernetes `admissionregistration/validation`.
 */
import { duplicate, type FieldError, invalidValue, notSupported, required, tooMany } from '../../../machinery/api/field-error.ts';
import { pathSegmentName, qualifiedName } from '../../../machinery/api/names.ts';
import type {
  MatchCondition,
  MatchResources,
  NamedRuleWithOperations,
  RuleWithOperations,
} from '../../../machinery/api/types/admissionregistration.k8s.io.v1.ts';
import { labelSelectorErrors } from '../validation/selectors.ts';

const OPERATIONS = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
const SCOPES = ['*', 'Cluster', 'Namespaced'];
const MAX_MATCH_CONDITIONS = 64;
export const FAILURE_POLICIES = ['Fail', 'Ignore'];
export const MATCH_POLICIES = ['Equivalent', 'Exact'];

export function enumErrors(value: string | undefined, supported: readonly string[], path: string, errors: FieldError[]): void {
  if (value !== undefined && !supported.includes(value)) errors.push(notSupported(path, value, supported));
}

function aloneErrors(values: readonly string[], what: string, path: string, errors: FieldError[]): void {
  if (values.length > 1 && values.includes('*')) {
    errors.push(invalidValue(path, values, `if '*' is present, must not specify other ${what}`));
  }
}

export function ruleErrors(rule: RuleWithOperations, path: string, errors: FieldError[]): void {
  const { operations = [], apiGroups = [], apiVersions = [], resources = [] } = rule;
  if (operations.length === 0) errors.push(required(`${path}.operations`));
  aloneErrors(operations, 'operations', `${path}.operations`, errors);
  operations.forEach((operation, i) => {
    enumErrors(operation, OPERATIONS, `${path}.operations[${i}]`, errors);
  });
  if (apiGroups.length === 0) errors.push(required(`${path}.apiGroups`));
  aloneErrors(apiGroups, 'API groups', `${path}.apiGroups`, errors);
  if (apiVersions.length === 0) errors.push(required(`${path}.apiVersions`));
  aloneErrors(apiVersions, 'API versions', `${path}.apiVersions`, errors);
  apiVersions.forEach((version, i) => {
    if (version === '') errors.push(required(`${path}.apiVersions[${i}]`));
  });
  resourceErrors(resources, `${path}.resources`, errors);
  enumErrors(rule.scope, SCOPES, `${path}.scope`, errors);
}

/** `pods`, `pods/log`, `pods/*`, a wildcard with a subresource, `*`: none may be there because of another already. */
function resourceErrors(resources: readonly string[], path: string, errors: FieldError[]): void {
  if (resources.length === 0) errors.push(required(path));
  const wholeResources = new Set<string>();
  const wholeSubresources = new Set<string>();
  let plain = false;
  resources.forEach((text, i) => {
    const at = `${path}[${i}]`;
    if (text === '') {
      errors.push(required(at));
      return;
    }
    const slash = text.indexOf('/');
    if (slash < 0) {
      // As upstream: only the last resource without subresource counts.
      plain = text !== '*';
      return;
    }
    const [resource, subresource] = [text.slice(0, slash), text.slice(slash + 1)];
    if (wholeResources.has(resource)) {
      errors.push(invalidValue(at, text, `if '${resource}/*' is present, must not specify ${text}`));
    }
    if (wholeSubresources.has(subresource)) {
      errors.push(invalidValue(at, text, `if '*/${subresource}' is present, must not specify ${text}`));
    }
    if (subresource === '*') wholeResources.add(resource);
    if (resource === '*') wholeSubresources.add(subresource);
  });
  if (resources.length > 1 && resources.includes('*/*')) {
    errors.push(invalidValue(path, resources, "if '*/*' is present, must not specify other resources"));
  }
  if (resources.includes('*') && plain) {
    errors.push(invalidValue(path, resources, "if '*' is present, must not specify other resources without subresources"));
  }
}

function namedRuleErrors(rule: NamedRuleWithOperations, path: string, errors: FieldError[]): void {
  const names = rule.resourceNames ?? [];
  names.forEach((name, i) => {
    const at = `${path}.resourceNames[${i}]`;
    for (const detail of pathSegmentName(name)) errors.push(invalidValue(at, name, detail));
    if (names.indexOf(name) < i) errors.push(duplicate(at, name));
  });
  ruleErrors(rule, path, errors);
}

export function matchResourcesErrors(match: MatchResources | undefined, path: string, errors: FieldError[]): void {
  if (!match) return;
  enumErrors(match.matchPolicy, MATCH_POLICIES, `${path}.matchPolicy`, errors);
  labelSelectorErrors(match.namespaceSelector, `${path}.namespaceSelector`, errors);
  labelSelectorErrors(match.objectSelector, `${path}.objectSelector`, errors);
  for (const member of ['resourceRules', 'excludeResourceRules'] as const) {
    match[member]?.forEach((rule, i) => {
      namedRuleErrors(rule, `${path}.${member}[${i}]`, errors);
    });
  }
}

export function matchConditionErrors(conditions: readonly MatchCondition[] | undefined, path: string, errors: FieldError[]): void {
  if (!conditions) return;
  if (conditions.length > MAX_MATCH_CONDITIONS) errors.push(tooMany(path, conditions.length, MAX_MATCH_CONDITIONS));
  const names = new Set<string>();
  conditions.forEach(({ name = '', expression = '' }, i) => {
    const at = `${path}[${i}]`;
    if (expression.trim() === '') errors.push(required(`${at}.expression`));
    if (name === '') errors.push(required(`${at}.name`));
    else {
      for (const detail of qualifiedName(name)) errors.push(invalidValue(`${at}.name`, name, detail));
      if (names.has(name)) errors.push(duplicate(`${at}.name`, name));
      names.add(name);
    }
  });
}
