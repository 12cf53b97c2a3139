/**
 * Questions about what somebody may do: which are well put, and which selectors in them cannot be understood. Mirrors kubernetes
 * `pkg/apis/authorization/validation` and `pkg/registry/authorization/util`.
 */
import { type FieldError, forbiddenField, invalidValue, required } from '../../../machinery/api/field-error.ts';
import { FieldSelectorError, parseFieldSelector } from '../../../machinery/api/field-selector.ts';
import { labelValue, qualifiedName } from '../../../machinery/api/names.ts';
import type { KubeObject, ObjectMeta } from '../../../machinery/api/object.ts';
import { typeSchema } from '../../../machinery/api/schema/schema.ts';
import { parseSelector, SelectorError } from '../../../machinery/api/selector.ts';
import type {
  FieldSelectorAttributes,
  LabelSelectorAttributes,
  ResourceAttributes,
  SubjectAccessReviewSpec,
} from '../../../machinery/api/types/authorization.k8s.io.v1.ts';

export type AccessReview = KubeObject & { spec?: SubjectAccessReviewSpec };

/** About anybody, about anybody in one namespace, or about oneself. */
export type ReviewForm = 'subject' | 'local' | 'self';

const PATH = 'spec.resourceAttributes';

export function accessReviewErrors({ metadata, spec = {} }: AccessReview, form: ReviewForm): FieldError[] {
  const errors: FieldError[] = [];
  const { resourceAttributes: resource, nonResourceAttributes: other } = spec;
  const shown = other && { Path: other.path ?? '', Verb: other.verb ?? '' };
  if (resource && other)
    errors.push(invalidValue('spec.nonResourceAttributes', shown, 'cannot be specified in combination with resourceAttributes'));
  if (!resource && !other) {
    errors.push(invalidValue(PATH, null, 'exactly one of nonResourceAttributes or resourceAttributes must be specified'));
  }
  if (form !== 'self' && !spec.user && (spec.groups?.length ?? 0) === 0) {
    errors.push(invalidValue('spec.user', '', 'at least one of user or group must be specified'));
  }
  if (resource?.fieldSelector) fieldSelectorErrors(resource.fieldSelector, `${PATH}.fieldSelector`, errors);
  if (resource?.labelSelector) labelSelectorErrors(resource.labelSelector, `${PATH}.labelSelector`, errors);
  metadataErrors(metadata, form, errors);
  if (form !== 'local') return errors;
  const namespace = resource?.namespace ?? '';
  if (resource && namespace !== metadata.namespace)
    errors.push(invalidValue(`${PATH}.namespace`, namespace, 'must match metadata.namespace'));
  if (other) errors.push(invalidValue('spec.nonResourceAttributes', shown, 'disallowed on this kind of request'));
  return errors;
}

const METADATA = typeSchema('meta.v1.ObjectMeta').members.map(({ name }) => name as keyof ObjectMeta);

/** A question has no name; who asked it is noted all the same. */
function metadataErrors(metadata: ObjectMeta, form: ReviewForm, errors: FieldError[]): void {
  const said = METADATA.filter((member) => !isNothing(metadata[member]));
  if (said.every((member) => member === 'managedFields' || (form === 'local' && member === 'namespace'))) return;
  const shown = Object.fromEntries(said.map((member) => [member, metadata[member]]));
  errors.push(invalidValue('metadata', shown, `must be empty${form === 'local' ? ' except for namespace' : ''}`));
}

const isNothing = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0);

interface Requirement {
  readonly key?: string;
  readonly operator?: string;
  readonly values?: readonly string[];
}

/** An operator that is unknown here may be known to who asks; it is no mistake. */
function requirementErrors({ operator = '', values = [] }: Requirement, path: string, errors: FieldError[]): void {
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length === 0) errors.push(required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
  } else if ((operator === 'Exists' || operator === 'DoesNotExist') && values.length > 0) {
    errors.push(forbiddenField(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
  }
}

function formErrors({ rawSelector = '', requirements = [] }: FieldSelectorAttributes, path: string, errors: FieldError[]): void {
  if (rawSelector !== '' && requirements.length > 0) {
    errors.push(invalidValue(`${path}.rawSelector`, rawSelector, 'may not specified at the same time as requirements'));
  }
  if (rawSelector === '' && requirements.length === 0) {
    errors.push(required(`${path}.requirements`, `when ${path} is specified, requirements or rawSelector is required`));
  }
}

function fieldSelectorErrors(selector: FieldSelectorAttributes, path: string, errors: FieldError[]): void {
  formErrors(selector, path, errors);
  selector.requirements?.forEach((requirement, i) => {
    const at = `${path}.requirements[${i}]`;
    if (!requirement.key) errors.push(required(`${at}.key`, 'must be specified'));
    requirementErrors(requirement, at, errors);
  });
}

function labelSelectorErrors(selector: LabelSelectorAttributes, path: string, errors: FieldError[]): void {
  formErrors(selector, path, errors);
  selector.requirements?.forEach((requirement, i) => {
    const at = `${path}.requirements[${i}]`;
    const { key = '', values = [] } = requirement;
    requirementErrors(requirement, at, errors);
    for (const detail of qualifiedName(key)) errors.push(invalidValue(`${at}.key`, key, detail));
    values.forEach((value, j) => {
      for (const detail of labelValue(value)) errors.push(invalidValue(`${at}.values[${j}]`, value, detail));
    });
  });
}

const KNOWN = ['In', 'NotIn', 'Exists', 'DoesNotExist'];

/** Which selectors of a well-put question are left out of account; '' when none is. */
export function selectorComplaint(resource: ResourceAttributes | undefined): string {
  const { fieldSelector, labelSelector } = resource ?? {};
  const texts = [
    complaint(
      'fieldSelector',
      fieldSelector,
      parseFieldSelector,
      ({ operator = '', values = [] }) => operator.endsWith('In') && values.length === 1,
    ),
    complaint('labelSelector', labelSelector, parseSelector, ({ operator = '' }) => KNOWN.includes(operator)),
  ];
  return texts.filter((text) => text !== undefined).join('; ');
}

function complaint(
  member: string,
  selector: FieldSelectorAttributes | undefined,
  parse: (text: string) => unknown,
  isUnderstood: (requirement: Requirement) => boolean,
): string | undefined {
  if (selector === undefined) return undefined;
  const { rawSelector = '', requirements = [] } = selector;
  const understood = requirements.filter(isUnderstood).length;
  if (rawSelector === '' ? understood === requirements.length : parses(rawSelector, parse)) return undefined;
  return `${PATH}.${member} ${understood > 0 ? 'partially ' : ''}ignored due to parse error`;
}

function parses(text: string, parse: (text: string) => unknown): boolean {
  try {
    parse(text);
    return true;
  } catch (error) {
    if (error instanceof SelectorError || error instanceof FieldSelectorError) return false;
    throw error;
  }
}
