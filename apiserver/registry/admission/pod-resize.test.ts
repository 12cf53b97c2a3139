/** What a node can never give is refused at once; what it cannot give now is the kubelet's matter. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../../machinery/api/object.ts';
import { StatusError } from '../../../machinery/api/status.ts';
import type { StrategyContext } from '../resource.ts';
import type { AdmissionRequest } from './plugin.ts';
import { podResize } from './pod-resize.ts';

const NODES: Record<string, object> = {
  small: { metadata: { name: 'small', labels: {} }, status: { allocatable: { cpu: '2', memory: '1Gi' } } },
  glass: { metadata: { name: 'glass', labels: { 'kubernetes.io/os': 'windows' } }, status: {} },
};

function ask(requests: Record<string, string>, { node = 'small', subresource = 'resize', changed = true } = {}): unknown {
  const pod = (generation: number): KubeObject =>
    ({
      metadata: { name: 'p', namespace: 'n', generation },
      spec: { nodeName: node, containers: [{ name: 'c', resources: { requests } }] },
    }) as unknown as KubeObject;
  const context = { reader: { get: (_group: string, _resource: string, _namespace: string, name: string) => NODES[name] } };
  const request: AdmissionRequest = {
    group: '',
    resource: 'pods',
    subresource,
    object: pod(changed ? 2 : 1),
    old: pod(1),
    context: context as unknown as StrategyContext,
  };
  try {
    return podResize.validate!(request);
  } catch (error) {
    assert.ok(error instanceof StatusError);
    return [error.message, error.status.details?.causes];
  }
}

test('what fits, what is not bound, not changed or no resize passes', () => {
  assert.equal(ask({ cpu: '2', memory: '1Gi' }), undefined);
  assert.equal(ask({ cpu: '3' }, { node: '' }), undefined);
  assert.equal(ask({ cpu: '3' }, { changed: false }), undefined);
  assert.equal(ask({ cpu: '3' }, { subresource: '' }), undefined);
});

test('too much is refused with every measure of it', () => {
  assert.deepEqual(ask({ cpu: '2500m', memory: '2Gi' }), [
    `pods "p" is forbidden: node didn't have enough allocatable resources: cpu, requested: 2500, allocatable: 2000; memory, requested: 2147483648, allocatable: 1073741824`,
    [{ reason: 'NodeCapacity' }],
  ]);
});

test('a node that is gone, or of another kind, is named', () => {
  assert.deepEqual(ask({ cpu: '1' }, { node: 'gone' }), [`pods "p" is forbidden: node "gone" not found`, undefined]);
  assert.deepEqual(ask({ cpu: '1' }, { node: 'glass' }), [
    'pods "p" is forbidden: pod resize is only supported on linux nodes, node "glass" is "windows"',
    [{ reason: 'UnsupportedPlatform' }],
  ]);
});
