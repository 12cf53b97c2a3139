/**
 * Containers: what is common to regular, init and ephemeral ones, and the rules of regular ones. Mirrors kubernetes `core/validation`
 * validateContainerCommon and validateContainers, in their order.
 */
import { duplicate, type FieldError, invalidValue, notSupported, required, tooMany } from '../../../machinery/api/field-error.ts';
import { portName, portNumber } from '../../../machinery/api/names.ts';
import type * as core from '../../../machinery/api/types/core.v1.ts';
import { envErrors, envFromErrors } from './env.ts';
import { dnsLabelErrors } from './ip.ts';
import { mountErrors } from './mounts.ts';
import { containerSecurityErrors } from './pod-security.ts';
import { lifecycleErrors, livenessProbeErrors, readinessProbeErrors } from './probes.ts';
import { containerResourceErrors } from './resources.ts';

/** What containers of one pod share. */
export interface ContainerScope {
  readonly volumes: ReadonlyMap<string, core.Volume>;
  readonly claims: readonly core.PodResourceClaim[] | undefined;
  readonly gracePeriod: number | undefined;
  readonly restartPolicy: string;
  readonly hostUsers: boolean;
}

const PULL_POLICIES = ['Always', 'IfNotPresent', 'Never'];
const MESSAGE_POLICIES = ['File', 'FallbackToLogsOnError'];
const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];
const RESTART_POLICIES = ['Always', 'Never', 'OnFailure'];

export function containersErrors(containers: readonly core.Container[], scope: ContainerScope, path: string, errors: FieldError[]): void {
  if (containers.length === 0) {
    errors.push(required(path));
    return;
  }
  const names = new Set<string>();
  for (let i = 0; i < containers.length; i++) {
    const container = containers[i]!;
    const at = `${path}[${i}]`;
    commonErrors(container, scope, at, errors);
    if (names.has(container.name)) errors.push(duplicate(`${at}.name`, container.name));
    names.add(container.name);
    if (container.lifecycle) lifecycleErrors(container.lifecycle, scope.gracePeriod, `${at}.lifecycle`, errors);
    if (container.livenessProbe) livenessProbeErrors(container.livenessProbe, `${at}.livenessProbe`, errors);
    if (container.readinessProbe) readinessProbeErrors(container.readinessProbe, `${at}.readinessProbe`, errors);
    if (container.startupProbe) livenessProbeErrors(container.startupProbe, `${at}.startupProbe`, errors);
    if (container.restartPolicy !== undefined || container.restartPolicyRules) restartErrors(container, at, errors);
  }
  const ports = new Set<string>();
  for (let i = 0; i < containers.length; i++) hostPortConflicts(containers[i]!, ports, `${path}[${i}]`, errors);
}

export function commonErrors(container: core.Container, scope: ContainerScope, path: string, errors: FieldError[]): void {
  if (!container.name) errors.push(required(`${path}.name`));
  else dnsLabelErrors(container.name, `${path}.name`, errors);
  if (!container.image) errors.push(required(`${path}.image`));
  const messages = container.terminationMessagePolicy ?? '';
  if (messages === '') errors.push(required(`${path}.terminationMessagePolicy`));
  else if (!MESSAGE_POLICIES.includes(messages)) errors.push(notSupported(`${path}.terminationMessagePolicy`, messages, MESSAGE_POLICIES));
  if (container.ports) portErrors(container.ports, `${path}.ports`, errors);
  if (container.env) envErrors(container.env, `${path}.env`, errors);
  if (container.envFrom) envFromErrors(container.envFrom, `${path}.envFrom`, errors);
  if (container.volumeMounts || container.volumeDevices) mountErrors(container, scope.volumes, path, errors);
  const pull = container.imagePullPolicy ?? '';
  if (pull === '') errors.push(required(`${path}.imagePullPolicy`));
  else if (!PULL_POLICIES.includes(pull)) errors.push(notSupported(`${path}.imagePullPolicy`, pull, PULL_POLICIES));
  if (container.resources) containerResourceErrors(container.resources, scope.claims, `${path}.resources`, errors);
  if (container.resizePolicy) resizePolicyErrors(container.resizePolicy, scope.restartPolicy, `${path}.resizePolicy`, errors);
  if (container.securityContext) containerSecurityErrors(container.securityContext, scope.hostUsers, `${path}.securityContext`, errors);
}

