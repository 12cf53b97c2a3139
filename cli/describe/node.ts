/** `describe node`, with what its pods ask for. Mirrors kubectl `pkg/describe` describeNode. */
import { humanDuration } from '../../machinery/api/duration.ts';
import { addQuantities, formatQuantity, parseQuantity, type Quantity, quantityMilli } from '../../machinery/api/quantity.ts';
import type { Lease } from '../../machinery/api/types/coordination.k8s.io.v1.ts';
import type { Node, Pod } from '../../machinery/api/types/core.v1.ts';
import type { DescribeContext, Describer } from './describer.ts';
import { describeEvents } from './events.ts';
import { DescriptionWriter, formatDate, ZERO_DATE } from './writer.ts';

export const describeNode: Describer = async (object, context) => {
  const node = object as unknown as Node;
  const { metadata, spec } = node;
  const w = new DescriptionWriter();
  w.field(0, 'Name', metadata?.name);
  w.field(0, 'Roles', rolesOf(metadata?.labels ?? {}));
  w.labelsAndAnnotations(metadata);
  w.field(0, 'CreationTimestamp', formatDate(metadata?.creationTimestamp));
  const taints = (spec?.taints ?? []).map((t) => `${t.key}${t.value ? `=${t.value}` : ''}:${t.effect}`).sort();
  w.list('Taints', taints.length === 0 ? ['<none>'] : taints);
  w.field(0, 'Unschedulable', spec?.unschedulable ?? false);
  await writeLease(w, node, context);
  writeStatus(w, node);
  await writePods(w, node, context);
  describeEvents(w, context);
  return w.text();
};

function rolesOf(labels: Readonly<Record<string, string>>): string {
  const prefix = 'node-role.kubernetes.io/';
  const roles = Object.keys(labels).flatMap((key) =>
    key.startsWith(prefix) && key !== prefix ? [key.slice(prefix.length)] : key === 'kubernetes.io/role' ? [labels[key]] : [],
  );
  return roles.sort().join(',') || '<none>';
}

async function writeLease(w: DescriptionWriter, node: Node, context: DescribeContext): Promise<void> {
  const lease = (await context.get('leases.coordination.k8s.io', {
    namespace: 'kube-node-lease',
    name: node.metadata?.name ?? '',
  })) as unknown as Lease | undefined;
  if (!lease) {
    const text = `Failed to get lease: leases.coordination.k8s.io "${node.metadata?.name}" not found`;
    return w.line(0, `Lease:\t${text}`);
  }
  w.line(0, 'Lease:');
  w.field(1, 'HolderIdentity', lease.spec?.holderIdentity ?? '<unset>');
  w.field(1, 'AcquireTime', lease.spec?.acquireTime ? formatDate(lease.spec.acquireTime) : '<unset>');
  w.field(1, 'RenewTime', lease.spec?.renewTime ? formatDate(lease.spec.renewTime) : '<unset>');
}

const SYSTEM_INFO = [
  ['Machine ID', 'machineID'],
  ['System UUID', 'systemUUID'],
  ['Boot ID', 'bootID'],
  ['Kernel Version', 'kernelVersion'],
  ['OS Image', 'osImage'],
  ['Operating System', 'operatingSystem'],
  ['Architecture', 'architecture'],
  ['Container Runtime Version', 'containerRuntimeVersion'],
  ['Kubelet Version', 'kubeletVersion'],
  ['Kube-Proxy Version', 'kubeProxyVersion'],
] as const;

function writeStatus(w: DescriptionWriter, { spec, status }: Node): void {
  if ((status?.conditions ?? []).length > 0) {
    w.line(0, 'Conditions:');
    w.line(1, 'Type\tStatus\tLastHeartbeatTime\tLastTransitionTime\tReason\tMessage');
    w.line(1, '----\t------\t-----------------\t------------------\t------\t-------');
    for (const c of status!.conditions!) {
      w.line(
        1,
        `${c.type} \t${c.status} \t${date(c.lastHeartbeatTime)} \t${date(c.lastTransitionTime)} \t${c.reason ?? ''} \t${c.message ?? ''}`,
      );
    }
  }
  w.line(0, 'Addresses:');
  for (const { type, address } of status?.addresses ?? []) w.field(1, type, address);
  for (const [title, amounts] of [
    ['Capacity', status?.capacity],
    ['Allocatable', status?.allocatable],
  ] as const) {
    if (Object.keys(amounts ?? {}).length === 0) continue;
    w.line(0, `${title}:`);
    for (const name of Object.keys(amounts!).sort()) w.field(1, name, amounts![name]);
  }
  w.line(0, 'System Info:');
  for (const [title, member] of SYSTEM_INFO)
    w.field(1, title, (status?.nodeInfo as unknown as Record<string, string> | undefined)?.[member] ?? '');
  if (spec?.podCIDR) w.field(0, 'PodCIDR', spec.podCIDR);
  if ((spec?.podCIDRs ?? []).length > 0) w.field(0, 'PodCIDRs', spec!.podCIDRs!.join(','));
  if (spec?.providerID) w.field(0, 'ProviderID', spec.providerID);
}

