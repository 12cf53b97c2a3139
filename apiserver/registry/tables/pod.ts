/**
 * The row of a pod. Mirrors kubernetes `pkg/printers/internalversion` printPod: STATUS is the most telling of the phase, the reasons of the
 * containers and a pending deletion.
 */
import type { Container, ContainerStatus, Pod } from '../../../machinery/api/types/core.v1.ts';
import type { RowCondition } from '../resource.ts';
import { ageCell } from './cells.ts';

interface Tally {
  reason: string;
  ready: number;
  restarts: number;
  lastRestart: string;
}

export function podCells(pod: Pod, now: Date): unknown[] {
  const { metadata, spec, status = {} } = pod;
  const sidecars = new Set((spec.initContainers ?? []).filter((c) => c.restartPolicy === 'Always').map((c) => c.name));
  const total = (spec.containers ?? []).length + sidecars.size;
  const tally = tallyOf(pod, sidecars);
  const restarts =
    tally.restarts !== 0 && tally.lastRestart !== ''
      ? `${tally.restarts} (${ageCell(tally.lastRestart, now)} ago)`
      : String(tally.restarts);
  return [
    metadata.name,
    `${tally.ready}/${total}`,
    withDeletion(pod, tally.reason),
    restarts,
    ageCell(metadata.creationTimestamp, now),
    status.podIPs?.[0]?.ip || '<none>',
    spec.nodeName || '<none>',
    status.nominatedNodeName || '<none>',
    readinessGates(pod),
  ];
}

function tallyOf({ spec, status = {} }: Pod, sidecars: ReadonlySet<string>): Tally {
  const gated = status.conditions?.some((c) => c.type === 'PodScheduled' && c.reason === 'SchedulingGated') === true;
  const tally: Tally = {
    reason: gated ? 'SchedulingGated' : status.reason || (status.phase ?? ''),
    ready: 0,
    restarts: 0,
    lastRestart: '',
  };
  const sidecarTally: Tally = { reason: '', ready: 0, restarts: 0, lastRestart: '' };
  let initializing = false;
  const inits = status.initContainerStatuses ?? [];
  for (let i = 0; i < inits.length; i++) {
    const container = inits[i]!;
    countRestarts(tally, container);
    const sidecar = sidecars.has(container.name);
    if (sidecar) countRestarts(sidecarTally, container);
    if (container.state?.terminated?.exitCode === 0) continue;
    if (sidecar && container.started === true) {
      if (container.ready === true) tally.ready++;
      continue;
    }
    tally.reason = initReason(container, i, spec.initContainers);
    initializing = true;
    break;
  }
  const initialized = status.conditions?.some((c) => c.type === 'Initialized' && c.status === 'True') === true;
  if (!initializing || initialized) {
    tally.restarts = sidecarTally.restarts;
    tally.lastRestart = sidecarTally.lastRestart;
    tallyContainers(
      status.containerStatuses ?? [],
      tally,
      status.conditions?.some((c) => c.type === 'Ready' && c.status === 'True') === true,
    );
  }
  return tally;
}

function countRestarts(tally: Tally, container: ContainerStatus): void {
  tally.restarts += container.restartCount ?? 0;
  const finished = container.lastState?.terminated?.finishedAt ?? '';
  if (finished > tally.lastRestart) tally.lastRestart = finished;
}

function initReason(container: ContainerStatus, index: number, all: readonly Container[] | undefined): string {
  const { terminated, waiting } = container.state ?? {};
  if (terminated) return `Init:${terminated.reason || exitText(terminated)}`;
  if (waiting?.reason && waiting.reason !== 'PodInitializing') return `Init:${waiting.reason}`;
  return `Init:${index}/${all?.length ?? 0}`;
}

const exitText = (terminated: { signal?: number; exitCode?: number }): string =>
  terminated.signal ? `Signal:${terminated.signal}` : `ExitCode:${terminated.exitCode ?? 0}`;

/** From the last container to the first, so that the first one with something to say wins. */
function tallyContainers(containers: readonly ContainerStatus[], tally: Tally, podReady: boolean): void {
  let running = false;
  let failed = false;
  for (let i = containers.length - 1; i >= 0; i--) {
    const container = containers[i]!;
    countRestarts(tally, container);
    const { waiting, terminated, running: runs } = container.state ?? {};
    if (waiting?.reason) tally.reason = waiting.reason;
    else if (terminated) {
      // A container that ended well does not hide one that did not.
      if (!failed || terminated.exitCode !== 0) tally.reason = terminated.reason || exitText(terminated);
      failed ||= terminated.exitCode !== 0;
    } else if (container.ready === true && runs) {
      running = true;
      tally.ready++;
    }
  }
  if (tally.reason === 'Completed' && running) tally.reason = podReady ? 'Running' : 'NotReady';
}

function withDeletion({ metadata, status = {} }: Pod, reason: string): string {
  if (metadata.deletionTimestamp === undefined) return reason;
  if (status.reason === 'NodeLost') return 'Unknown';
  return status.phase === 'Succeeded' || status.phase === 'Failed' ? reason : 'Terminating';
}

function readinessGates({ spec, status = {} }: Pod): string {
  const gates = spec.readinessGates ?? [];
  if (gates.length === 0) return '<none>';
  const met = gates.filter((gate) => status.conditions?.find((c) => c.type === gate.conditionType)?.status === 'True');
  return `${met.length}/${gates.length}`;
}

const SUCCEEDED: readonly RowCondition[] = [
  { type: 'Completed', status: 'True', reason: 'Succeeded', message: 'The pod has completed successfully.' },
];
const FAILED: readonly RowCondition[] = [{ type: 'Completed', status: 'True', reason: 'Failed', message: 'The pod failed.' }];

export function podRowConditions(pod: Pod): readonly RowCondition[] | undefined {
  if (pod.status?.phase === 'Succeeded') return SUCCEEDED;
  return pod.status?.phase === 'Failed' ? FAILED : undefined;
}
