/** The command line of the controllers. Upstream's names (kube-controller-manager) where upstream has the flag. */
import { clientOptions, leaderElectionOptions } from '../machinery/process/component-options.ts';
import { defineOptions, type OptionsOf } from '../machinery/process/options.ts';

export const controllersOptions = defineOptions({
  ...clientOptions,
  ...leaderElectionOptions,
  controllers: {
    type: 'list',
    default: ['*'],
    help: "loops to run: '*' all, 'foo' the one named foo, '-foo' all but foo; see the log for the names",
  },
  securePort: {
    type: 'integer',
    default: 10257,
    min: 0,
    max: 65535,
    help: 'port of health, metrics and debug pages; a free one when it is taken or 0',
  },
  rootCaFile: { type: 'string', default: '', help: 'certificates published in every namespace; empty: those of the kubeconfig' },
  clusterCidr: { type: 'string', default: '10.244.0.0/16', help: 'range that pod ranges of nodes are taken from' },
  nodeCidrMaskSize: { type: 'integer', default: 24, min: 8, max: 30, help: 'size of the pod range of a node' },
  allocateNodeCidrs: { type: 'boolean', default: true, help: 'give every node a pod range' },
  nodeMonitorPeriodMs: { type: 'duration', default: '5s', help: 'how often the health of the nodes is looked at' },
  nodeMonitorGracePeriodMs: { type: 'duration', default: '50s', help: 'how long a node may be silent before it counts as unreachable' },
  nodeStartupGracePeriodMs: { type: 'duration', default: '1m', help: 'the same for a node that has not reported yet' },
  nodeEvictionRate: { type: 'number', default: 0.1, min: 0, help: 'nodes per second whose pods are evicted, in a healthy zone' },
  secondaryNodeEvictionRate: { type: 'number', default: 0.01, min: 0, help: 'the same in an unhealthy zone of a large cluster' },
  unhealthyZoneThreshold: {
    type: 'number',
    default: 0.55,
    min: 0,
    max: 1,
    help: 'part of the nodes not ready that makes a zone unhealthy',
  },
  largeClusterSizeThreshold: { type: 'integer', default: 50, min: 0, help: 'up to so many nodes nothing is evicted in an unhealthy zone' },
  terminatedPodGcThreshold: { type: 'integer', default: 12_500, help: 'finished pods that may stay; 0 or less: any number' },
  podGcPeriodMs: { type: 'duration', default: '20s', help: 'how often pods without a node are looked for' },
  podGcQuarantineMs: { type: 'duration', default: '40s', help: 'how long a node may be missing before its pods are removed' },
  concurrentDeploymentSyncs: { type: 'integer', default: 5, min: 1, help: 'deployments worked on at once' },
  concurrentReplicasetSyncs: { type: 'integer', default: 5, min: 1, help: 'replica sets worked on at once' },
  concurrentServiceEndpointSyncs: { type: 'integer', default: 5, min: 1, help: 'services worked on at once, for endpoint slices' },
  concurrentEndpointSyncs: { type: 'integer', default: 5, min: 1, help: 'services worked on at once, for endpoints' },
  mirroringConcurrentServiceEndpointSyncs: {
    type: 'integer',
    default: 5,
    min: 1,
    help: 'services worked on at once, for mirrored endpoints',
  },
  concurrentNamespaceSyncs: { type: 'integer', default: 10, min: 1, help: 'namespaces worked on at once' },
  concurrentServiceaccountTokenSyncs: { type: 'integer', default: 5, min: 1, help: 'namespaces worked on at once, for service accounts' },
  concurrentGcSyncs: { type: 'integer', default: 20, min: 1, help: 'objects the garbage collector works on at once' },
});

export type ControllersOptions = OptionsOf<typeof controllersOptions>;
