/**
 * ComponentStatus: what an administrator used to ask for the health of the control plane. Never stored: the store is well while it answers, the
 * loops are well while they renew their leases. Mirrors kubernetes `pkg/registry/core/componentstatus`, which asks their health addresses.
 */
import { parseTime } from '../../../machinery/api/time.ts';
import type { Lease } from '../../../machinery/api/types/coordination.k8s.io.v1.ts';
import type { ComponentStatus } from '../../../machinery/api/types/core.v1.ts';
import { defineKind } from '../define.ts';
import type { ObjectReader } from '../resource.ts';

/** Component by the lease its leader holds in kube-system. */
const LEASES = { 'controller-manager': 'kube-controller-manager', scheduler: 'kube-scheduler' };

function componentOf(name: string, problem: string | undefined): ComponentStatus {
  const condition = problem === undefined ? { status: 'True', message: 'ok' } : { status: 'False', message: problem };
  return { kind: 'ComponentStatus', apiVersion: 'v1', metadata: { name }, conditions: [{ type: 'Healthy', ...condition }] };
}

function leaseProblem(lease: Lease | undefined, now: Date): string | undefined {
  const { renewTime, leaseDurationSeconds = 0 } = lease?.spec ?? {};
  if (!renewTime || !lease?.spec?.holderIdentity) return 'nobody holds its lease';
  const endsMs = parseTime(renewTime).getTime() + leaseDurationSeconds * 1000;
  return endsMs < now.getTime() ? `its lease was last renewed at ${renewTime}` : undefined;
}

function components(reader: ObjectReader, now: Date): ComponentStatus[] {
  const loops = Object.entries(LEASES).map(([name, lease]) =>
    componentOf(name, leaseProblem(reader.get<Lease>('coordination.k8s.io', 'leases', 'kube-system', lease), now)),
  );
  return [...loops, componentOf('etcd-0', undefined)].sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
}

export const componentstatus = defineKind<ComponentStatus>({
  resource: 'componentstatuses',
  kind: 'ComponentStatus',
  deprecation: 'v1 ComponentStatus is deprecated in v1.19+',
  made: components,
  cells: ({ metadata, conditions }) => {
    const healthy = conditions?.find((condition) => condition.type === 'Healthy');
    const status = healthy?.status === 'True' ? 'Healthy' : 'Unhealthy';
    return [metadata.name ?? '', healthy === undefined ? 'Unknown' : status, healthy?.message ?? '', healthy?.error ?? ''];
  },
});
