/**
 * While a pod is gated, where it may run may be narrowed. Mirrors kubernetes `core/validation` validateNodeSelectorMutation and
 * validateNodeAffinityMutation; both put the old value back into the spec that is compared afterwards.
 */
import { deepEqual } from '../../../machinery/api/equality.ts';
import { type FieldError, invalidValue } from '../../../machinery/api/field-error.ts';
import type * as core from '../../../machinery/api/types/core.v1.ts';

export function nodeSelectorChangeErrors(spec: core.PodSpec, old: core.PodSpec, errors: FieldError[]): void {
  if (deepEqual(spec.nodeSelector, old.nodeSelector)) return;
  const kept = Object.entries(old.nodeSelector ?? {}).every(([key, value]) => spec.nodeSelector?.[key] === value);
  if (!kept) {
    const detail = 'only additions to spec.nodeSelector are allowed (no mutations or deletions)';
    errors.push(invalidValue('spec.nodeSelector', sorted(spec.nodeSelector ?? {}), detail));
  }
  if (old.nodeSelector === undefined) delete spec.nodeSelector;
  else spec.nodeSelector = old.nodeSelector;
}

const sorted = (map: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1)));

export function nodeAffinityChangeErrors(spec: core.PodSpec, old: core.PodSpec, errors: FieldError[]): void {
  const next = spec.affinity?.nodeAffinity;
  const before = old.affinity?.nodeAffinity;
  if (deepEqual(next, before)) return;
  const path = 'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms';
  termsErrors(
    next?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [],
    before?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [],
    path,
    errors,
  );
  spec.affinity = { ...spec.affinity };
  if (before === undefined) delete spec.affinity.nodeAffinity;
  else spec.affinity.nodeAffinity = before;
  if (Object.keys(spec.affinity).length === 0 && old.affinity === undefined) delete spec.affinity;
}

/** Terms are alternatives: none may come or go; requirements within a term narrow it: they may come. */
function termsErrors(
  next: readonly core.NodeSelectorTerm[],
  old: readonly core.NodeSelectorTerm[],
  path: string,
  errors: FieldError[],
): void {
  if (old.length === 0) return;
  if (next.length !== old.length) {
    const shown = next.length === 0 ? undefined : next.map(goTerm);
    errors.push(invalidValue(path, shown, 'no additions/deletions to non-empty NodeSelectorTerms list are allowed'));
    return;
  }
  next.forEach((term, i) => {
    const before = old[i]!;
    // a term that asks for nothing matches nothing: to ask for something would widen it
    const widened = isEmpty(before) && !isEmpty(term);
    if (!widened && onlyAdds(term.matchExpressions, before.matchExpressions) && onlyAdds(term.matchFields, before.matchFields)) return;
    errors.push(invalidValue(`${path}[${i}]`, goTerm(term), 'only additions are allowed (no mutations or deletions)'));
  });
}

const isEmpty = ({ matchExpressions, matchFields }: core.NodeSelectorTerm): boolean =>
  (matchExpressions?.length ?? 0) + (matchFields?.length ?? 0) === 0;

function onlyAdds(
  next: readonly core.NodeSelectorRequirement[] | undefined,
  old: readonly core.NodeSelectorRequirement[] | undefined,
): boolean {
  return (old ?? []).every((requirement, i) => next?.[i] !== undefined && deepEqual(requirement, next[i]));
}

/** As Go prints the struct. */
export const goTerm = (term: core.NodeSelectorTerm): object => ({
  MatchExpressions: term.matchExpressions?.map(goRequirement) ?? null,
  MatchFields: term.matchFields?.map(goRequirement) ?? null,
});
const goRequirement = ({ key, operator, values }: core.NodeSelectorRequirement): object => ({
  Key: key,
  Operator: operator,
  Values: values ?? null,
});
