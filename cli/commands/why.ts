/** `why`: says in plain words why a pod is not running, from its conditions, its containers' states and its events. */

import { humanDuration } from '../../machinery/api/duration.ts';
import type { ContainerStatus, Event, Pod } from '../../machinery/api/types/core.v1.ts';
import { throwAll, usageError } from '../errors.ts';
import { fetchObjects, listAll } from '../resources/fetch.ts';
import type { Session } from '../session.ts';
import type { Verb } from '../verb.ts';

export const verb: Verb = { usage: '[pod/]NAME...', run: why };

async function why(session: Session, args: readonly string[]): Promise<void> {
  if (args.length === 0) throw usageError(session.verb, 'the NAME of a pod is required');
  const mapper = await session.mapper();
  // `why pod NAME` as well as `why NAME`; `why deployment NAME` is told that it is not about a pod
  const named =
    args.length > 1 && !args[0]!.includes('/') && mapper.find(args[0]!) ? args.slice(1).map((name) => `${args[0]}/${name}`) : args;
  const words = named.map((word) => (word.includes('/') ? word : `pods/${word}`));
  const { found, errors } = await fetchObjects(session, words);
  const events = mapper.resource('events.v1.');
  for (const { object, namespace, name, resource } of found) {
    if (resource.resource !== 'pods') {
      errors.push(new Error(`why explains pods; ${resource.resource}/${name} is none`));
      continue;
    }
    const about = (await listAll(session, events, {
      namespace,
      query: { fieldSelector: `involvedObject.name=${name},involvedObject.kind=Pod` },
    })) as unknown as Event[];
    session.out(
      explain(
        object as unknown as Pod,
        about.filter((event) => event.involvedObject?.uid === object.metadata.uid),
        session.now(),
      ),
    );
  }
  throwAll(errors);
}

/** A sentence on where the pod stands, then what holds it, then the newest events that tell. Pure. */
export function explain(pod: Pod, events: readonly Event[], now: Date): string {
  const name = pod.metadata?.name ?? '';
  const lines = [`${name}: ${standing(pod, now)}`, ...reasons(pod, now).map((reason) => `  ${reason}`)];
  const warnings = events.filter((event) => event.type === 'Warning');
  const last = warnings.at(-1);
  const healthy = lines[0].endsWith('nothing is wrong.') || lines[0].endsWith('successfully.');
  if (last && !healthy && !lines.some((line) => line.includes(last.message ?? '')))
    lines.push(`  The last warning, from ${last.source?.component || last.reportingComponent || 'a component'}: ${last.message}`);
  return `${lines.join('\n')}\n`;
}

const age = (time: string | undefined, now: Date): string => (time ? humanDuration(now.getTime() - Date.parse(time)) : 'some time');

function standing(pod: Pod, now: Date): string {
  const { metadata, status, spec } = pod;
  if (metadata?.deletionTimestamp)
    return `it is being deleted; its grace period of ${metadata.deletionGracePeriodSeconds ?? 30} s ends at ${metadata.deletionTimestamp}.`;
  if (status?.phase === 'Succeeded') return 'it has run to its end, successfully.';
  if (status?.phase === 'Failed')
    return `it has failed${status.reason ? ` (${status.reason})` : ''}${status.message ? `: ${status.message}` : '.'}`;
  if (!spec?.nodeName) return `it has waited ${age(metadata?.creationTimestamp, now)} for a node.`;
  const ready = status?.conditions?.find((condition) => condition.type === 'Ready');
  if (ready?.status === 'True')
    return `it is running and ready on ${spec.nodeName} since ${age(ready.lastTransitionTime, now)}: nothing is wrong.`;
  return `it is on ${spec.nodeName}, but not ready.`;
}

function reasons(pod: Pod, now: Date): string[] {
  const { status, spec, metadata } = pod;
  const out: string[] = [];
  if ((metadata?.finalizers ?? []).length > 0 && metadata?.deletionTimestamp)
    out.push(`Finalizers keep it: ${metadata.finalizers!.join(', ')}. It goes when their owners remove them.`);
  const scheduled = status?.conditions?.find((condition) => condition.type === 'PodScheduled');
  if (!spec?.nodeName && (spec?.schedulingGates ?? []).length > 0)
    out.push(`Scheduling gates hold it: ${spec!.schedulingGates!.map((gate) => gate.name).join(', ')}.`);
  else if (!spec?.nodeName && scheduled?.status === 'False') out.push(`The scheduler found no node: ${scheduled.message}`);
  else if (!spec?.nodeName) out.push('No scheduler has looked at it yet. Is one running? See: flyball ps');
  if (
    spec?.nodeName &&
    !metadata?.deletionTimestamp &&
    (status?.conditions ?? []).every((condition) => condition.type === 'PodScheduled')
  ) {
    out.push(`The kubelet of ${spec.nodeName} has not taken it up yet. Is it running? See: flyball ps`);
  }
  for (const container of status?.initContainerStatuses ?? [])
    if (container.state?.terminated?.exitCode !== 0) out.push(containerReason(container, { kind: 'Init container', now }));
  for (const container of status?.containerStatuses ?? [])
    if (!container.ready) out.push(containerReason(container, { kind: 'Container', now }));
  return out.filter((line) => line !== '');
}

const MEANINGS: Readonly<Record<string, string>> = {
  ContainerCreating: 'is being created',
  PodInitializing: 'waits for the init containers',
  ErrImagePull: 'has an image that could not be pulled',
  ImagePullBackOff: 'has an image that could not be pulled; the next try is delayed',
  InvalidImageName: 'has an image name that is no image name',
  CrashLoopBackOff: 'keeps ending; the next start is delayed',
  CreateContainerConfigError: 'needs something that is missing, such as a config map or secret',
};

/** With a full stop, unless it has one. */
const ended = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

function containerReason(container: ContainerStatus, { kind, now }: { kind: string; now: Date }): string {
  const { waiting, running, terminated } = container.state ?? {};
  const subject = `${kind} ${container.name}`;
  if (waiting) {
    const last = container.lastState?.terminated;
    const before = last
      ? ` It ended ${age(last.finishedAt, now)} ago with exit code ${last.exitCode}${last.reason ? ` (${last.reason})` : ''}, restarted ${container.restartCount} times.`
      : '';
    return `${subject} ${MEANINGS[waiting.reason ?? ''] ?? `waits (${waiting.reason ?? 'no reason given'})`}${waiting.message ? `: ${ended(waiting.message)}` : '.'}${before}`;
  }
  if (terminated)
    return `${subject} ended ${age(terminated.finishedAt, now)} ago with exit code ${terminated.exitCode}${terminated.reason ? ` (${terminated.reason})` : ''}.`;
  if (running) return `${subject} runs since ${age(running.startedAt, now)}, but its readiness probe has not succeeded.`;
  return '';
}
