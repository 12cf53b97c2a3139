/**
 * Rules of flow schemas: who asks for what. Mirrors kubernetes `flowcontrol/validation` ValidateFlowSchemaPolicyRulesWithSubjects.
 */
import { type FieldError, forbiddenField, invalidValue, notSupported, required } from '../../../machinery/api/field-error.ts';
import { dnsLabel, dnsSubdomain } from '../../../machinery/api/names.ts';
import type {
  NonResourcePolicyRule,
  PolicyRulesWithSubjects,
  ResourcePolicyRule,
  ServiceAccountSubject,
  Subject,
} from '../../../machinery/api/types/flowcontrol.apiserver.k8s.io.v1.ts';

const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch'];
const SUBJECT_KINDS = ['Group', 'ServiceAccount', 'User'];
/** The member of a subject that each kind fills, in the order in which upstream refuses the others. */
const MEMBERS = [
  ['serviceAccount', 'ServiceAccount'],
  ['user', 'User'],
  ['group', 'Group'],
] as const;

export function flowRuleErrors(rule: PolicyRulesWithSubjects, path: string, errors: FieldError[]): void {
  const { subjects = [], resourceRules = [], nonResourceRules = [] } = rule;
  if ((subjects ?? []).length === 0) errors.push(required(`${path}.subjects`, 'subjects must contain at least one value'));
  subjects?.forEach((subject, i) => {
    subjectErrors(subject, `${path}.subjects[${i}]`, errors);
  });
  if (resourceRules.length === 0 && nonResourceRules.length === 0) {
    errors.push(required(path, 'at least one of resourceRules and nonResourceRules has to be non-empty'));
  }
  resourceRules.forEach((resource, i) => {
    resourceRuleErrors(resource, `${path}.resourceRules[${i}]`, errors);
  });
  nonResourceRules.forEach((nonResource, i) => {
    nonResourceRuleErrors(nonResource, `${path}.nonResourceRules[${i}]`, errors);
  });
}

function subjectErrors(subject: Subject, path: string, errors: FieldError[]): void {
  const own = MEMBERS.find(([, kind]) => kind === subject.kind);
  if (own === undefined) {
    errors.push(notSupported(`${path}.kind`, subject.kind ?? '', SUBJECT_KINDS));
    return;
  }
  const [member, kind] = own;
  const value = subject[member];
  if (value === undefined) errors.push(required(`${path}.${member}`, `${member} is required when subject kind is '${kind}'`));
  else if (member === 'serviceAccount') accountErrors(value as ServiceAccountSubject, `${path}.${member}`, errors);
  else if (!value.name) errors.push(required(`${path}.${member}.name`));
  for (const [other, otherKind] of MEMBERS) {
    if (other === member || subject[other] === undefined) continue;
    errors.push(forbiddenField(`${path}.${other}`, `${other} is forbidden when subject kind is not '${otherKind}'`));
  }
}

function accountErrors({ name = '', namespace = '' }: Partial<ServiceAccountSubject>, path: string, errors: FieldError[]): void {
  if (name === '') errors.push(required(`${path}.name`));
  else if (name !== '*') for (const detail of dnsSubdomain(name)) errors.push(invalidValue(`${path}.name`, name, detail));
  if (namespace === '') errors.push(required(`${path}.namespace`, 'must specify namespace for service account'));
  else for (const detail of dnsLabel(namespace)) errors.push(invalidValue(`${path}.namespace`, namespace, detail));
}

/** True when `*` stands in the list; then it must stand alone. */
function wildcard(values: readonly string[], what: string, path: string, errors: FieldError[]): boolean {
  if (!values.includes('*')) return false;
  if (values.length > 1) errors.push(invalidValue(path, values, `if '*' is present, must not specify other ${what}`));
  return true;
}

function verbErrors(verbs: readonly string[], path: string, errors: FieldError[]): void {
  if (verbs.length === 0) errors.push(required(path, 'verbs must contain at least one value'));
  else if (!wildcard(verbs, 'verbs', path, errors) && verbs.some((verb) => !VERBS.includes(verb))) {
    errors.push(notSupported(path, verbs, VERBS));
  }
}

function resourceRuleErrors(rule: ResourcePolicyRule, path: string, errors: FieldError[]): void {
  const { apiGroups, resources, namespaces } = rule;
  verbErrors(rule.verbs ?? [], `${path}.verbs`, errors);
  if (!apiGroups?.length) errors.push(required(`${path}.apiGroups`, 'resource rules must supply at least one api group'));
  else wildcard(apiGroups, 'api groups', `${path}.apiGroups`, errors);
  if (!resources?.length) errors.push(required(`${path}.resources`, 'resource rules must supply at least one resource'));
  else wildcard(resources, 'resources', `${path}.resources`, errors);
  const at = `${path}.namespaces`;
  if (!namespaces?.length) {
    if (!rule.clusterScope) errors.push(required(at, 'resource rules that are not cluster scoped must supply at least one namespace'));
    return;
  }
  if (wildcard(namespaces, 'namespaces', at, errors)) return;
  namespaces.forEach((namespace, i) => {
    for (const detail of dnsLabel(namespace)) {
      errors.push(invalidValue(`${at}[${i}]`, namespace, `each member of this list must be '*' or a DNS-1123 label; ${detail}`));
    }
  });
}

function nonResourceRuleErrors(rule: NonResourcePolicyRule, path: string, errors: FieldError[]): void {
  verbErrors(rule.verbs ?? [], `${path}.verbs`, errors);
  const urls = rule.nonResourceURLs ?? [];
  const at = `${path}.nonResourceURLs`;
  if (urls.length === 0) errors.push(required(at, 'nonResourceURLs must contain at least one value'));
  else if (!wildcard(urls, 'non-resource URLs', at, errors)) {
    urls.forEach((url, i) => {
      const detail = urlDetail(url);
      if (detail !== undefined) errors.push(invalidValue(`${at}[${i}]`, url, detail));
    });
  }
}

/** The first mistake of a URL path, as upstream looks for them. */
function urlDetail(url: string): string | undefined {
  if (url === '') return 'must not be empty';
  if (url === '/') return undefined;
  if (!url.startsWith('/')) return 'must start with slash';
  if (url.includes(' ')) return 'must not contain white-space';
  if (url.includes('//')) return 'must not contain double slash';
  const star = url.indexOf('*');
  return star >= 0 && (star < url.length - 1 || !url.endsWith('/*')) ? 'wildcard can only do suffix matching' : undefined;
}
