/**
 * Node and pod affinity, and topology spread. Mirrors kubernetes `core/validation` validateAffinity and validateTopologySpreadConstraints.
 */
import { duplicate, type FieldError, forbiddenField, invalidValue, notSupported, required } from '../../../machinery/api/field-error.ts';
import { dnsSubdomain, labelValue, nameIsLabel, qualifiedName } from '../../../machinery/api/names.ts';
import type { LabelSelector } from '../../../machinery/api/object.ts';
import type * as core from '../../../machinery/api/types/core.v1.ts';
import { labelSelectorErrors } from './selectors.ts';

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

export function affinityErrors(affinity: core.Affinity, path: string, errors: FieldError[]): void {
  const node = affinity.nodeAffinity;
  if (node?.[REQUIRED]) nodeSelectorErrors(node[REQUIRED], `${path}.nodeAffinity.${REQUIRED}`, errors);
  node?.[PREFERRED]?.forEach((term, i) => {
    const at = `${path}.nodeAffinity.${PREFERRED}[${i}]`;
    weightErrors(term.weight, at, errors);
    termErrors(term.preference ?? {}, `${at}.preference`, errors, false);
  });
  for (const member of ['podAffinity', 'podAntiAffinity'] as const) {
    affinity[member]?.[REQUIRED]?.forEach((term, i) => {
      podTermErrors(term, `${path}.${member}.${REQUIRED}[${i}]`, errors);
    });
    affinity[member]?.[PREFERRED]?.forEach((term, i) => {
      const at = `${path}.${member}.${PREFERRED}[${i}]`;
      weightErrors(term.weight, at, errors);
      podTermErrors(term.podAffinityTerm ?? ({} as core.PodAffinityTerm), `${at}.podAffinityTerm`, errors);
    });
  }
}

function weightErrors(weight: number | undefined, path: string, errors: FieldError[]): void {
  if (weight === undefined || weight <= 0 || weight > 100)
    errors.push(invalidValue(`${path}.weight`, weight ?? 0, 'must be in the range 1-100'));
}

export function nodeSelectorErrors(selector: core.NodeSelector, path: string, errors: FieldError[]): void {
  const terms = selector.nodeSelectorTerms ?? [];
  if (terms.length === 0) errors.push(required(`${path}.nodeSelectorTerms`, 'must have at least one node selector term'));
  terms.forEach((term, i) => {
    termErrors(term, `${path}.nodeSelectorTerms[${i}]`, errors, true);
  });
}

/** Label values of preferred terms are not checked. */
export function termErrors(term: core.NodeSelectorTerm, path: string, errors: FieldError[], checkValues: boolean): void {
  term.matchExpressions?.forEach((requirement, i) => {
    expressionErrors(requirement, `${path}.matchExpressions[${i}]`, errors, checkValues);
  });
  term.matchFields?.forEach((requirement, i) => {
    fieldErrors(requirement, `${path}.matchFields[${i}]`, errors);
  });
}

