/**
 * PodResizeValidator: a bound pod may not ask for more than its node can ever give, nor at all on a node that cannot change a running pod. Mirrors kubernetes
 * `plugin/pkg/admission/podresize`.
 */
import { parseQuantity, type Quantity, quantityMilli, quantityValue } from '../../../machinery/api/quantity.ts';
import { StatusError } from '../../../machinery/api/status.ts';
import type { Node, Pod } from '../../../machinery/api/types/core.v1.ts';
import { type AdmissionPlugin, type AdmissionRequest, refuse } from './plugin.ts';
import { type Amounts, compareTexts, podAmounts } from './pod-usage.ts';

const OS = 'kubernetes.io/os';

/** What is compared, and the unit in which it is told. */
const MEASURES: Readonly<Record<string, (amount: Quantity) => number>> = { cpu: quantityMilli, memory: quantityValue };

export const podResize: AdmissionPlugin = {
  name: 'PodResizeValidator',
  handles: (group, resource) => group === '' && resource === 'pods',
  validate: (request) => {
    if (request.old === undefined || request.subresource !== 'resize') return;
    const pod = request.object as unknown as Pod;
    const name = pod.spec.nodeName ?? '';
    if (name === '' || pod.metadata.generation === request.old.metadata.generation) return;
    const node = request.context.reader.get<Node>('', 'nodes', '', name);
    if (!node) throw refuse(request, `node "${name}" not found`);
    const os = node.metadata.labels?.[OS] ?? 'linux';
    if (os !== 'linux')
      throw because('UnsupportedPlatform', request, `pod resize is only supported on linux nodes, node "${name}" is "${os}"`);
    const problems = tooMuch(podAmounts(pod, 'requests'), (node.status?.allocatable ?? {}) as Amounts);
    if (problems.length > 0)
      throw because('NodeCapacity', request, `node didn't have enough allocatable resources: ${problems.join('; ')}`);
  },
};

function tooMuch(requests: Amounts, allocatable: Amounts): string[] {
  return Object.entries(MEASURES).flatMap(([name, measure]) => {
    const [wanted, most] = [requests[name] ?? '0', allocatable[name] ?? '0'];
    if (compareTexts(wanted, most) <= 0) return [];
    return [`${name}, requested: ${measure(parseQuantity(wanted))}, allocatable: ${measure(parseQuantity(most))}`];
  });
}

/** The refusal with a cause that programs can tell apart. */
function because(reason: string, request: AdmissionRequest, why: string): Error {
  const { status } = refuse(request, why) as StatusError;
  return new StatusError({ ...status, details: { ...status.details, causes: [...(status.details?.causes ?? []), { reason }] } });
}
