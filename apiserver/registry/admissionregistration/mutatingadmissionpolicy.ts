/**
 * MutatingAdmissionPolicy: expressions that change what is written. Mirrors kubernetes `pkg/registry/admissionregistration/mutatingadmissionpolicy`.
 */
import { type FieldError, invalidValue, notSupported, required } from '../../../machinery/api/field-error.ts';
import type {
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicySpec,
  Mutation,
} from '../../../machinery/api/types/admissionregistration.k8s.io.v1.ts';
import { defineKind } from '../define.ts';
import { ageCell } from '../tables/cells.ts';
import { defaultMatch } from './defaults.ts';
import { type PolicySpec, policyErrors, variableErrors } from './policies.ts';
import { enumErrors } from './rules.ts';

/** Deletions change nothing, so nothing can be changed in them. */
const OPERATIONS = ['*', 'CONNECT', 'CREATE', 'UPDATE'];
const REINVOCATION = ['IfNeeded', 'Never'];
/** Patch types and the member that each fills. */
const PATCHES = [
  ['ApplyConfiguration', 'applyConfiguration'],
  ['JSONPatch', 'jsonPatch'],
] as const;

function mutationErrors(mutation: Mutation, path: string, errors: FieldError[]): void {
  const type: string = mutation.patchType ?? '';
  const own = PATCHES.find(([name]) => name === type);
  if (own === undefined) {
    const at = `${path}.patchType`;
    errors.push(
      type === ''
        ? required(at)
        : notSupported(
            at,
            type,
            PATCHES.map(([name]) => name),
          ),
    );
    return;
  }
  for (const [, member] of [own, ...PATCHES.filter((patch) => patch !== own)]) {
    const value = mutation[member];
    const at = `${path}.${member}`;
    if (member !== own[1]) {
      if (value) errors.push(invalidValue(at, `{${member}}`, `must not be specified when patchType is ${type}`));
    } else if (!value) errors.push(required(at, `must be specified when patchType is ${type}`));
    else if ((value.expression ?? '').trim() === '') errors.push(required(`${at}.expression`));
  }
}

function specErrors(spec: Partial<MutatingAdmissionPolicySpec>, old?: MutatingAdmissionPolicySpec): FieldError[] {
  const errors: FieldError[] = [];
  policyErrors(spec as PolicySpec, old as PolicySpec | undefined, errors);
  for (const rule of spec.matchConstraints?.resourceRules ?? []) {
    for (const operation of rule.operations ?? []) {
      enumErrors(operation, OPERATIONS, 'spec.matchConstraints.resourceRules.operations', errors);
    }
  }
  variableErrors(spec.variables, errors);
  const mutations = spec.mutations ?? [];
  if (mutations.length === 0) errors.push(required('spec.mutations', 'mutations must contain at least one item'));
  mutations.forEach((mutation, i) => {
    mutationErrors(mutation, `spec.mutations[${i}]`, errors);
  });
  if (!spec.reinvocationPolicy) errors.push(required('spec.reinvocationPolicy'));
  else enumErrors(spec.reinvocationPolicy, REINVOCATION, 'spec.reinvocationPolicy', errors);
  return errors;
}

export const mutatingadmissionpolicy = defineKind<MutatingAdmissionPolicy>({
  group: 'admissionregistration.k8s.io',
  resource: 'mutatingadmissionpolicies',
  kind: 'MutatingAdmissionPolicy',
  generation: 'spec',
  unconditionalUpdate: false,
  strategy: {
    default: (object) => {
      object.spec ??= {} as MutatingAdmissionPolicySpec;
      const { spec } = object;
      spec.failurePolicy ??= 'Fail';
      defaultMatch(spec.matchConstraints);
    },
    validate: ({ spec }) => specErrors(spec ?? {}),
    validateUpdate: ({ spec }, old) => specErrors(spec ?? {}, old.spec),
  },
  cells: ({ metadata, spec }, now) => [
    metadata.name,
    spec?.mutations?.length ?? 0,
    spec?.paramKind ? `${spec.paramKind.apiVersion ?? ''}/${spec.paramKind.kind ?? ''}` : '<unset>',
    ageCell(metadata.creationTimestamp, now),
  ],
});