function portErrors(ports: readonly core.ContainerPort[], path: string, errors: FieldError[]): void {
  const names = new Set<string>();
  ports.forEach((port, i) => {
    const at = `${path}[${i}]`;
    if (port.name) {
      const details = portName(port.name);
      for (const detail of details) errors.push(invalidValue(`${at}.name`, port.name, detail));
      if (details.length === 0) {
        if (names.has(port.name)) errors.push(duplicate(`${at}.name`, port.name));
        names.add(port.name);
      }
    }
    if (!port.containerPort) errors.push(required(`${at}.containerPort`));
    else for (const detail of portNumber(port.containerPort)) errors.push(invalidValue(`${at}.containerPort`, port.containerPort, detail));
    if (port.hostPort) for (const detail of portNumber(port.hostPort)) errors.push(invalidValue(`${at}.hostPort`, port.hostPort, detail));
    const protocol = port.protocol ?? '';
    if (protocol === '') errors.push(required(`${at}.protocol`));
    else if (!PROTOCOLS.includes(protocol)) errors.push(notSupported(`${at}.protocol`, protocol, PROTOCOLS));
  });
}

export function hostPortConflicts(container: core.Container, taken: Set<string>, path: string, errors: FieldError[]): void {
  container.ports?.forEach((port, i) => {
    if (!port.hostPort) return;
    const key = `${port.protocol ?? ''}/${port.hostIP ?? ''}/${port.hostPort}`;
    if (taken.has(key)) errors.push(duplicate(`${path}.ports[${i}].hostPort`, key));
    taken.add(key);
  });
}

const RESIZE_RESOURCES = ['cpu', 'memory'];
const RESIZE_POLICIES = ['NotRequired', 'RestartContainer'];

function resizePolicyErrors(
  policies: readonly core.ContainerResizePolicy[],
  restartPolicy: string,
  path: string,
  errors: FieldError[],
): void {
  const seen = new Set<string>();
  policies.forEach((policy, i) => {
    const { resourceName = '', restartPolicy: restart = '' } = policy;
    if (seen.has(resourceName)) errors.push(duplicate(`${path}[${i}]`, resourceName));
    seen.add(resourceName);
    if (resourceName === '') errors.push(required(path));
    else if (!RESIZE_RESOURCES.includes(resourceName)) errors.push(notSupported(path, resourceName, RESIZE_RESOURCES));
    if (restart === '') errors.push(required(path));
    else if (!RESIZE_POLICIES.includes(restart)) errors.push(notSupported(path, restart, RESIZE_POLICIES));
    if (restartPolicy === 'Never' && restart !== 'NotRequired') {
      errors.push(invalidValue(path, restart, "must be 'NotRequired' when pod `restartPolicy` is 'Never'"));
    }
  });
}

const MAX_RULES = 20;
const MAX_EXIT_CODES = 255;

/** A container's own restart policy and rules, of regular and init containers. */
export function restartErrors(container: core.Container, path: string, errors: FieldError[]): void {
  const policy = container.restartPolicy;
  const rules = container.restartPolicyRules ?? [];
  if (policy === undefined) {
    if (rules.length > 0) errors.push(required(`${path}.restartPolicy`, 'must specify restartPolicy when restart rules are used'));
  } else if (!RESTART_POLICIES.includes(policy)) errors.push(notSupported(`${path}.restartPolicy`, policy, RESTART_POLICIES));
  if (rules.length > MAX_RULES) errors.push(tooMany(`${path}.restartPolicyRules`, rules.length, MAX_RULES));
  rules.forEach((rule, i) => {
    const at = `${path}.restartPolicyRules[${i}]`;
    const actions = ['Restart', 'RestartAllContainers'];
    if (!actions.includes(rule.action)) errors.push(notSupported(`${at}.action`, rule.action ?? '', actions));
    if (!rule.exitCodes) {
      errors.push(required(`${at}.exitCodes`, 'must be specified'));
      return;
    }
    const operators = ['In', 'NotIn'];
    if (!operators.includes(rule.exitCodes.operator)) {
      errors.push(notSupported(`${at}.exitCodes.operator`, rule.exitCodes.operator ?? '', operators));
    }
    const count = rule.exitCodes.values?.length ?? 0;
    if (count > MAX_EXIT_CODES) errors.push(tooMany(`${at}.exitCodes.values`, count, MAX_EXIT_CODES));
  });
}

/** Only of pods: templates may hold images with spaces around them. */
export function imageSpaceErrors(containers: readonly { image?: string }[] | undefined, path: string, errors: FieldError[]): void {
  containers?.forEach((container, i) => {
    const image = container.image ?? '';
    if (image.trim() !== image) errors.push(invalidValue(`${path}[${i}].image`, image, 'must not have leading or trailing whitespace'));
  });
}
