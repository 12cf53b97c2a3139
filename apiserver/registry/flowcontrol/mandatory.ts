/**
 * The flow control objects that every cluster has and that may not differ: requests of masters pass, what nothing else matches is caught.
 * Mirrors kubernetes `flowcontrol/internalbootstrap`.
 */
import type {
  FlowSchemaSpec,
  PriorityLevelConfigurationSpec,
  Subject,
} from '../../../machinery/api/types/flowcontrol.apiserver.k8s.io.v1.ts';

export const EXEMPT = 'exempt';
const CATCH_ALL = 'catch-all';

export const group = (name: string): Subject => ({ kind: 'Group', group: { name } });

/** All requests of the subjects. */
export const everything = (subjects: Subject[]): NonNullable<FlowSchemaSpec['rules']> => [
  {
    subjects,
    resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
    nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  },
];

export const MANDATORY_SCHEMAS: ReadonlyMap<string, FlowSchemaSpec> = new Map([
  [EXEMPT, { priorityLevelConfiguration: { name: EXEMPT }, matchingPrecedence: 1, rules: everything([group('system:masters')]) }],
  [
    CATCH_ALL,
    {
      priorityLevelConfiguration: { name: CATCH_ALL },
      matchingPrecedence: 10000,
      distinguisherMethod: { type: 'ByUser' },
      rules: everything([group('system:unauthenticated'), group('system:authenticated')]),
    },
  ],
]);

export const MANDATORY_LEVELS: ReadonlyMap<string, PriorityLevelConfigurationSpec> = new Map([
  [EXEMPT, { type: 'Exempt', exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } }],
  [CATCH_ALL, { type: 'Limited', limited: { nominalConcurrencyShares: 5, limitResponse: { type: 'Reject' }, lendablePercent: 0 } }],
]);
