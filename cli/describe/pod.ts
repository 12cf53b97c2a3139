/** `describe pod`. */
import { humanDuration } from '../../machinery/api/duration.ts';
import { controllerOf, type KubeObject } from '../../machinery/api/object.ts';
import type { EnvVar, Pod } from '../../machinery/api/types/core.v1.ts';
import { compileJsonPath } from '../printers/jsonpath.ts';
import { describeContainers } from './containers.ts';
import type { DescribeContext, Describer } from './describer.ts';
import { describeEvents } from './events.ts';
import { describeSpread, describeTolerations, describeVolumes } from './volumes.ts';
import { DescriptionWriter, formatDate } from './writer.ts';

export const describePod: Describer = (object, context) => {
  const pod = object as unknown as Pod;
  const w = new DescriptionWriter();
  describeHead(w, pod, context);
  describeNetwork(w, pod);
  const { spec, status } = pod;
  const resolve = (env: EnvVar): string => fieldValue(pod, env);
  if ((spec?.initContainers ?? []).length > 0) {
    describeContainers(w, {
      label: 'Init Containers',
      containers: spec!.initContainers!,
      statuses: status?.initContainerStatuses ?? [],
      space: '',
      resolve,
    });
  }
  describeContainers(w, {
    label: 'Containers',
    containers: spec?.containers ?? [],
    statuses: status?.containerStatuses ?? [],
    space: '',
    resolve,
  });
  if ((spec?.ephemeralContainers ?? []).length > 0) {
    describeContainers(w, {
      label: 'Ephemeral Containers',
      containers: spec!.ephemeralContainers as never,
      statuses: status?.ephemeralContainerStatuses ?? [],
      space: '',
      resolve,
    });
  }
  describeConditions(w, pod);
  describeVolumes(w, spec?.volumes, '');
  w.field(0, 'QoS Class', status?.qosClass ?? '');
  w.labels('Node-Selectors', spec?.nodeSelector);
  describeTolerations(w, 'Tolerations', spec?.tolerations);
  describeSpread(w, spec?.topologySpreadConstraints, '');
  describeEvents(w, context);
  return w.text();
};

function describeHead(w: DescriptionWriter, { metadata, spec, status }: Pod, { session }: DescribeContext): void {
  w.scopedName(metadata);
  if (spec?.priority !== undefined) w.field(0, 'Priority', spec.priority);
  if (spec?.priorityClassName) w.field(0, 'Priority Class Name', spec.priorityClassName);
  if (spec?.runtimeClassName) w.field(0, 'Runtime Class Name', spec.runtimeClassName);
  if (spec?.serviceAccountName) w.field(0, 'Service Account', spec.serviceAccountName);
  w.field(0, 'Node', spec?.nodeName ? `${spec.nodeName}/${status?.hostIP ?? ''}` : '<none>');
  if (status?.startTime) w.field(0, 'Start Time', formatDate(status.startTime));
  w.labelsAndAnnotations(metadata);
  if (metadata?.deletionTimestamp && status?.phase !== 'Failed' && status?.phase !== 'Succeeded') {
    w.field(0, 'Status', `Terminating (lasts ${humanDuration(session.now().getTime() - Date.parse(metadata.deletionTimestamp))})`);
    w.field(0, 'Termination Grace Period', `${metadata.deletionGracePeriodSeconds ?? 0}s`);
  } else w.field(0, 'Status', status?.phase ?? '');
  if (status?.reason) w.field(0, 'Reason', status.reason);
  if (status?.message) w.field(0, 'Message', status.message);
  const seccomp = spec?.securityContext?.seccompProfile;
  if (seccomp) {
    w.field(0, 'SeccompProfile', seccomp.type);
    if (seccomp.type === 'Localhost') w.field(0, 'LocalhostProfile', seccomp.localhostProfile);
  }
}

function describeNetwork(w: DescriptionWriter, pod: Pod): void {
  const { status } = pod;
  w.field(0, 'IP', status?.podIP ?? '');
  const addresses = status?.podIPs ?? [];
  if (addresses.length === 0) w.line(0, 'IPs:\t<none>');
  else {
    w.line(0, 'IPs:');
    for (const { ip } of addresses) w.field(1, 'IP', ip);
  }
  const owner = controllerOf(pod as KubeObject);
  if (owner) w.field(0, 'Controlled By', `${owner.kind}/${owner.name}`);
  if (status?.nominatedNodeName) w.field(0, 'NominatedNodeName', status.nominatedNodeName);
}

function describeConditions(w: DescriptionWriter, { spec, status }: Pod): void {
  const conditions = status?.conditions ?? [];
  if ((spec?.readinessGates ?? []).length > 0) {
    w.line(0, 'Readiness Gates:');
    w.line(1, 'Type\tStatus');
    for (const { conditionType } of spec!.readinessGates!)
      w.line(1, `${conditionType} \t${conditions.find((c) => c.type === conditionType)?.status ?? '<none>'} `);
  }
  if (conditions.length === 0) return;
  w.line(0, 'Conditions:');
  w.line(1, 'Type\tStatus');
  for (const { type, status: value } of conditions) w.line(1, `${type} \t${value} `);
}

function fieldValue(pod: Pod, env: EnvVar): string {
  const path = env.valueFrom?.fieldRef?.fieldPath ?? '';
  const key = /^(metadata\.(?:labels|annotations))\['(.+)'\]$/.exec(path);
  const template = key ? `{.${key[1]}['${key[2]}']}` : `{.${path}}`;
  return path === '' ? '' : compileJsonPath(template, { allowMissing: true }).print(pod);
}
