/** Containers of pods and templates. Mirrors kubectl `pkg/describe` describeContainers. */
import type { Container, ContainerState, ContainerStatus, EnvVar, Probe, ResourceRequirements } from '../../machinery/api/types/core.v1.ts';
import { boolText, type DescriptionWriter, formatDate, orNone } from './writer.ts';

/** `space` is '' in a pod and two spaces in a template; `resolve` gives the value of a field reference. */
export interface ContainersOf {
  readonly label: string;
  readonly containers: readonly Container[];
  readonly statuses: readonly ContainerStatus[];
  readonly space: string;
  readonly resolve?: (env: EnvVar) => string;
}

export function describeContainers(w: DescriptionWriter, of: ContainersOf): void {
  const { label, containers, statuses, space } = of;
  w.line(0, containers.length === 0 ? `${space}${label}: <none>` : `${space}${label}:`);
  for (const container of containers) {
    const status = statuses.find((s) => s.name === container.name);
    basics(w, container, { status, space });
    command(w, container);
    if (status) states(w, status);
    describeResources(w, container.resources, 2);
    probes(w, container);
    environment(w, container, of.resolve);
    mounts(w, container);
  }
}

function basics(w: DescriptionWriter, container: Container, { status, space }: { status?: ContainerStatus; space: string }): void {
  w.line(1, `${space === '' ? '' : ' '}${container.name}:`);
  if (status) w.field(2, 'Container ID', status.containerID ?? '');
  w.field(2, 'Image', container.image ?? '');
  if (status) w.field(2, 'Image ID', status.imageID ?? '');
  const ports = (container.ports ?? []).map((port) => `${port.containerPort}/${port.protocol ?? ''}`).join(', ');
  const hostPorts = (container.ports ?? []).map((port) => `${port.hostPort ?? 0}/${port.protocol ?? ''}`).join(', ');
  w.field(2, ports.includes(',') ? 'Ports' : 'Port', orNone(ports));
  w.field(2, hostPorts.includes(',') ? 'Host Ports' : 'Host Port', orNone(hostPorts));
}

function command(w: DescriptionWriter, container: Container): void {
  for (const [title, words] of [
    ['Command', container.command],
    ['Args', container.args],
  ] as const) {
    if (!words || words.length === 0) continue;
    w.line(2, `${title}:`);
    for (const word of words) for (const part of word.split('\n')) w.line(3, part);
  }
}

function states(w: DescriptionWriter, status: ContainerStatus): void {
  describeState(w, 'State', status.state);
  if (status.lastState?.terminated) describeState(w, 'Last State', status.lastState);
  w.field(2, 'Ready', boolText(status.ready));
  w.field(2, 'Restart Count', status.restartCount ?? 0);
}

function describeState(w: DescriptionWriter, title: string, state: ContainerState | undefined): void {
  const { running, terminated, waiting } = state ?? {};
  if (running) {
    w.field(2, title, 'Running');
    w.field(3, 'Started', formatDate(running.startedAt));
  } else if (terminated) {
    w.field(2, title, 'Terminated');
    if (terminated.reason) w.field(3, 'Reason', terminated.reason);
    if (terminated.message) w.field(3, 'Message', terminated.message);
    w.field(3, 'Exit Code', terminated.exitCode);
    if (terminated.signal) w.field(3, 'Signal', terminated.signal);
    w.field(3, 'Started', formatDate(terminated.startedAt));
    w.field(3, 'Finished', formatDate(terminated.finishedAt));
  } else {
    w.field(2, title, 'Waiting');
    if (waiting?.reason) w.field(3, 'Reason', waiting.reason);
  }
}

export function describeResources(w: DescriptionWriter, resources: ResourceRequirements | undefined, level: number): void {
  for (const [title, amounts] of [
    ['Limits', resources?.limits],
    ['Requests', resources?.requests],
  ] as const) {
    if (!amounts || Object.keys(amounts).length === 0) continue;
    w.line(level, `${title}:`);
    for (const name of Object.keys(amounts).sort()) w.field(level + 1, name, amounts[name]);
  }
}

