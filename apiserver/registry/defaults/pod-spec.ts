/**
 * Defaults of a pod's spec, in pods and in templates. Mirrors kubernetes `core/v1/defaults.go`: SetDefaults_PodSpec, SetDefaults_Container, …
 */
import { formatQuantity, parseQuantity, roundUpToMilli } from '../../../machinery/api/quantity.ts';
import type * as core from '../../../machinery/api/types/core.v1.ts';
import { type Amounts, containerAmounts } from '../admission/pod-usage.ts';
import { isPodResource } from '../validation/pod-resources.ts';
import { isHugePages } from '../validation/resources.ts';
import { defaultPullPolicy } from './image.ts';
import { defaultVolumes } from './volume.ts';

/** `spec` is a value in Go: left out, it is the zero value, and gets its defaults. */
export function defaultPodTemplate(template: core.PodTemplateSpec): void {
  template.spec ??= {} as core.PodSpec;
  defaultPodSpec(template.spec);
}

export function defaultPodSpec(spec: core.PodSpec): void {
  defaultVolumes(spec.volumes);
  for (const container of spec.initContainers ?? []) defaultContainer(container);
  for (const container of spec.containers ?? []) defaultContainer(container);
  for (const container of spec.ephemeralContainers ?? []) defaultContainer(container as core.Container);
  if (!spec.restartPolicy) spec.restartPolicy = 'Always';
  spec.terminationGracePeriodSeconds ??= 30;
  if (!spec.dnsPolicy) spec.dnsPolicy = 'ClusterFirst';
  spec.securityContext ??= {};
  if (!spec.schedulerName) spec.schedulerName = 'default-scheduler';
  if (spec.serviceAccountName) spec.serviceAccount = spec.serviceAccountName;
  else if (spec.serviceAccount) spec.serviceAccountName = spec.serviceAccount;
  const profile = spec.securityContext?.seccompProfile;
  if (profile && profile.localhostProfile === '') delete profile.localhostProfile;
}

function defaultContainer(container: core.Container): void {
  if (!container.imagePullPolicy) container.imagePullPolicy = defaultPullPolicy(container.image);
  if (!container.terminationMessagePath) container.terminationMessagePath = '/dev/termination-log';
  if (!container.terminationMessagePolicy) container.terminationMessagePolicy = 'File';
  for (const port of container.ports ?? []) if (!port.protocol) port.protocol = 'TCP';
  for (const variable of container.env ?? []) defaultEnv(variable);
  if (container.livenessProbe) defaultProbe(container.livenessProbe);
  if (container.readinessProbe) defaultProbe(container.readinessProbe);
  if (container.startupProbe) defaultProbe(container.startupProbe);
  roundResources(container.resources);
  defaultHttpGet(container.lifecycle?.postStart?.httpGet);
  defaultHttpGet(container.lifecycle?.preStop?.httpGet);
}

/** Quantities of resources are whole thousandths, rounded up (SetDefaults_ResourceList). */
function roundResources(resources: core.ResourceRequirements | undefined): void {
  for (const list of [resources?.limits, resources?.requests]) {
    for (const name in list) {
      const value = list[name]!;
      if (/[nu]$/.test(value)) list[name] = formatQuantity(roundUpToMilli(parseQuantity(value)));
    }
  }
}

function defaultEnv(variable: core.EnvVar): void {
  const source = variable.valueFrom;
  if (source === undefined || source === null) return;
  if (source.fieldRef && !source.fieldRef.apiVersion) source.fieldRef.apiVersion = 'v1';
  if (source.fileKeyRef) source.fileKeyRef.optional ??= false;
}

function defaultProbe(probe: core.Probe): void {
  if (!probe.timeoutSeconds) probe.timeoutSeconds = 1;
  if (!probe.periodSeconds) probe.periodSeconds = 10;
  if (!probe.successThreshold) probe.successThreshold = 1;
  if (!probe.failureThreshold) probe.failureThreshold = 3;
  defaultHttpGet(probe.httpGet);
  if (probe.grpc) probe.grpc.service ??= '';
}

function defaultHttpGet(get: core.HTTPGetAction | undefined): void {
  if (get === undefined || get === null) return;
  if (!get.path) get.path = '/';
  if (!get.scheme) get.scheme = 'HTTP';
}

/** What only a pod has, not a template: requests from limits, host ports, service links. */
export function defaultPod(spec: core.PodSpec): void {
  defaultRequests(spec.initContainers);
  defaultRequests(spec.containers);
  spec.enableServiceLinks ??= true;
  if (spec.hostNetwork === true) {
    defaultHostPorts(spec.containers);
    defaultHostPorts(spec.initContainers);
  }
  defaultPodResources(spec);
}

function defaultRequests(containers: core.Container[] | undefined): void {
  for (const container of containers ?? []) {
    const limits = container.resources?.limits;
    if (limits === undefined) continue;
    const requests = container.resources!.requests ?? {};
    for (const name in limits) requests[name] ??= limits[name]!;
    container.resources!.requests = requests;
  }
}

function defaultHostPorts(containers: core.Container[] | undefined): void {
  for (const container of containers ?? []) {
    for (const port of container.ports ?? []) if (!port.hostPort) port.hostPort = port.containerPort;
  }
}

/**
 * What the pod as a whole asks for follows its containers, and where they say nothing its own limits. Limits of huge pages follow the containers', unless
 * the pod asks for such pages itself: what is asked for of them is what is had.
 */
function defaultPodResources(spec: core.PodSpec): void {
  const { resources } = spec;
  if (!resources) return;
  const limits: Amounts = { ...(resources.limits as Amounts | undefined) };
  const requests: Amounts = { ...(resources.requests as Amounts | undefined) };
  if (Object.keys(limits).length + Object.keys(requests).length === 0) return;
  for (const [name, amount] of Object.entries(containerAmounts(spec, 'limits')))
    if (isHugePages(name) && requests[name] === undefined) limits[name] ??= amount;
  if (Object.keys(limits).length === 0) return;
  resources.limits = limits;
  for (const [name, amount] of Object.entries(containerAmounts(spec, 'requests')))
    if (isPodResource(name) && !isHugePages(name)) requests[name] ??= amount;
  for (const [name, amount] of Object.entries(limits)) if (isPodResource(name)) requests[name] ??= amount;
  if (Object.keys(requests).length > 0) resources.requests = requests;
}
