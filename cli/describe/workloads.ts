/** `describe` of Deployment, ReplicaSet, ReplicationController, DaemonSet, StatefulSet and Job. Mirrors kubectl `pkg/describe` of the same kinds. */

import { type AnyObject, controllerOf } from '../../machinery/api/object.ts';
import { formatSelector, selectorOf } from '../../machinery/api/selector.ts';
import type { DaemonSet, Deployment, ReplicaSet, StatefulSet } from '../../machinery/api/types/apps.v1.ts';
import type { Pod } from '../../machinery/api/types/core.v1.ts';
import { REVISION } from '../../machinery/api/well-known-labels.ts';
import type { DescribeContext, Describer } from './describer.ts';
import { describeEvents } from './events.ts';
import { writeTemplate } from './pod-template.ts';
import { DescriptionWriter, formatDate, labelPairs } from './writer.ts';

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
}

function writeConditions(w: DescriptionWriter, conditions: readonly Condition[] | undefined): void {
  if (!conditions || conditions.length === 0) return;
  w.line(0, 'Conditions:');
  w.line(1, 'Type\tStatus\tReason');
  w.line(1, '----\t------\t------');
  for (const { type, status, reason = '' } of conditions) w.line(1, `${type} \t${status}\t${reason}`);
}

const selectorText = (selector: Parameters<typeof selectorOf>[0]): string => formatSelector(selectorOf(selector)) || '<none>';

export const describeDeployment: Describer = async (object, context) => {
  const { metadata, spec, status } = object as unknown as Deployment;
  const w = new DescriptionWriter();
  w.scopedName(metadata);
  w.field(0, 'CreationTimestamp', formatDate(metadata?.creationTimestamp));
  w.labelsAndAnnotations(metadata);
  w.field(0, 'Selector', selectorText(spec?.selector));
  const { updatedReplicas = 0, replicas = 0, availableReplicas = 0, unavailableReplicas = 0 } = status ?? {};
  w.field(
    0,
    'Replicas',
    `${spec?.replicas ?? 0} desired | ${updatedReplicas} updated | ${replicas} total | ${availableReplicas} available | ${unavailableReplicas} unavailable`,
  );
  w.field(0, 'StrategyType', spec?.strategy?.type ?? '');
  w.field(0, 'MinReadySeconds', spec?.minReadySeconds ?? 0);
  const rolling = spec?.strategy?.rollingUpdate;
  if (rolling) w.field(0, 'RollingUpdateStrategy', `${rolling.maxUnavailable} max unavailable, ${rolling.maxSurge} max surge`);
  writeTemplate(w, spec?.template);
  writeConditions(w, status?.conditions);
  await writeReplicaSets(w, object, context);
  describeEvents(w, context);
  return w.text();
};

async function writeReplicaSets(w: DescriptionWriter, object: AnyObject, context: DescribeContext): Promise<void> {
  const deployment = object as unknown as Deployment;
  const labelSelector = formatSelector(selectorOf(deployment.spec?.selector));
  const sets = (await context.list('replicasets.apps', { namespace: object.metadata.namespace, labelSelector })).filter(
    (rs) => controllerOf(rs)?.uid === object.metadata.uid,
  ) as unknown as ReplicaSet[];
  const revision = (rs: ReplicaSet): number => Number(rs.metadata?.annotations?.[REVISION] ?? 0);
  const current = sets.toSorted((a, b) => revision(b) - revision(a))[0];
  const old = sets.filter((rs) => rs !== current);
  if (sets.length === 0) return;
  w.field(0, 'OldReplicaSets', setsText(old));
  w.field(0, 'NewReplicaSet', setsText(current ? [current] : []));
}

const setsText = (sets: readonly ReplicaSet[]): string =>
  sets.length === 0
    ? '<none>'
    : sets.map((rs) => `${rs.metadata?.name} (${rs.status?.replicas ?? 0}/${rs.spec?.replicas ?? 0} replicas created)`).join(', ');

/** Running, waiting, succeeded and failed pods that the object controls. */
async function podsStatus(object: AnyObject, context: DescribeContext, selector: string): Promise<string> {
  const pods = (await context.list('pods', { namespace: object.metadata.namespace, labelSelector: selector })).filter(
    (pod) => controllerOf(pod)?.uid === object.metadata.uid,
  ) as unknown as Pod[];
  const count = (phase: string): number => pods.filter((pod) => pod.status?.phase === phase).length;
  return `${count('Running')} Running / ${count('Pending')} Waiting / ${count('Succeeded')} Succeeded / ${count('Failed')} Failed`;
}

