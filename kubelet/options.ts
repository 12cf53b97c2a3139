/** The command line of the kubelet. Upstream's names where upstream has the flag. */
import { clientOptions } from '../machinery/process/component-options.ts';
import { defineOptions, type OptionsOf } from '../machinery/process/options.ts';

export const kubeletOptions = defineOptions({
  ...clientOptions,
  nodeName: {
    type: 'string',
    default: '',
    help: "name of the node; with --nodes above 1 the part before the number. Empty: this machine's name",
  },
  nodes: { type: 'integer', default: 1, min: 1, max: 10_000, help: 'how many nodes this process simulates: NAME-0, NAME-1 …' },
  firstNode: { type: 'integer', default: 0, min: 0, help: 'number of the first of them' },
  adoptNodes: {
    type: 'boolean',
    default: false,
    help: 'also simulate nodes that others make through the API and that no kubelet looks after',
  },
  rootDir: {
    type: 'string',
    default: '.flyball/kubelet',
    help: 'where the running containers are remembered across a restart of this process',
  },
  address: { type: 'string', default: '127.0.0.1', help: 'address on which container logs are served to the API server' },
  port: { type: 'integer', default: 10250, min: 0, max: 65535, help: 'port for container logs; a free one when it is taken or 0' },
  healthzPort: {
    type: 'integer',
    default: 10248,
    min: 0,
    max: 65535,
    help: 'port of health, metrics and debug pages; a free one when it is taken or 0',
  },
  nodeIp: {
    type: 'string',
    default: '',
    help: 'address of the node as others reach it; empty: --address, or the first address of this machine when that is 0.0.0.0',
  },
  tlsCertFile: { type: 'string', default: '', help: 'certificate of the log server; empty: the client certificate of the kubeconfig' },
  tlsPrivateKeyFile: { type: 'string', default: '', help: 'key of --tls-cert-file' },
  clientCaFile: { type: 'string', default: '', help: 'authority of the certificates that may read logs; empty: the one of the kubeconfig' },
  registerNode: { type: 'boolean', default: true, help: 'make the Node object when it is missing' },
  registerWithTaints: { type: 'list', default: [], help: 'taints of a new Node: key=value:effect' },
  registerSchedulable: { type: 'boolean', default: true, help: 'false: a new Node is cordoned' },
  nodeLabels: { type: 'map', default: {}, help: 'further labels of the Node' },
  nodeZones: {
    type: 'list',
    default: ['zone-a', 'zone-b', 'zone-c'],
    help: 'zones that nodes are spread over by their number (label topology.kubernetes.io/zone); an empty value: none',
  },
  providerId: { type: 'string', default: '', help: 'spec.providerID of a new Node' },
  maxPods: { type: 'integer', default: 110, min: 0, help: 'how many pods the node takes' },
  capacity: { type: 'map', default: { cpu: '8', memory: '16Gi', 'ephemeral-storage': '100Gi' }, help: 'what the node has' },
  allocatable: { type: 'map', default: {}, help: 'what of it pods may use, where it differs' },
  nodeStatusUpdateFrequencyMs: { type: 'duration', default: '10s', help: 'how often the node status is compared with the truth' },
  nodeStatusReportFrequencyMs: { type: 'duration', default: '5m', help: 'how often it is written even when nothing changed' },
  nodeLeaseDurationSeconds: {
    type: 'integer',
    default: 40,
    min: 1,
    help: 'duration of the node lease; it is renewed after a quarter of it',
  },
  eventQps: { type: 'number', default: 50, min: 0, help: 'events per second for each node; 0: no limit' },
  eventBurst: { type: 'integer', default: 100, min: 1, help: 'events at once above --event-qps' },
  backOffInitialMs: { type: 'duration', default: '10s', help: 'first back-off of a crashing container and of a failed pull' },
  backOffMaxMs: { type: 'duration', default: '5m', help: 'longest back-off' },
});

export type KubeletOptions = OptionsOf<typeof kubeletOptions>;
