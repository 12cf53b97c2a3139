/**
 * Probes and lifecycle handlers. Mirrors kubernetes `core/validation` validateProbe and validateHandler.
 */
import { type FieldError, forbiddenField, invalidValue, notSupported, required } from '../../../machinery/api/field-error.ts';
import { httpHeaderName, portName, portNumber } from '../../../machinery/api/names.ts';
import type * as core from '../../../machinery/api/types/core.v1.ts';
import { nonNegative } from './numbers.ts';

interface Handler {
  readonly exec?: core.ExecAction;
  readonly httpGet?: core.HTTPGetAction;
  readonly tcpSocket?: core.TCPSocketAction;
  readonly grpc?: core.GRPCAction;
  readonly sleep?: core.SleepAction;
}

export function livenessProbeErrors(probe: core.Probe, path: string, errors: FieldError[]): void {
  probeErrors(probe, path, errors);
  if (probe.successThreshold !== 1) errors.push(invalidValue(`${path}.successThreshold`, probe.successThreshold ?? 0, 'must be 1'));
}

export function readinessProbeErrors(probe: core.Probe, path: string, errors: FieldError[]): void {
  probeErrors(probe, path, errors);
  if (probe.terminationGracePeriodSeconds !== undefined) {
    errors.push(
      invalidValue(`${path}.terminationGracePeriodSeconds`, probe.terminationGracePeriodSeconds, 'must not be set for readinessProbes'),
    );
  }
}

function probeErrors(probe: core.Probe, path: string, errors: FieldError[]): void {
  handlerErrors(probe, undefined, path, errors);
  nonNegative(probe.initialDelaySeconds, `${path}.initialDelaySeconds`, errors);
  nonNegative(probe.timeoutSeconds, `${path}.timeoutSeconds`, errors);
  nonNegative(probe.periodSeconds, `${path}.periodSeconds`, errors);
  nonNegative(probe.successThreshold, `${path}.successThreshold`, errors);
  nonNegative(probe.failureThreshold, `${path}.failureThreshold`, errors);
  const grace = probe.terminationGracePeriodSeconds;
  if (grace !== undefined && grace <= 0)
    errors.push(invalidValue(`${path}.terminationGracePeriodSeconds`, grace, 'must be greater than 0'));
}

export function lifecycleErrors(lifecycle: core.Lifecycle, gracePeriod: number | undefined, path: string, errors: FieldError[]): void {
  if (lifecycle.postStart) handlerErrors(lifecycle.postStart, gracePeriod, `${path}.postStart`, errors);
  if (lifecycle.preStop) handlerErrors(lifecycle.preStop, gracePeriod, `${path}.preStop`, errors);
}

const HANDLERS = ['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep'] as const;

/** Exactly one handler; the first is checked, further ones are refused. */
function handlerErrors(handler: Handler, gracePeriod: number | undefined, path: string, errors: FieldError[]): void {
  let found = 0;
  for (const name of HANDLERS) {
    if (!handler[name]) continue;
    if (found++ > 0) errors.push(forbiddenField(`${path}.${name}`, 'may not specify more than 1 handler type'));
    else oneHandlerErrors(handler, gracePeriod, path, errors);
  }
  if (found === 0) errors.push(required(path, 'must specify a handler type'));
}

function oneHandlerErrors(
  { exec, httpGet, tcpSocket, grpc, sleep }: Handler,
  gracePeriod: number | undefined,
  path: string,
  errors: FieldError[],
): void {
  if (exec) {
    if ((exec.command?.length ?? 0) === 0) errors.push(required(`${path}.exec.command`));
  } else if (httpGet) httpErrors(httpGet, `${path}.httpGet`, errors);
  else if (tcpSocket) portErrors(tcpSocket.port, `${path}.tcpSocket.port`, errors);
  else if (grpc) portErrors(grpc.port, `${path}.grpc.port`, errors);
  else if (sleep && gracePeriod !== undefined && ((sleep.seconds ?? 0) < 0 || (sleep.seconds ?? 0) > gracePeriod)) {
    const detail = `must be non-negative and less than terminationGracePeriodSeconds (${gracePeriod})`;
    errors.push(invalidValue(`${path}.sleep`, sleep.seconds ?? 0, detail));
  }
}

function httpErrors(get: core.HTTPGetAction, path: string, errors: FieldError[]): void {
  if (!get.path) errors.push(required(`${path}.path`));
  portErrors(get.port, `${path}.port`, errors);
  if (get.scheme !== 'HTTP' && get.scheme !== 'HTTPS') errors.push(notSupported(`${path}.scheme`, get.scheme ?? '', ['HTTP', 'HTTPS']));
  for (const header of get.httpHeaders ?? []) {
    for (const detail of httpHeaderName(header.name ?? '')) errors.push(invalidValue(`${path}.httpHeaders`, header.name ?? '', detail));
  }
}

export function portErrors(port: number | string | undefined, path: string, errors: FieldError[]): void {
  const details = typeof port === 'string' ? portName(port) : portNumber(port ?? 0);
  for (const detail of details) errors.push(invalidValue(path, port ?? 0, detail));
}
