/**
 * What the bindings of validating and of mutating admission policies share: nearly all. Mirrors kubernetes `admissionregistration/validation`,
 * `pkg/registry/admissionregistration/*binding` and the printers of both.
 */
import { type FieldError, forbiddenField, invalidValue, notSupported, required } from '../../../machinery/api/field-error.ts';
import { dnsSubdomain, pathSegmentName } from '../../../machinery/api/names.ts';
import type { KubeObject, LabelSelector } from '../../../machinery/api/object.ts';
import type { MatchResources, ParamRef } from '../../../machinery/api/types/admissionregistration.k8s.io.v1.ts';
import { defineKind } from '../define.ts';
import type { ResourceDefinition } from '../resource.ts';
import { ageCell } from '../tables/cells.ts';
import { labelSelectorErrors } from '../validation/selectors.ts';
import { defaultMatch } from './defaults.ts';
import { matchResourcesErrors } from './rules.ts';

const NOT_FOUND_ACTIONS = ['Deny', 'Allow'];

interface Binding extends KubeObject {
  spec?: { policyName?: string; paramRef?: ParamRef; matchResources?: MatchResources };
}

/** `more` adds what only one of the two kinds asks for. */
export function defineBinding<T extends KubeObject>(
  names: { readonly resource: string; readonly kind: string },
  more: (object: T, errors: FieldError[]) => void = () => {},
): ResourceDefinition {
  const validate = (object: T & Binding): FieldError[] => {
    const errors: FieldError[] = [];
    specErrors(object.spec ?? {}, errors);
    more(object, errors);
    return errors;
  };
  return defineKind<T & Binding>({
    group: 'admissionregistration.k8s.io',
    ...names,
    generation: 'spec',
    unconditionalUpdate: false,
    strategy: { default: ({ spec }) => defaultMatch(spec?.matchResources), validate, validateUpdate: validate },
    cells: ({ metadata, spec }, now) => [
      metadata.name,
      spec?.policyName ?? '',
      paramCell(spec?.paramRef),
      ageCell(metadata.creationTimestamp, now),
    ],
  });
}

function specErrors(spec: NonNullable<Binding['spec']>, errors: FieldError[]): void {
  const name = spec.policyName ?? '';
  if (name === '') errors.push(required('spec.policyName'));
  else for (const detail of dnsSubdomain(name)) errors.push(invalidValue('spec.policyName', name, detail));
  if (spec.paramRef) paramRefErrors(spec.paramRef, 'spec.paramRef', errors);
  matchResourcesErrors(spec.matchResources, 'spec.matchResources', errors);
}

function paramRefErrors(ref: ParamRef, path: string, errors: FieldError[]): void {
  const { name = '', selector } = ref;
  const action: string = ref.parameterNotFoundAction ?? '';
  const exclusive = 'name and selector are mutually exclusive';
  if (name !== '') {
    for (const detail of pathSegmentName(name)) errors.push(invalidValue(`${path}.name`, name, detail));
    if (selector) errors.push(forbiddenField(`${path}.name`, exclusive));
  }
  if (selector) {
    labelSelectorErrors(selector, `${path}.selector`, errors);
    if (name !== '') errors.push(forbiddenField(`${path}.selector`, exclusive));
  } else if (name === '') errors.push(required(path, 'one of name or selector must be specified'));
  if (action === '') errors.push(required(`${path}.parameterNotFoundAction`));
  else if (!NOT_FOUND_ACTIONS.includes(action)) {
    errors.push(notSupported(`${path}.parameterNotFoundAction`, action, NOT_FOUND_ACTIONS));
  }
}

/** `namespace/name`; a star where the namespace is that of the object. */
function paramCell(ref: ParamRef | undefined): string {
  if (ref?.name) return `${ref.namespace || '*'}/${ref.name}`;
  return ref?.selector ? selectorText(ref.selector) : '<unset>';
}

/** A selector as the Go type prints itself, which is what this one column shows. */
function selectorText({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string {
  const labels = Object.keys(matchLabels).sort();
  const expressions = matchExpressions.map(
    ({ key, operator, values = [] }) => `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`,
  );
  const map = `map[string]string{${labels.map((key) => `${key}: ${matchLabels[key]},`).join('')}}`;
  return `&LabelSelector{MatchLabels:${map},MatchExpressions:[]LabelSelectorRequirement{${expressions.join('')}},}`;
}
