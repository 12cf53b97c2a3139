/** Node selector terms against nodes. Mirrors upstream `component-helpers/scheduling/corev1/nodeaffinity`. Terms are or-ed, requirements and-ed; an empty term matches nothing. */
import type { Node, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, Pod } from '../../machinery/api/types/core.v1.ts';

export function matchesTerm(term: NodeSelectorTerm, node: Node): boolean {
  const expressions = term.matchExpressions ?? [];
  const fields = term.matchFields ?? [];
  if (expressions.length + fields.length === 0) return false;
  const labels = node.metadata.labels ?? {};
  return (
    expressions.every((requirement) =>
      matchesRequirement(requirement, Object.hasOwn(labels, requirement.key) ? labels[requirement.key] : undefined),
    ) &&
    fields.every((requirement) => matchesRequirement(requirement, requirement.key === 'metadata.name' ? node.metadata.name : undefined))
  );
}

export function matchesNodeSelector(selector: NodeSelector, node: Node): boolean {
  return (selector.nodeSelectorTerms ?? []).some((term) => matchesTerm(term, node));
}

function matchesRequirement({ operator, values = [] }: NodeSelectorRequirement, value: string | undefined): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
    case 'Lt': {
      if (value === undefined || !isInteger(value) || !isInteger(values[0] ?? '')) return false;
      const [left, right] = [BigInt(value), BigInt(values[0] as string)];
      return operator === 'Gt' ? left > right : left < right;
    }
    default:
      return false;
  }
}

const isInteger = (text: string): boolean => /^[-+]?\d{1,18}$/.test(text) && !text.startsWith('+');

/** spec.nodeSelector and the required node affinity of a pod (GetRequiredNodeAffinity). */
export function matchesRequiredAffinity(pod: Pod, node: Node): boolean {
  const labels = node.metadata.labels ?? {};
  for (const [key, value] of Object.entries(pod.spec.nodeSelector ?? {}))
    if (!Object.hasOwn(labels, key) || labels[key] !== value) return false;
  const required = pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return !required || matchesNodeSelector(required, node);
}

/** Names of the only nodes a pod can go to, when every term names one by `metadata.name`; undefined when it is not that narrow. */
export function namedNodes(pod: Pod): ReadonlySet<string> | undefined {
  const terms = pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  if (terms.length === 0) return undefined;
  const names = new Set<string>();
  for (const term of terms) {
    let ofTerm: ReadonlySet<string> | undefined;
    for (const { key, operator, values } of term.matchFields ?? []) {
      if (key !== 'metadata.name' || operator !== 'In') continue;
      const listed = new Set(values ?? []);
      ofTerm = ofTerm ? new Set([...ofTerm].filter((name) => listed.has(name))) : listed;
    }
    if (!ofTerm) return undefined;
    for (const name of ofTerm) names.add(name);
  }
  return names;
}
