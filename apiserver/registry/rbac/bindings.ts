/**
 * What bindings of roles share: subjects, the reference to the role, the columns. Mirrors kubernetes `pkg/apis/rbac` defaults and validation.
 */
import { deepEqual } from '../../../machinery/api/equality.ts';
import { type FieldError, invalidValue, notSupported, required } from '../../../machinery/api/field-error.ts';
import { dnsSubdomain, pathSegmentName } from '../../../machinery/api/names.ts';
import type { ClusterRoleBinding, RoleBinding, RoleRef, Subject } from '../../../machinery/api/types/rbac.authorization.k8s.io.v1.ts';
import { ageCell } from '../tables/cells.ts';

const GROUP = 'rbac.authorization.k8s.io';
type Binding = ClusterRoleBinding | RoleBinding;

export function defaultBinding(binding: Binding): void {
  binding.roleRef ??= {} as RoleRef;
  if (!binding.roleRef.apiGroup) binding.roleRef.apiGroup = GROUP;
  for (const subject of binding.subjects ?? []) {
    if ((subject.kind === 'User' || subject.kind === 'Group') && !subject.apiGroup) subject.apiGroup = GROUP;
  }
}

export function bindingErrors(binding: Binding, kinds: readonly string[], namespaced: boolean): FieldError[] {
  const errors: FieldError[] = [];
  const role: Partial<RoleRef> = binding.roleRef ?? {};
  if (role.apiGroup !== GROUP) errors.push(notSupported('roleRef.apiGroup', role.apiGroup ?? '', [GROUP]));
  if (!kinds.includes(role.kind ?? '')) errors.push(notSupported('roleRef.kind', role.kind ?? '', kinds));
  if (!role.name) errors.push(required('roleRef.name'));
  else for (const detail of pathSegmentName(role.name)) errors.push(invalidValue('roleRef.name', role.name, detail));
  binding.subjects?.forEach((subject, i) => {
    subjectErrors(subject, namespaced, `subjects[${i}]`, errors);
  });
  return errors;
}

function subjectErrors(subject: Subject, namespaced: boolean, path: string, errors: FieldError[]): void {
  if (!subject.name) errors.push(required(`${path}.name`));
  const group = subject.apiGroup ?? '';
  if (subject.kind === 'ServiceAccount') {
    if (subject.name) for (const detail of dnsSubdomain(subject.name)) errors.push(invalidValue(`${path}.name`, subject.name, detail));
    if (group !== '') errors.push(notSupported(`${path}.apiGroup`, group, ['']));
    if (!namespaced && !subject.namespace) errors.push(required(`${path}.namespace`));
  } else if (subject.kind === 'User' || subject.kind === 'Group') {
    if (group !== GROUP) errors.push(notSupported(`${path}.apiGroup`, group, [GROUP]));
  } else errors.push(notSupported(`${path}.kind`, subject.kind ?? '', ['ServiceAccount', 'User', 'Group']));
}

export function bindingUpdateErrors(binding: Binding, old: Binding, errors: FieldError[]): FieldError[] {
  if (!deepEqual(binding.roleRef, old.roleRef)) {
    const { apiGroup = '', kind = '', name = '' } = binding.roleRef ?? {};
    errors.push(invalidValue('roleRef', { APIGroup: apiGroup, Kind: kind, Name: name }, 'cannot change roleRef'));
  }
  return errors;
}

export function bindingCells(binding: Binding, now: Date): unknown[] {
  const of = (kind: string): string =>
    (binding.subjects ?? [])
      .filter((s) => s.kind === kind)
      .map((s) => (kind === 'ServiceAccount' ? `${s.namespace ?? ''}/${s.name}` : s.name))
      .join(', ');
  return [
    binding.metadata.name,
    `${binding.roleRef?.kind ?? ''}/${binding.roleRef?.name ?? ''}`,
    ageCell(binding.metadata.creationTimestamp, now),
    of('User'),
    of('Group'),
    of('ServiceAccount'),
  ];
}