export const describeReplicaSet: Describer = async (object, context) => {
  const { metadata, spec, status } = object as unknown as ReplicaSet;
  const plain = object.kind === 'ReplicationController';
  const matchLabels = spec?.selector as unknown as Record<string, string> | undefined;
  const selector = plain ? labelPairs(matchLabels ?? {}).join(',') : selectorText(spec?.selector);
  const w = new DescriptionWriter();
  w.scopedName(metadata);
  w.field(0, 'Selector', selector);
  w.labelsAndAnnotations(metadata);
  const owner = controllerOf(object);
  if (owner) w.field(0, 'Controlled By', `${owner.kind}/${owner.name}`);
  w.field(0, 'Replicas', `${status?.replicas ?? 0} current / ${spec?.replicas ?? 0} desired`);
  w.field(0, 'Pods Status', await podsStatus(object, context, selector));
  writeTemplate(w, spec?.template);
  writeConditions(w, status?.conditions);
  describeEvents(w, context);
  return w.text();
};

export const describeDaemonSet: Describer = async (object, context) => {
  const { metadata, spec, status } = object as unknown as DaemonSet;
  const w = new DescriptionWriter();
  w.scopedName(metadata);
  w.field(0, 'Selector', selectorText(spec?.selector));
  w.labels('Node-Selector', spec?.template?.spec?.nodeSelector);
  w.labelsAndAnnotations(metadata);
  w.field(0, 'Desired Number of Nodes Scheduled', status?.desiredNumberScheduled ?? 0);
  w.field(0, 'Current Number of Nodes Scheduled', status?.currentNumberScheduled ?? 0);
  w.field(0, 'Number of Nodes Scheduled with Up-to-date Pods', status?.updatedNumberScheduled ?? 0);
  w.field(0, 'Number of Nodes Scheduled with Available Pods', status?.numberAvailable ?? 0);
  w.field(0, 'Number of Nodes Misscheduled', status?.numberMisscheduled ?? 0);
  w.field(0, 'Pods Status', await podsStatus(object, context, formatSelector(selectorOf(spec?.selector))));
  writeTemplate(w, spec?.template);
  describeEvents(w, context);
  return w.text();
};

export const describeStatefulSet: Describer = async (object, context) => {
  const { metadata, spec, status } = object as unknown as StatefulSet;
  const w = new DescriptionWriter();
  w.scopedName(metadata);
  w.field(0, 'CreationTimestamp', formatDate(metadata?.creationTimestamp));
  w.field(0, 'Selector', selectorText(spec?.selector));
  w.labelsAndAnnotations(metadata);
  w.field(0, 'Replicas', `${spec?.replicas ?? 0} desired | ${status?.replicas ?? 0} total`);
  w.field(0, 'Update Strategy', spec?.updateStrategy?.type ?? '');
  const partition = spec?.updateStrategy?.rollingUpdate?.partition;
  if (partition !== undefined) w.field(1, 'Partition', partition);
  w.field(0, 'Pods Status', await podsStatus(object, context, formatSelector(selectorOf(spec?.selector))));
  writeTemplate(w, spec?.template);
  writeClaims(w, spec?.volumeClaimTemplates);
  describeEvents(w, context);
  return w.text();
};

function writeClaims(w: DescriptionWriter, templates: NonNullable<StatefulSet['spec']>['volumeClaimTemplates']): void {
  if (!templates || templates.length === 0) {
    w.line(0, 'Volume Claims:\t<none>');
    return;
  }
  w.line(0, 'Volume Claims:');
  for (const { metadata, spec } of templates) {
    w.field(1, 'Name', metadata?.name);
    w.field(1, 'StorageClass', spec?.storageClassName ?? '');
    w.labels('  Labels', metadata?.labels);
    w.annotations('  Annotations', metadata?.annotations);
    w.field(1, 'Capacity', spec?.resources?.requests?.['storage'] ?? '<default>');
    w.field(1, 'Access Modes', `[${(spec?.accessModes ?? []).join(' ')}]`);
  }
}
