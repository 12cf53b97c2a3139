/**
 * The flow control objects that every cluster starts with and that its owner may change: who shares a queue with whom, and which level waits for which.
 * Mirrors kubernetes `flowcontrol/internalbootstrap`.
 */
import type {
  FlowSchemaSpec,
  PriorityLevelConfigurationSpec,
  ResourcePolicyRule,
  Subject,
} from '../../../machinery/api/types/flowcontrol.apiserver.k8s.io.v1.ts';
import { EXEMPT, everything, group } from './mandatory.ts';

const QUEUE_LENGTH = 50;

interface Level {
  readonly shares: number;
  readonly queues: number;
  readonly hand: number;
  /** Percent of its shares that others may use meanwhile. */
  readonly lends: number;
}

const limited = ({ shares, queues, hand, lends }: Level): PriorityLevelConfigurationSpec => ({
  type: 'Limited',
  limited: {
    nominalConcurrencyShares: shares,
    limitResponse: { type: 'Queue', queuing: { queues, handSize: hand, queueLengthLimit: QUEUE_LENGTH } },
    lendablePercent: lends,
  },
});

export const SUGGESTED_LEVELS: ReadonlyMap<string, PriorityLevelConfigurationSpec> = new Map([
  ['system', limited({ shares: 30, queues: 64, hand: 6, lends: 33 })],
  ['node-high', limited({ shares: 40, queues: 64, hand: 6, lends: 25 })],
  ['leader-election', limited({ shares: 10, queues: 16, hand: 4, lends: 0 })],
  ['workload-high', limited({ shares: 40, queues: 128, hand: 6, lends: 50 })],
  ['workload-low', limited({ shares: 100, queues: 128, hand: 6, lends: 90 })],
  ['global-default', limited({ shares: 20, queues: 128, hand: 6, lends: 50 })],
]);

const user = (name: string): Subject => ({ kind: 'User', user: { name } });
const systemAccounts: Subject = { kind: 'ServiceAccount', serviceAccount: { name: '*', namespace: 'kube-system' } };
const everybody = [group('system:unauthenticated'), group('system:authenticated')];
const LEADING = ['get', 'create', 'update'];

function requests(verbs: string[], apiGroup: string, resources: string[], more: Partial<ResourcePolicyRule> = {}): ResourcePolicyRule {
  return { verbs, apiGroups: [apiGroup], resources, namespaces: ['*'], ...more };
}

const leases = (verbs: string[]): ResourcePolicyRule => requests(verbs, 'coordination.k8s.io', ['leases']);

type Rules = NonNullable<FlowSchemaSpec['rules']>;
type Method = 'ByNamespace' | 'ByUser';

function schema(level: string, matchingPrecedence: number, method: Method | undefined, rules: Rules): FlowSchemaSpec {
  const distinguisherMethod = method && { type: method };
  return { priorityLevelConfiguration: { name: level }, matchingPrecedence, ...(distinguisherMethod && { distinguisherMethod }), rules };
}

const probes: Rules = [{ subjects: everybody, nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/healthz', '/readyz', '/livez'] }] }];
const systemLeaders: Rules = [
  {
    subjects: [user('system:kube-controller-manager'), user('system:kube-scheduler'), systemAccounts],
    resourceRules: [requests(LEADING, '', ['endpoints', 'configmaps'], { namespaces: ['kube-system'] }), leases(LEADING)],
  },
];
const endpointController: Rules = [
  {
    subjects: [
      user('system:kube-controller-manager'),
      ...['endpoint-controller', 'endpointslicemirroring-controller'].map(
        (name): Subject => ({ kind: 'ServiceAccount', serviceAccount: { name, namespace: 'kube-system' } }),
      ),
    ],
    resourceRules: [requests(LEADING, '', ['endpoints'])],
  },
];
const workloadLeaders: Rules = [
  { subjects: [systemAccounts], resourceRules: [requests(LEADING, '', ['endpoints', 'configmaps']), leases(LEADING)] },
];
const nodeReports: Rules = [
  {
    subjects: [group('system:nodes')],
    resourceRules: [requests(['*'], '', ['nodes', 'nodes/status'], { clusterScope: true }), leases(['*'])],
  },
];

export const SUGGESTED_SCHEMAS: ReadonlyMap<string, FlowSchemaSpec> = new Map([
  ['probes', schema(EXEMPT, 2, undefined, probes)],
  ['system-leader-election', schema('leader-election', 100, 'ByUser', systemLeaders)],
  ['endpoint-controller', schema('workload-high', 150, 'ByUser', endpointController)],
  ['workload-leader-election', schema('leader-election', 200, 'ByUser', workloadLeaders)],
  ['system-node-high', schema('node-high', 400, 'ByUser', nodeReports)],
  ['system-nodes', schema('system', 500, 'ByUser', everything([group('system:nodes')]))],
  ['kube-controller-manager', schema('workload-high', 800, 'ByNamespace', everything([user('system:kube-controller-manager')]))],
  ['kube-scheduler', schema('workload-high', 800, 'ByNamespace', everything([user('system:kube-scheduler')]))],
  ['kube-system-service-accounts', schema('workload-high', 900, 'ByNamespace', everything([systemAccounts]))],
  ['service-accounts', schema('workload-low', 9000, 'ByUser', everything([group('system:serviceaccounts')]))],
  ['global-default', schema('global-default', 9900, 'ByUser', everything(everybody))],
]);