function expressionErrors(requirement: core.NodeSelectorRequirement, path: string, errors: FieldError[], checkValues: boolean): void {
  const values = requirement.values ?? [];
  switch (requirement.operator) {
    case 'In':
    case 'NotIn':
      if (values.length === 0) errors.push(required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
      break;
    case 'Exists':
    case 'DoesNotExist':
      if (values.length > 0)
        errors.push(forbiddenField(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
      break;
    case 'Gt':
    case 'Lt':
      if (values.length !== 1) errors.push(required(`${path}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'"));
      break;
    default:
      errors.push(invalidValue(`${path}.operator`, requirement.operator ?? '', 'not a valid selector operator'));
  }
  const key = requirement.key ?? '';
  for (const detail of qualifiedName(key)) errors.push(invalidValue(`${path}.key`, key, detail));
  if (!checkValues) return;
  values.forEach((value, i) => {
    for (const detail of labelValue(value)) errors.push(invalidValue(`${path}.values[${i}]`, value, detail));
  });
}

function fieldErrors(requirement: core.NodeSelectorRequirement, path: string, errors: FieldError[]): void {
  const values = requirement.values ?? [];
  if (requirement.operator === 'In' || requirement.operator === 'NotIn') {
    if (values.length !== 1) {
      errors.push(required(`${path}.values`, "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"));
    }
  } else errors.push(invalidValue(`${path}.operator`, requirement.operator ?? '', 'not a valid selector operator'));
  if (requirement.key !== 'metadata.name')
    errors.push(invalidValue(`${path}.key`, requirement.key ?? '', 'not a valid field selector key'));
  else {
    values.forEach((value, i) => {
      for (const detail of dnsSubdomain(value)) errors.push(invalidValue(`${path}.values[${i}]`, value, detail));
    });
  }
}

function podTermErrors(term: core.PodAffinityTerm, path: string, errors: FieldError[]): void {
  labelSelectorErrors(term.labelSelector, `${path}.labelSelector`, errors);
  labelSelectorErrors(term.namespaceSelector, `${path}.namespaceSelector`, errors);
  for (const name of term.namespaces ?? []) {
    for (const detail of nameIsLabel(name, false)) errors.push(invalidValue(`${path}.namespace`, name, detail));
  }
  labelKeyErrors(term, path, errors);
  const key = term.topologyKey ?? '';
  if (key === '') errors.push(required(`${path}.topologyKey`, 'can not be empty'));
  for (const detail of qualifiedName(key)) errors.push(invalidValue(`${path}.topologyKey`, key, detail));
}

interface LabelKeys {
  readonly matchLabelKeys?: readonly string[];
  readonly mismatchLabelKeys?: readonly string[];
  readonly labelSelector?: LabelSelector;
}

/** Of pod affinity, and, without mismatching keys, of topology spread. */
function labelKeyErrors(
  { matchLabelKeys = [], mismatchLabelKeys = [], labelSelector }: LabelKeys,
  path: string,
  errors: FieldError[],
): void {
  keyListErrors(matchLabelKeys, labelSelector, `${path}.matchLabelKeys`, errors);
  keyListErrors(mismatchLabelKeys, labelSelector, `${path}.mismatchLabelKeys`, errors);
  if (labelSelector) repeatedKeyErrors(matchLabelKeys, labelSelector, path, errors);
  matchLabelKeys.forEach((key, i) => {
    if (mismatchLabelKeys.includes(key)) {
      errors.push(invalidValue(`${path}.matchLabelKeys[${i}]`, key, 'exists in both matchLabelKeys and mismatchLabelKeys'));
    }
  });
}

/** Each key has been merged into the selector once, as its last requirements; a second requirement of the same label came from the user. */
function repeatedKeyErrors(keys: readonly string[], selector: LabelSelector, path: string, errors: FieldError[]): void {
  const seen = new Set(Object.keys(selector.matchLabels ?? {}));
  for (const { key } of selector.matchExpressions ?? []) {
    const i = keys.lastIndexOf(key);
    if (i >= 0 && seen.has(key)) errors.push(invalidValue(`${path}[${i}]`, key, 'exists in both matchLabelKeys and labelSelector'));
    seen.add(key);
  }
}

function keyListErrors(keys: readonly string[], selector: LabelSelector | undefined, path: string, errors: FieldError[]): void {
  if (keys.length === 0) return;
  if (!selector) {
    errors.push(forbiddenField(path, 'must not be specified when labelSelector is not set'));
    return;
  }
  keys.forEach((key, i) => {
    for (const detail of qualifiedName(key)) errors.push(invalidValue(`${path}[${i}]`, key, detail));
  });
}

const MODES = ['DoNotSchedule', 'ScheduleAnyway'];
const INCLUSIONS = ['Honor', 'Ignore'];

export function topologySpreadErrors(constraints: readonly core.TopologySpreadConstraint[], path: string, errors: FieldError[]): void {
  constraints.forEach((constraint, i) => {
    const at = `${path}[${i}]`;
    const { maxSkew = 0, topologyKey = '', whenUnsatisfiable: mode = '', minDomains } = constraint;
    if (maxSkew <= 0) errors.push(invalidValue(`${at}.maxSkew`, maxSkew, 'must be greater than zero'));
    if (topologyKey === '') errors.push(required(`${at}.topologyKey`, 'can not be empty'));
    if (!MODES.includes(mode)) errors.push(notSupported(`${at}.whenUnsatisfiable`, mode, MODES));
    // Each later constraint with the same pair is named at the earlier one.
    if (constraints.slice(i + 1).some((c) => (c.topologyKey ?? '') === topologyKey && (c.whenUnsatisfiable ?? '') === mode)) {
      errors.push(duplicate(`${at}.{topologyKey, whenUnsatisfiable}`, `{${topologyKey}, ${mode}}`));
    }
    if (minDomains !== undefined) {
      if (minDomains <= 0) errors.push(invalidValue(`${at}.minDomains`, minDomains, 'must be greater than zero'));
      if (mode !== 'DoNotSchedule') {
        errors.push(
          invalidValue(`${at}.minDomains`, minDomains, `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${mode}`),
        );
      }
    }
    for (const member of ['nodeAffinityPolicy', 'nodeTaintsPolicy'] as const) {
      const policy = constraint[member];
      if (policy !== undefined && !INCLUSIONS.includes(policy)) errors.push(notSupported(`${at}.${member}`, policy, INCLUSIONS));
    }
    const { matchLabelKeys, labelSelector } = constraint;
    labelKeyErrors({ ...(matchLabelKeys && { matchLabelKeys }), ...(labelSelector && { labelSelector }) }, at, errors);
    labelSelectorErrors(constraint.labelSelector, `${at}.labelSelector`, errors);
  });
}