function probes(w: DescriptionWriter, container: Container): void {
  if (container.livenessProbe) w.field(2, 'Liveness', probeText(container.livenessProbe));
  if (container.readinessProbe) w.field(2, 'Readiness', probeText(container.readinessProbe));
  if (container.startupProbe) w.field(2, 'Startup', probeText(container.startupProbe));
}

export function probeText(probe: Probe): string {
  const { initialDelaySeconds = 0, timeoutSeconds = 0, periodSeconds = 0, successThreshold = 0, failureThreshold = 0 } = probe;
  const attributes = `delay=${initialDelaySeconds}s timeout=${timeoutSeconds}s period=${periodSeconds}s #success=${successThreshold} #failure=${failureThreshold}`;
  if (probe.exec) return `exec [${(probe.exec.command ?? []).join(' ')}] ${attributes}`;
  if (probe.httpGet) {
    const { scheme = '', host = '', port, path = '' } = probe.httpGet;
    return `http-get ${scheme.toLowerCase()}${scheme ? '://' : ''}${host}:${port}${path.startsWith('/') || path === '' ? path : `/${path}`} ${attributes}`;
  }
  if (probe.tcpSocket) return `tcp-socket ${probe.tcpSocket.host ?? ''}:${probe.tcpSocket.port} ${attributes}`;
  if (probe.grpc) return `grpc <pod>:${probe.grpc.port} ${probe.grpc.service ?? ''} ${attributes}`;
  return `unknown ${attributes}`;
}

function environment(w: DescriptionWriter, container: Container, resolve: ContainersOf['resolve']): void {
  if ((container.envFrom ?? []).length > 0) {
    w.line(2, 'Environment Variables from:');
    for (const { configMapRef, secretRef, prefix } of container.envFrom!) {
      const from = configMapRef ? 'ConfigMap' : 'Secret';
      const ref = configMapRef ?? secretRef;
      w.line(3, `${ref?.name ?? ''}\t${from}${prefix ? ` with prefix '${prefix}'` : ''}\tOptional: ${ref?.optional === true}`);
    }
  }
  const env = container.env ?? [];
  w.line(2, `Environment:${env.length === 0 ? '\t<none>' : ''}`);
  for (const text of env.flatMap((variable) => variableLines(variable, resolve))) w.line(3, text);
}

function variableLines(env: EnvVar, resolve: ContainersOf['resolve']): string[] {
  const { fieldRef, resourceFieldRef, secretKeyRef, configMapKeyRef } = env.valueFrom ?? {};
  if (fieldRef) return [`${env.name}:\t${resolve?.(env) ?? ''} (${fieldRef.apiVersion ?? ''}:${fieldRef.fieldPath})`];
  if (resourceFieldRef) return [`${env.name}:\t${resolve?.(env) ?? ''} (${resourceFieldRef.resource})`];
  if (secretKeyRef)
    return [
      `${env.name}:\t<set to the key '${secretKeyRef.key}' in secret '${secretKeyRef.name}'>\tOptional: ${secretKeyRef.optional === true}`,
    ];
  if (configMapKeyRef)
    return [
      `${env.name}:\t<set to the key '${configMapKeyRef.key}' of config map '${configMapKeyRef.name}'>\tOptional: ${configMapKeyRef.optional === true}`,
    ];
  return (env.value ?? '').split('\n').map((part, i) => (i === 0 ? `${env.name}:\t${part}` : `\t${part}`));
}

function mounts(w: DescriptionWriter, container: Container): void {
  const list = [...(container.volumeMounts ?? [])].sort((a, b) => (a.mountPath < b.mountPath ? -1 : 1));
  w.line(2, `Mounts:${list.length === 0 ? '\t<none>' : ''}`);
  for (const mount of list) {
    const flags = [mount.readOnly ? 'ro' : 'rw', ...(mount.subPath ? [`path="${mount.subPath}"`] : [])];
    w.line(3, `${mount.mountPath} from ${mount.name} (${flags.join(',')})`);
  }
  const devices = [...(container.volumeDevices ?? [])].sort((a, b) => (a.devicePath < b.devicePath ? -1 : 1));
  if (devices.length > 0) w.line(2, 'Devices:');
  for (const device of devices) w.line(3, `${device.devicePath} from ${device.name}`);
}
