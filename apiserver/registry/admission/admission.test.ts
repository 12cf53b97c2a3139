/** Admission beside the kinds: bounds of a namespace, room of a quota, levels of pod security. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../../machinery/api/object.ts';
import type * as core from '../../../machinery/api/types/core.v1.ts';
import type { StrategyContext } from '../resource.ts';
import { limitRanger } from './limit-ranger.ts';
import type { AdmissionRequest } from './plugin.ts';
import { levelLabelErrors, levelOf, violationsOf, violationsText } from './pod-security-levels.ts';
import { podAmounts } from './pod-usage.ts';
import { scopesMatch } from './quota-match.ts';
import { evaluatorOf } from './quota-usage.ts';

type Amounts = Record<string, string>;

const container = (name: string, requests?: Amounts, limits?: Amounts, more: object = {}): core.Container =>
  ({ name, image: 'i', resources: { ...(requests && { requests }), ...(limits && { limits }) }, ...more }) as core.Container;

const pod = (spec: Partial<core.PodSpec>): core.Pod =>
  ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace: 'n' }, spec: { containers: [], ...spec } }) as core.Pod;

test('a pod asks for what runs together, or for the largest of what starts before', () => {
  const cases: [Partial<core.PodSpec>, Amounts][] = [
    [{ containers: [container('a', { cpu: '1' }), container('b', { cpu: '500m' })] }, { cpu: '1500m' }],
    [{ containers: [container('a', { cpu: '1' })], initContainers: [container('i', { cpu: '3' })] }, { cpu: '3' }],
    [
      {
        containers: [container('a', { cpu: '1' })],
        initContainers: [container('s', { cpu: '1' }, undefined, { restartPolicy: 'Always' }), container('i', { cpu: '2' })],
      },
      { cpu: '3' },
    ],
    [{ containers: [container('a', { cpu: '1' })], overhead: { cpu: '250m' } as never }, { cpu: '1250m' }],
  ];
  for (const [spec, expected] of cases) assert.deepEqual(podAmounts(pod(spec), 'requests'), expected);
});

const range = (...limits: object[]): core.LimitRange =>
  ({ apiVersion: 'v1', kind: 'LimitRange', metadata: { name: 'l', namespace: 'n' }, spec: { limits } }) as unknown as core.LimitRange;

const requestOf = (object: core.Pod, ranges: core.LimitRange[]): AdmissionRequest => ({
  group: '',
  resource: 'pods',
  subresource: '',
  object: object as unknown as KubeObject,
  old: undefined,
  context: { reader: { get: () => undefined, list: () => ranges } } as unknown as StrategyContext,
});

test('containers get what a limit range says where they say nothing, and a note of it', () => {
  const object = pod({ containers: [container('a', { cpu: '50m' })], initContainers: [container('i')] });
  const request = requestOf(object, [range({ type: 'Container', default: { cpu: '1' }, defaultRequest: { cpu: '100m', memory: '1Mi' } })]);
  void limitRanger.mutate!(request);
  assert.deepEqual(object.spec.containers[0]!.resources, { requests: { cpu: '50m', memory: '1Mi' }, limits: { cpu: '1' } });
  assert.equal(
    object.metadata.annotations?.['kubernetes.io/limit-ranger'],
    'LimitRanger plugin set: memory request for container a; cpu limit for container a; cpu, memory request for init container i; cpu limit for init container i',
  );
});

test('pods beyond the bounds of a limit range are refused with all reasons', () => {
  const cases: [object, Amounts | undefined, Amounts | undefined, RegExp | undefined][] = [
    [{ type: 'Container', max: { cpu: '1' } }, undefined, { cpu: '1' }, undefined],
    [{ type: 'Container', max: { cpu: '1' } }, { cpu: '1' }, undefined, /maximum cpu usage per Container is 1\. {2}No limit is specified$/],
    [{ type: 'Pod', min: { memory: '1Gi' } }, { memory: '1Mi' }, undefined, /minimum memory usage per Pod is 1Gi, but request is 1Mi$/],
    [
      { type: 'Container', maxLimitRequestRatio: { cpu: '2' } },
      { cpu: '100m' },
      { cpu: '201m' },
      /ratio per Container is 2, but provided ratio is 2\.010000$/,
    ],
  ];
  for (const [item, requests, limits, expected] of cases) {
    const run = (): unknown => limitRanger.validate!(requestOf(pod({ containers: [container('a', requests, limits)] }), [range(item)]));
    if (expected === undefined) assert.doesNotThrow(run);
    else assert.throws(run, expected);
  }
});

test('objects use resources of quotas under every name they have there', () => {
  const cases: [string, string, object, Amounts][] = [
    ['', 'configmaps', {}, { configmaps: '1', 'count/configmaps': '1' }],
    ['apps', 'deployments', {}, { 'count/deployments.apps': '1' }],
    [
      '',
      'services',
      { spec: { type: 'LoadBalancer', ports: [{}, {}] } },
      { services: '1', 'count/services': '1', 'services.nodeports': '2', 'services.loadbalancers': '1' },
    ],
    [
      '',
      'persistentvolumeclaims',
      { metadata: {}, spec: { storageClassName: 'fast', resources: { requests: { storage: '1Gi' } } } },
      {
        persistentvolumeclaims: '1',
        'count/persistentvolumeclaims': '1',
        'requests.storage': '1Gi',
        'fast.storageclass.storage.k8s.io/persistentvolumeclaims': '1',
        'fast.storageclass.storage.k8s.io/requests.storage': '1Gi',
      },
    ],
    [
      '',
      'pods',
      pod({ containers: [container('a', { cpu: '1', 'example.com/gpu': '2' }, { cpu: '2' })] }),
      { 'count/pods': '1', pods: '1', cpu: '1', 'requests.cpu': '1', 'requests.example.com/gpu': '2', 'limits.cpu': '2' },
    ],
    ['', 'pods', { ...pod({}), status: { phase: 'Failed' } }, { 'count/pods': '1' }],
  ];
  for (const [group, resource, object, expected] of cases) {
    assert.deepEqual(evaluatorOf(group, resource)!.usage(object as KubeObject), expected);
  }
  assert.equal(evaluatorOf('', 'events'), undefined);
});

test('a quota demands what it limits of every container, unless the pod says it as a whole', () => {
  const { missing } = evaluatorOf('', 'pods')!;
  const silent = pod({ containers: [container('b'), container('a')], initContainers: [container('i', { cpu: '1' })] });
  assert.equal(missing!(silent as never, ['pods', 'requests.cpu']), 'must specify requests.cpu for: a,b');
  assert.equal(
    missing!({ ...silent, spec: { ...silent.spec, resources: { requests: { cpu: '1' } } } } as never, ['requests.cpu']),
    undefined,
  );
});

test('scopes of a quota take pods in or leave them out', () => {
  const quota = (spec: object): core.ResourceQuota => ({ spec }) as core.ResourceQuota;
  const urgent = { scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['urgent'] }] } };
  assert.equal(scopesMatch(quota({ scopes: ['Terminating'] }), 'pods', pod({ activeDeadlineSeconds: 0 }) as never), true);
  assert.equal(scopesMatch(quota({ scopes: ['NotTerminating'] }), 'configmaps', pod({}) as never), false);
  assert.equal(scopesMatch(quota(urgent), 'pods', pod({ priorityClassName: 'urgent' }) as never), true);
  assert.equal(scopesMatch(quota(urgent), 'pods', pod({}) as never), false);
});

test('levels of pod security name what they forbid and who does it', () => {
  const says = (level: string, spec: object): string =>
    violationsText(violationsOf({ level, version: 'latest' }, { annotations: {}, spec: spec as core.PodSpec }));
  const good = {
    allowPrivilegeEscalation: false,
    runAsNonRoot: true,
    capabilities: { drop: ['ALL'] },
    seccompProfile: { type: 'Localhost' },
  };
  assert.equal(says('privileged', { hostNetwork: true }), '');
  assert.equal(says('restricted', { containers: [{ name: 'c', securityContext: good }] }), '');
  assert.equal(
    says('baseline', {
      containers: [
        { name: 'a', ports: [{ hostPort: 2 }] },
        { name: 'b', ports: [{ hostPort: 1 }] },
      ],
    }),
    'hostPorts (containers "a", "b" use hostPorts 1, 2)',
  );
  assert.equal(
    says('restricted', { securityContext: { runAsUser: 0 }, containers: [{ name: 'c', securityContext: { ...good, runAsUser: 0 } }] }),
    'runAsUser=0 (pod and container "c" must not set runAsUser=0)',
  );
});

test('warn follows enforce, and labels that are no level are refused', () => {
  assert.deepEqual(levelOf({ 'pod-security.kubernetes.io/enforce': 'baseline' }, 'warn'), { level: 'baseline', version: 'latest' });
  assert.equal(levelLabelErrors({ 'pod-security.kubernetes.io/audit-version': 'v1.30' }).length, 0);
  assert.match(levelLabelErrors({ 'pod-security.kubernetes.io/audit-version': 'v1' })[0]?.message ?? '', /must be "latest" or "v1\.x"$/);
});
