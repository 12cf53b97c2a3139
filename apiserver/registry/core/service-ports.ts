/**
 * Node ports and the health check port of one write of a service. Mirrors the port part of kubernetes `pkg/registry/core/service/storage/alloc.go`
 * and `portallocator` PortAllocationOperation: a dry run refuses what is taken, but neither looks at the range nor takes anything.
 */
import { type FieldError, invalidValue } from '../../../machinery/api/field-error.ts';
import { internalError, unclassified } from '../../../machinery/api/status.ts';
import type { Service, ServicePort } from '../../../machinery/api/types/core.v1.ts';
import type { PortRange } from '../allocators/ranges.ts';
import { portClaim, type ServiceClaims } from '../allocators/service-claims.ts';
import { needsHealthCheck, needsNodePort } from './service-fields.ts';

/** The ports that one write takes. */
export interface PortOperation {
  /** Takes a port that was asked for; says why not. */
  take(port: number): string | undefined;
  /** Takes any port. */
  next(): number;
}

const TAKEN = 'provided port is already allocated';
/** What a dry run shows for a port that nobody asked for follows this. */
const DRY_RUN_PORT = 32768;

export function portOperation(ports: PortRange, claims: ServiceClaims, take: (claim: string) => boolean): PortOperation {
  const own = new Set<number>();
  return {
    take(port) {
      const why = ports.refusal(port) ?? (own.has(port) || !take(portClaim(port)) ? TAKEN : undefined);
      if (why === undefined) own.add(port);
      return why;
    },
    next() {
      for (;;) {
        const port = ports.next(claims);
        if (port === undefined) throw internalError('failed to allocate a nodePort: range is full');
        if (own.has(port) || !take(portClaim(port))) continue;
        own.add(port);
        return port;
      }
    },
  };
}

export function dryPortOperation(claims: ServiceClaims): PortOperation {
  const own = new Set<number>();
  return {
    take(port) {
      if (own.has(port) || !claims.isFree(portClaim(port))) return TAKEN;
      own.add(port);
      return undefined;
    },
    next() {
      const port = Math.max(own.size === 0 ? DRY_RUN_PORT : 0, ...own) + 1;
      own.add(port);
      return port;
    },
  };
}

type Refuse = (errors: readonly FieldError[]) => Error;

/** Fills the ports that are left open, and takes those that are new. */
export function allocatePorts(service: Service, old: Service | undefined, operation: PortOperation, refuse: Refuse): void {
  const spec = service.spec!;
  if (needsNodePort(spec)) {
    const take = (index: number, port: number): void => {
      const why = operation.take(port);
      if (why !== undefined) throw refuse([invalidValue(`spec.ports[${index}].nodePort`, port, why)]);
    };
    if (old === undefined) fillNodePorts(service, operation, take);
    else updateNodePorts(service, old, operation, take);
  }
  if (!needsHealthCheck(spec) || (old?.spec !== undefined && needsHealthCheck(old.spec))) return;
  const asked = spec.healthCheckNodePort ?? 0;
  if (asked === 0) {
    spec.healthCheckNodePort = operation.next();
    return;
  }
  const why = operation.take(asked);
  if (why !== undefined) throw internalError(`failed to allocate requested HealthCheck NodePort ${asked}: ${why}`);
}

type Take = (index: number, port: number) => void;

/** Load balancers may do without node ports; those that are asked for are taken all the same. */
const fillsPorts = ({ spec = {} }: Service): boolean => spec.type === 'NodePort' || spec.allocateLoadBalancerNodePorts !== false;

/** Ports of one number (of different protocols) have one node port, if any of them asks for one or none does. */
function fillNodePorts(service: Service, operation: PortOperation, take: Take): void {
  const ports = service.spec?.ports ?? [];
  const known = new Map<number, number>();
  ports.forEach((port, i) => {
    if (!port.nodePort && !fillsPorts(service)) return;
    const given = known.get(port.port);
    if (given === undefined) {
      const asked = ports.find((p) => p.port === port.port && p.nodePort)?.nodePort;
      if (asked !== undefined) take(i, asked);
      port.nodePort = asked ?? operation.next();
      known.set(port.port, port.nodePort);
    } else if (!port.nodePort) port.nodePort = given;
    else if (port.nodePort !== given) take(i, port.nodePort);
  });
}

function updateNodePorts(service: Service, old: Service, operation: PortOperation, take: Take): void {
  const held = new Set((old.spec?.ports ?? []).map((port) => port.nodePort ?? 0));
  const taken = new Set<number>();
  const seen = new Set<string>();
  service.spec?.ports?.forEach((port, i) => {
    if (!port.nodePort && !fillsPorts(service)) return;
    if (!port.nodePort) port.nodePort = operation.next();
    else if (!held.has(port.nodePort) && !taken.has(port.nodePort)) {
      take(i, port.nodePort);
      taken.add(port.nodePort);
    }
    const key = portKey(port);
    if (seen.has(key)) throw unclassified(`duplicate nodePort: {${port.protocol} ${port.nodePort}}`);
    seen.add(key);
  });
}

const portKey = ({ protocol, nodePort }: ServicePort): string => `${protocol}/${nodePort}`;
