/** Each scheduling rule as a table: where a pod goes, or in which words it does not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node, Pod } from '../../machinery/api/types/core.v1.ts';
import type { Lookup } from '../framework/snapshot.ts';
import { makeCache, makeNode, makePod, place } from '../testing/fixtures.ts';

const NOT_HELPFUL = 'no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.';
const NO_VICTIMS = 'no new claims to deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.';
const app = { app: 'web' };
const near = (topologyKey: string) => [{ labelSelector: { matchLabels: app }, topologyKey }];
const spread = (over: object = {}) => [
  {
    maxSkew: 1,
    topologyKey: 'kubernetes.io/hostname',
    whenUnsatisfiable: 'DoNotSchedule' as const,
    labelSelector: { matchLabels: app },
    ...over,
  },
];

interface Case {
  readonly what: string;
  readonly nodes: readonly Node[];
  readonly pods?: readonly Pod[];
  readonly pod: Pod;
  readonly lookup?: Partial<Lookup>;
  /** Node name, or the message without what preemption says, or all of it. */
  readonly expect: string;
}

const cases: readonly Case[] = [
  {
    what: 'a cordoned node',
    nodes: [makeNode('a', { spec: { unschedulable: true } })],
    pod: makePod('p'),
    expect: `0/1 nodes are available: 1 node(s) were unschedulable. ${NOT_HELPFUL}`,
  },
  {
    what: 'a cordoned node for one who tolerates it',
    nodes: [makeNode('a', { spec: { unschedulable: true } })],
    pod: makePod('p', { spec: { tolerations: [{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' }] } }),
    expect: 'a',
  },
  {
    what: 'a taint',
    nodes: [makeNode('a', { spec: { taints: [{ key: 'k', value: 'v', effect: 'NoSchedule' }] } })],
    pod: makePod('p'),
    expect: '0/1 nodes are available: 1 node(s) had untolerated taint(s).',
  },
  {
    what: 'a tolerated taint',
    nodes: [makeNode('a', { spec: { taints: [{ key: 'k', value: 'v', effect: 'NoExecute' }] } })],
    pod: makePod('p', { spec: { tolerations: [{ key: 'k', operator: 'Equal', value: 'v' }] } }),
    expect: 'a',
  },
  {
    what: 'PreferNoSchedule',
    nodes: [makeNode('a', { spec: { taints: [{ key: 'k', effect: 'PreferNoSchedule' }] } }), makeNode('b')],
    pod: makePod('p'),
    expect: 'b',
  },
  {
    what: 'a node selector',
    nodes: [makeNode('a'), makeNode('b', { labels: { disk: 'ssd' } })],
    pod: makePod('p', { spec: { nodeSelector: { disk: 'ssd' } } }),
    expect: 'b',
  },
  {
    what: 'a node selector that matches nothing',
    nodes: [makeNode('a')],
    pod: makePod('p', { spec: { nodeSelector: { disk: 'ssd' } } }),
    expect: `0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector. ${NOT_HELPFUL}`,
  },
  ...(
    [
      ['In', ['1'], 'b'],
      ['NotIn', ['1'], 'a'],
      ['Exists', undefined, 'b'],
      ['DoesNotExist', undefined, 'a'],
      ['Gt', ['0'], 'b'],
      ['Lt', ['2'], 'b'],
    ] as const
  ).map(([operator, values, expect]) => ({
    what: `node affinity ${operator}`,
    nodes: [makeNode('a'), makeNode('b', { labels: { k: '1' } })],
    pod: makePod('p', {
      spec: {
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [{ matchExpressions: [{ key: 'k', operator, ...(values && { values: [...values] }) }] }],
            },
          },
        },
      },
    }),
    expect,
  })),
  {
    what: 'a node name that does not exist',
    nodes: [makeNode('a')],
    pod: makePod('p', {
      spec: {
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['none'] }] }],
            },
          },
        },
      },
    }),
    expect: `0/1 nodes are available: 1 node(s) didn't satisfy plugin(s) [NodeAffinity]. ${NOT_HELPFUL}`,
  },
  {
    what: 'a preferred node',
    nodes: [makeNode('a'), makeNode('b', { labels: { k: '1' } })],
    pod: makePod('p', {
      spec: {
        affinity: {
          nodeAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [
              { weight: 1, preference: { matchExpressions: [{ key: 'k', operator: 'Exists' }] } },
            ],
          },
        },
      },
    }),
    expect: 'b',
  },
  {
    what: 'more cpu than any node has',
    nodes: [makeNode('a')],
    pod: makePod('p', { requests: { cpu: '5' } }),
    expect: `0/1 nodes are available: 1 Insufficient cpu. ${NOT_HELPFUL}`,
  },
  {
    what: 'more cpu than is left',
    nodes: [makeNode('a')],
    pods: [makePod('x', { node: 'a', requests: { cpu: '3' } })],
    pod: makePod('p', { requests: { cpu: '2' } }),
    expect: `0/1 nodes are available: 1 Insufficient cpu. ${NO_VICTIMS}`,
  },
  {
    what: 'all that is missing',
    nodes: [makeNode('a')],
    pod: makePod('p', { requests: { cpu: '5', memory: '9Gi' } }),
    expect: '0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient memory.',
  },
  {
    what: 'too many pods',
    nodes: [makeNode('a', { allocatable: { pods: '1' } })],
    pods: [makePod('x', { node: 'a' })],
    pod: makePod('p'),
    expect: `0/1 nodes are available: 1 Too many pods. ${NO_VICTIMS}`,
  },
  {
    what: 'an extended resource',
    nodes: [makeNode('a'), makeNode('b', { allocatable: { 'example.com/gpu': '1' } })],
    pod: makePod('p', { requests: { 'example.com/gpu': '1' } }),
    expect: 'b',
  },
  {
    what: 'the emptier node',
    nodes: [makeNode('a'), makeNode('b')],
    pods: [makePod('x', { node: 'a', requests: { cpu: '2' } })],
    pod: makePod('p', { requests: { cpu: '1' } }),
    expect: 'b',
  },
  {
    what: 'a host port that is taken',
    nodes: [makeNode('a')],
    pods: [makePod('x', { node: 'a', spec: { containers: [{ name: 'c', ports: [{ containerPort: 80, hostPort: 80 }] }] } })],
    pod: makePod('p', { spec: { containers: [{ name: 'c', ports: [{ containerPort: 80, hostPort: 80, hostIP: '10.0.0.1' }] }] } }),
    expect: `0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports. ${NO_VICTIMS}`,
  },
  {
    what: 'the node with the image',
    nodes: [makeNode('a'), makeNode('b', { images: [{ names: ['web:1'], sizeBytes: 900 * 1024 * 1024 }] })],
    pod: makePod('p'),
    expect: 'b',
  },
  {
    what: 'affinity that matches nothing',
    nodes: [makeNode('a')],
    pod: makePod('p', {
      spec: { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: near('kubernetes.io/hostname') } } },
    }),
    expect: `0/1 nodes are available: 1 node(s) didn't match pod affinity rules. ${NOT_HELPFUL}`,
  },
  {
    what: 'affinity to itself',
    nodes: [makeNode('a')],
    pod: makePod('p', {
      labels: app,
      spec: { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: near('kubernetes.io/hostname') } } },
    }),
    expect: 'a',
  },
  {
    what: 'affinity',
    nodes: [makeNode('a'), makeNode('b')],
    pods: [makePod('x', { node: 'b', labels: app })],
    pod: makePod('p', {
      spec: { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: near('kubernetes.io/hostname') } } },
    }),
    expect: 'b',
  },
  {
    what: 'anti-affinity',
    nodes: [makeNode('a')],
    pods: [makePod('x', { node: 'a', labels: app })],
    pod: makePod('p', {
      spec: { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: near('kubernetes.io/hostname') } } },
    }),
    expect: `0/1 nodes are available: 1 node(s) didn't match pod anti-affinity rules. ${NO_VICTIMS}`,
  },
  {
    what: 'the anti-affinity of others',
    nodes: [makeNode('a')],
    pods: [
      makePod('x', {
        node: 'a',
        spec: { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: near('kubernetes.io/hostname') } } },
      }),
    ],
    pod: makePod('p', { labels: app }),
    expect: `0/1 nodes are available: 1 node(s) didn't satisfy existing pods anti-affinity rules. ${NO_VICTIMS}`,
  },
  {
    what: 'preferred anti-affinity',
    nodes: [makeNode('a'), makeNode('b')],
    pods: [makePod('x', { node: 'a', labels: app }), makePod('y', { node: 'b' })],
    pod: makePod('p', {
      spec: {
        affinity: {
          podAntiAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 10, podAffinityTerm: near('kubernetes.io/hostname')[0]! }],
          },
        },
      },
    }),
    expect: 'b',
  },
  {
    what: 'a hard spread',
    nodes: [makeNode('a'), makeNode('b', { allocatable: { cpu: '0' } })],
    pods: [makePod('x', { node: 'a', labels: app })],
    pod: makePod('p', { labels: app, requests: { cpu: '1' }, spec: { topologySpreadConstraints: spread() } }),
    expect: "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match pod topology spread constraints.",
  },
  {
    what: 'a spread over a label that no node has',
    nodes: [makeNode('a')],
    pod: makePod('p', { labels: app, spec: { topologySpreadConstraints: spread({ topologyKey: 'rack' }) } }),
    expect: `0/1 nodes are available: 1 node(s) didn't match pod topology spread constraints (missing required label). ${NOT_HELPFUL}`,
  },
  {
    what: 'fewer domains than minDomains',
    nodes: [makeNode('a')],
    pods: [makePod('x', { node: 'a', labels: app })],
    pod: makePod('p', { labels: app, spec: { topologySpreadConstraints: spread({ minDomains: 2 }) } }),
    expect: "0/1 nodes are available: 1 node(s) didn't match pod topology spread constraints.",
  },
  {
    what: 'a soft spread',
    nodes: [makeNode('a'), makeNode('b')],
    pods: [makePod('x', { node: 'a', labels: app })],
    pod: makePod('p', { labels: app, spec: { topologySpreadConstraints: spread({ whenUnsatisfiable: 'ScheduleAnyway' }) } }),
    expect: 'b',
  },
  {
    what: 'preemptionPolicy Never',
    nodes: [makeNode('a')],
    pod: makePod('p', { requests: { cpu: '5' }, spec: { preemptionPolicy: 'Never' } }),
    expect:
      '0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: not eligible due to preemptionPolicy=Never.',
  },
];

