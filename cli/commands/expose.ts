/** `expose`: makes a Service for the pods of a workload. Mirrors kubectl `cmd/expose`. */
import type { AnyObject } from '../../machinery/api/object.ts';
import type { Service } from '../../machinery/api/types/core.v1.ts';
import { CliError } from '../errors.ts';
import type { Flags } from '../flags.ts';
import { assemble, createGenerated } from '../generators/generator.ts';
import { actOnEach, fetchObjects } from '../resources/fetch.ts';
import { podSpecOf } from '../resources/pod-spec.ts';
import type { Session } from '../session.ts';
import type { Verb } from '../verb.ts';
import { DRY_RUN_FLAG, FILE_FLAGS, managerFlag, OUTPUT_FLAGS } from '../verb-flags.ts';

export const SERVICES = { group: '', version: 'v1', resource: 'services', kind: 'Service', namespaced: true };

export const verb: Verb = {
  usage:
    '(-f FILENAME | TYPE NAME) [--port=port] [--protocol=TCP|UDP|SCTP] [--target-port=number-or-name] [--name=name] [--external-ip=external-ip-of-service] [--type=type]',
  flags: {
    ...FILE_FLAGS,
    ...OUTPUT_FLAGS,
    ...DRY_RUN_FLAG,
    ...managerFlag('kubectl-expose'),
    port: { type: 'string', help: 'The port that the service should serve on. Copied from the resource being exposed, if unspecified' },
    'target-port': { type: 'string', help: 'Name or number for the port on the container that the service should direct traffic to' },
    protocol: { type: 'string', help: "The network protocol for the service to be created. Default is 'TCP'" },
    type: { type: 'string', help: "Type for this service: ClusterIP, NodePort, LoadBalancer, or ExternalName. Default is 'ClusterIP'" },
    name: { type: 'string', help: 'The name for the newly created object' },
    selector: { type: 'string', help: 'A label selector to use for this service' },
    labels: { type: 'string', short: 'l', help: 'Labels to apply to the service created by this call' },
    'external-ip': { type: 'string', help: 'Additional external IP address (not managed by Kubernetes) to accept for the service' },
    'load-balancer-ip': { type: 'string', help: 'IP to assign to the LoadBalancer' },
    'cluster-ip': { type: 'string', help: "ClusterIP to be assigned to the service. Leave empty to auto-allocate, or set to 'None'" },
    'session-affinity': {
      type: 'string',
      help: "If non-empty, set the session affinity for the service to this; legal values: 'None', 'ClientIP'",
    },
    'save-config': { type: 'boolean', help: 'If true, the configuration of current object will be saved in its annotation' },
  },
  run: expose,
};

async function expose(session: Session, args: readonly string[]): Promise<void> {
  const { flags } = session;
  const { found, errors } = await fetchObjects(session, args, { needsNames: true });
  await actOnEach(found, errors, async ({ object, resource, name }) => {
    const exposable = ['pods', 'services', 'replicationcontrollers', 'deployments', 'replicasets'];
    if (!exposable.includes(resource.resource))
      throw new CliError(`cannot expose a ${object.kind}${resource.group === '' ? '' : `.${resource.group}`}`);
    const made = { labels: labelsFor(flags, object), body: { spec: serviceSpec(flags, object), status: { loadBalancer: {} } } };
    await createGenerated(session, SERVICES, assemble(SERVICES, flags.string('name') || name.slice(0, 63), { made, session }));
  });
}

function labelsFor(flags: Flags, object: AnyObject): Record<string, string> | undefined {
  if (flags.string('labels') !== '') return labelPairs(flags.string('labels'));
  return object.metadata.labels;
}

export function labelPairs(text: string): Record<string, string> {
  return Object.fromEntries(
    text.split(',').map((pair) => {
      const parts = pair.split('=');
      if (parts.length !== 2) throw new CliError(`unexpected label spec: ${pair}`);
      return [parts[0], parts[1]];
    }),
  );
}