const date = (time: string | undefined): string => (time ? formatDate(time) : ZERO_DATE);

interface Amounts {
  readonly requests: Map<string, Quantity>;
  readonly limits: Map<string, Quantity>;
}

/** Sums of the containers; an init container counts when it asks for more than their sum. */
function amountsOf(pod: Pod): Amounts {
  const sum = (member: 'requests' | 'limits'): Map<string, Quantity> => {
    const total = new Map<string, Quantity>();
    const sidecar = (c: { restartPolicy?: string }): boolean => c.restartPolicy === 'Always';
    const running = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? []).filter(sidecar)];
    for (const container of running) {
      for (const [name, text] of Object.entries(container.resources?.[member] ?? {})) {
        const old = total.get(name);
        const amount = parseQuantity(String(text));
        total.set(name, old ? addQuantities(old, amount) : amount);
      }
    }
    for (const container of (pod.spec?.initContainers ?? []).filter((c) => !sidecar(c))) {
      for (const [name, text] of Object.entries(container.resources?.[member] ?? {})) {
        const amount = parseQuantity(String(text));
        const old = total.get(name);
        if (!old || quantityMilli(amount) > quantityMilli(old)) total.set(name, amount);
      }
    }
    return total;
  };
  return { requests: sum('requests'), limits: sum('limits') };
}

async function writePods(w: DescriptionWriter, node: Node, context: DescribeContext): Promise<void> {
  const fieldSelector = `spec.nodeName=${node.metadata?.name},status.phase!=Succeeded,status.phase!=Failed`;
  const pods = (await context.list('pods', { fieldSelector })) as unknown as Pod[];
  const allocatable = Object.keys(node.status?.allocatable ?? {}).length > 0 ? node.status!.allocatable! : (node.status?.capacity ?? {});
  const share = (amount: Quantity | undefined, name: string): string => {
    const whole = allocatable[name] === undefined ? 0 : quantityMilli(parseQuantity(String(allocatable[name])));
    const part = amount ? quantityMilli(amount) : 0;
    return `${amount ? formatQuantity(amount) : '0'} (${whole === 0 ? 0 : Math.trunc((part / whole) * 100)}%)`;
  };
  w.line(0, `Non-terminated Pods:\t(${pods.length} in total)`);
  w.line(1, 'Namespace\tName\t\tCPU Requests\tCPU Limits\tMemory Requests\tMemory Limits\tAge');
  w.line(1, '---------\t----\t\t------------\t----------\t---------------\t-------------\t---');
  const totals: Amounts = { requests: new Map(), limits: new Map() };
  for (const pod of pods) {
    const { requests, limits } = amountsOf(pod);
    const cells = [
      share(requests.get('cpu'), 'cpu'),
      share(limits.get('cpu'), 'cpu'),
      share(requests.get('memory'), 'memory'),
      share(limits.get('memory'), 'memory'),
    ];
    const age = humanDuration(context.session.now().getTime() - Date.parse(pod.metadata?.creationTimestamp ?? ''));
    w.line(1, `${pod.metadata?.namespace}\t${pod.metadata?.name}\t\t${cells.join('\t')}\t${age}`);
    for (const [name, amount] of requests)
      totals.requests.set(name, totals.requests.has(name) ? addQuantities(totals.requests.get(name)!, amount) : amount);
    for (const [name, amount] of limits)
      totals.limits.set(name, totals.limits.has(name) ? addQuantities(totals.limits.get(name)!, amount) : amount);
  }
  w.line(0, 'Allocated resources:');
  w.line(1, '(Total limits may be over 100 percent, i.e., overcommitted.)');
  w.line(1, 'Resource\tRequests\tLimits');
  w.line(1, '--------\t--------\t------');
  const main = ['cpu', 'memory', 'ephemeral-storage'];
  for (const name of main) w.line(1, `${name}\t${share(totals.requests.get(name), name)}\t${share(totals.limits.get(name), name)}`);
  const others = Object.keys(allocatable)
    .filter((name) => !main.includes(name) && name !== 'pods')
    .sort();
  for (const name of others) w.line(1, `${name}\t${plain(totals.requests.get(name))}\t${plain(totals.limits.get(name))}`);
}

const plain = (amount: Quantity | undefined): string => (amount ? formatQuantity(amount) : '0');