for (const { what, nodes, pods = [], pod, lookup, expect } of cases) {
  test(`${what}: ${expect}`, () => {
    const placed = place(pod, makeCache(nodes, pods, lookup));
    assert.ok(placed === expect || (expect.startsWith('0/') && placed.startsWith(`${expect} no new claims`)), placed);
  });
}

test('replicas of a ReplicaSet spread evenly over equal nodes by themselves', () => {
  const replicaSet = { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: { name: 'web' }, spec: { selector: { matchLabels: app } } };
  const zones = ['x', 'y', 'z'];
  const cache = makeCache(
    zones.map((zone) => makeNode(`n-${zone}`, { labels: { 'topology.kubernetes.io/zone': zone } })),
    [],
    { replicaSet: () => replicaSet as never },
  );
  const counts: Record<string, number> = {};
  for (let i = 0; i < 9; i++) {
    const pod = makePod(`p${i}`, { labels: app, owner: { kind: 'ReplicaSet', name: 'web' } });
    const node = place(pod, cache);
    counts[node] = (counts[node] ?? 0) + 1;
    cache.setPod({ ...pod, spec: { ...pod.spec, nodeName: node } });
  }
  assert.deepEqual(counts, { 'n-x': 3, 'n-y': 3, 'n-z': 3 });
});