function serviceSpec(flags: Flags, object: AnyObject): Record<string, unknown> {
  const ports = portsFor(flags, object);
  const clusterIP = flags.string('cluster-ip');
  return {
    ...(ports.length > 0 && { ports }),
    selector: flags.string('selector') === '' ? selectorOf(object) : labelPairs(flags.string('selector')),
    ...(clusterIP && { clusterIP }),
    ...(flags.string('type') && { type: flags.string('type') }),
    ...(flags.string('external-ip') && { externalIPs: [flags.string('external-ip')] }),
    ...(flags.string('session-affinity') && { sessionAffinity: flags.string('session-affinity') }),
    ...(flags.string('load-balancer-ip') && { loadBalancerIP: flags.string('load-balancer-ip') }),
  };
}

function selectorOf(object: AnyObject): Record<string, string> {
  const spec = (object.spec ?? {}) as {
    selector?: { matchLabels?: Record<string, string>; matchExpressions?: unknown[] } & Record<string, unknown>;
  };
  if (object.kind === 'Pod') {
    if (Object.keys(object.metadata.labels ?? {}).length === 0)
      throw new CliError("couldn't retrieve selectors via --selector flag or introspection: the pod has no labels and cannot be exposed");
    return object.metadata.labels!;
  }
  if (object.kind === 'Service' || object.kind === 'ReplicationController') {
    if (!spec.selector)
      throw new CliError(
        `couldn't retrieve selectors via --selector flag or introspection: the ${object.kind.toLowerCase()} has no pod selector set`,
      );
    return spec.selector as unknown as Record<string, string>;
  }
  if ((spec.selector?.matchExpressions ?? []).length > 0)
    throw new CliError(
      `couldn't retrieve selectors via --selector flag or introspection: couldn't convert expressions - "${JSON.stringify(spec.selector?.matchExpressions)}" to map-based selector format`,
    );
  return spec.selector?.matchLabels ?? {};
}

interface ExposedPort {
  readonly port: number;
  readonly protocol: string;
}

function exposedPorts(object: AnyObject): ExposedPort[] {
  if (object.kind === 'Service')
    return ((object as unknown as Service).spec?.ports ?? []).map(({ port, protocol = 'TCP' }) => ({ port, protocol }));
  return (podSpecOf(object).containers ?? []).flatMap((container) =>
    (container.ports ?? []).map(({ containerPort, protocol = 'TCP' }) => ({ port: containerPort, protocol })),
  );
}

function portsFor(flags: Flags, object: AnyObject): Record<string, unknown>[] {
  const known = exposedPorts(object);
  const given = flags.string('port') === '' ? [] : flags.string('port').split(',');
  if (given.length === 0 && known.length === 0 && flags.string('cluster-ip') !== 'None')
    throw new CliError("couldn't find port via --port flag or introspection");
  const numbers = given.length > 0 ? given.map(portNumber) : [...new Set(known.map((p) => p.port))];
  return numbers
    .flatMap((port) => {
      const own = known.filter((p) => p.port === port).map((p) => p.protocol);
      const protocols = flags.string('protocol') !== '' ? [flags.string('protocol')] : own.length > 0 ? own : ['TCP'];
      return protocols.map((protocol) => ({ port, protocol, named: numbers.length > 1 || protocols.length > 1 }));
    })
    .map(({ port, protocol, named }, i) => ({
      ...(named && { name: `port-${i + 1}` }),
      protocol,
      port,
      targetPort: targetPort(flags, port),
    }));
}

function portNumber(text: string): number {
  if (!/^\d+$/.test(text)) throw new CliError(`strconv.Atoi: parsing "${text}": invalid syntax`);
  return Number(text);
}

function targetPort(flags: Flags, port: number): number | string {
  const text = flags.string('target-port');
  if (text === '') return port;
  return /^\d+$/.test(text) ? Number(text) : text;
}
