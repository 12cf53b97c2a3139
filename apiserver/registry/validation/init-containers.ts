/**
 * Init and ephemeral containers. Mirrors kubernetes `core/validation` validateInitContainers and validateEphemeralContainers.
 */
import { duplicate, type FieldError, forbiddenField, invalidValue, notFoundValue } from '../../../machinery/api/field-error.ts';
import type * as core from '../../../machinery/api/types/core.v1.ts';
import { type ContainerScope, commonErrors, hostPortConflicts, restartErrors } from './containers.ts';
import { lifecycleErrors, livenessProbeErrors, readinessProbeErrors } from './probes.ts';

const ONLY_SIDECARS = 'may not be set for init containers without restartPolicy=Always';

export function initContainersErrors(spec: core.PodSpec, scope: ContainerScope, path: string, errors: FieldError[]): void {
  const names = new Set((spec.containers ?? []).map((c) => c.name));
  spec.initContainers!.forEach((container, i) => {
    const at = `${path}[${i}]`;
    commonErrors(container, scope, at, errors);
    if (container.restartPolicy !== undefined || container.restartPolicyRules) restartErrors(container, at, errors);
    if (names.has(container.name)) errors.push(duplicate(`${at}.name`, container.name));
    else if (container.name) names.add(container.name);
    // they run one by one, so that each is looked at alone, and named as the first
    hostPortConflicts(container, new Set(), `${path}[0]`, errors);
    if (container.restartPolicy === 'Always') {
      if (container.lifecycle) lifecycleErrors(container.lifecycle, scope.gracePeriod, `${at}.lifecycle`, errors);
      if (container.livenessProbe) livenessProbeErrors(container.livenessProbe, `${at}.livenessProbe`, errors);
      if (container.readinessProbe) readinessProbeErrors(container.readinessProbe, `${at}.readinessProbe`, errors);
      if (container.startupProbe) livenessProbeErrors(container.startupProbe, `${at}.startupProbe`, errors);
      return;
    }
    for (const field of ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const) {
      if (container[field]) errors.push(forbiddenField(`${at}.${field}`, ONLY_SIDECARS));
    }
    container.resizePolicy?.forEach(({ restartPolicy }, j) => {
      if (restartPolicy !== 'RestartContainer') return;
      const detail = "must not be set to 'RestartContainer' for non-sidecar initContainers";
      errors.push(invalidValue(`${at}.resizePolicy[${j}].restartPolicy`, restartPolicy, detail));
    });
  });
}

/** In the order of the Go type. */
const NOT_FOR_EPHEMERAL = [
  'ports',
  'resources',
  'resizePolicy',
  'restartPolicy',
  'restartPolicyRules',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'lifecycle',
] as const;
const NOT_ALLOWED = 'cannot be set for an Ephemeral Container';

export function ephemeralContainersErrors(spec: core.PodSpec, scope: ContainerScope, path: string, errors: FieldError[]): void {
  const others = new Set([...(spec.containers ?? []), ...(spec.initContainers ?? [])].map((c) => c.name));
  const names = new Set(others);
  spec.ephemeralContainers!.forEach((container, i) => {
    const at = `${path}[${i}]`;
    commonErrors(container as core.Container, scope, at, errors);
    const image = container.image ?? '';
    if (image.trim() !== image) errors.push(invalidValue(`${at}.image`, image, 'must not have leading or trailing whitespace'));
    if (names.has(container.name)) errors.push(duplicate(`${at}.name`, container.name));
    names.add(container.name);
    const target = container.targetContainerName;
    if (target && !others.has(target)) errors.push(notFoundValue(`${at}.targetContainerName`, target));
    for (const field of NOT_FOR_EPHEMERAL) {
      if (isSet((container as unknown as Record<string, unknown>)[field])) errors.push(forbiddenField(`${at}.${field}`, NOT_ALLOWED));
    }
    container.volumeMounts?.forEach((mount, j) => {
      if (mount.subPath) errors.push(forbiddenField(`${at}.volumeMounts[${j}].subPath`, NOT_ALLOWED));
      if (mount.subPathExpr) errors.push(forbiddenField(`${at}.volumeMounts[${j}].subPathExpr`, NOT_ALLOWED));
    });
  });
}

/** An empty struct or list is Go's zero value: not set. */
function isSet(value: unknown): boolean {
  if (value === undefined || value === null) return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}
