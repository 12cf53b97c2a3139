/** `create service clusterip|nodeport|loadbalancer|externalname`. Mirrors kubectl `cmd/create/create_service.go`. */
import { CliError } from '../errors.ts';
import type { FlagTable } from '../flags.ts';
import type { Verb } from '../verb.ts';
import { type GeneratedResource, type GeneratorCall, generatorVerb } from './generator.ts';

const resource: GeneratedResource = { group: '', version: 'v1', resource: 'services', kind: 'Service', namespaced: true };

interface Flavour {
  readonly type: string;
  readonly flags: FlagTable;
  readonly required?: readonly string[];
}

function serviceVerb(flavour: Flavour): Verb {
  return generatorVerb({
    usage: 'NAME [--tcp=<port>:<targetPort>]',
    flags: { tcp: { type: 'list', help: "Port pairs can be specified as '<port>:<targetPort>'" }, ...flavour.flags },
    required: flavour.required,
    resource,
    noun: `${flavour.type} service`,
    build: (call) => ({ labels: { app: call.name }, body: { spec: serviceSpec(call, flavour.type), status: { loadBalancer: {} } } }),
  });
}

function serviceSpec({ name, flags }: GeneratorCall, type: string): Record<string, unknown> {
  const nodePort = flags.has('node-port') ? flags.integer('node-port') : 0;
  const ports = flags.list('tcp').map((pair) => servicePort(pair, nodePort));
  const headless = flags.has('clusterip') && flags.string('clusterip') === 'None';
  if (ports.length === 0 && !headless && type !== 'ExternalName') throw new CliError('at least one tcp port specifier must be provided');
  return {
    ...(ports.length > 0 && { ports }),
    selector: { app: name },
    ...(flags.has('clusterip') && flags.string('clusterip') !== '' && { clusterIP: flags.string('clusterip') }),
    type,
    ...(flags.has('external-name') && { externalName: flags.string('external-name') }),
  };
}

/** `80`, `5678:8080`, `5678:http`. */
function servicePort(pair: string, nodePort: number): Record<string, unknown> {
  const [port, target = port] = pair.split(':');
  if (!/^\d+$/.test(port)) throw new CliError(`strconv.Atoi: parsing "${port}": invalid syntax`);
  const targetPort = /^\d+$/.test(target) ? Number(target) : target;
  return { name: pair.replaceAll(':', '-'), protocol: 'TCP', port: Number(port), targetPort, ...(nodePort > 0 && { nodePort }) };
}

const NODE_PORT: FlagTable = {
  'node-port': { type: 'integer', default: 0, help: 'Port used to expose the service on each node in a cluster' },
};
const CLUSTER_IP: FlagTable = {
  clusterip: { type: 'string', help: "Assign your own ClusterIP or set to 'None' for a 'headless' service" },
};
const EXTERNAL_NAME: FlagTable = { 'external-name': { type: 'string', help: 'External name of service' } };

export const verb: Verb = {
  usage: '(clusterip | externalname | loadbalancer | nodeport)',
  verbs: {
    clusterip: { summary: 'Create a ClusterIP service', load: async () => serviceVerb({ type: 'ClusterIP', flags: CLUSTER_IP }) },
    nodeport: { summary: 'Create a NodePort service', load: async () => serviceVerb({ type: 'NodePort', flags: NODE_PORT }) },
    loadbalancer: { summary: 'Create a LoadBalancer service', load: async () => serviceVerb({ type: 'LoadBalancer', flags: {} }) },
    externalname: {
      summary: 'Create an ExternalName service',
      load: async () => serviceVerb({ type: 'ExternalName', flags: EXTERNAL_NAME, required: ['external-name'] }),
    },
  },
};
