/** The resize of a pod: CPU and memory change, nothing else does. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { refusals } from '../testing/kind-under-test.ts';
import { containerWith, type Loose, podWith } from '../testing/pods.ts';
import { pod } from './pod.ts';

const resources = (requests?: Loose, limits?: Loose): Loose => ({
  resources: { ...(requests && { requests }), ...(limits && { limits }) },
});
const one = (...members: Loose[]): Loose => ({ containers: [containerWith(Object.assign({}, ...members))] });
const resized = (old: Loose, next: Loose, more: { metadata?: Loose; status?: Loose } = {}): string[] =>
  refusals(pod, podWith(next, more), { old: podWith(old, more), subresource: 'resize' });

const QOS = (qos: string): string => `spec: Invalid value: "${qos}": Pod QOS Class may not change as a result of resizing`;
const MUTABLE = 'spec: Forbidden: only cpu and memory resources are mutable';

describe('a resize', () => {
  it('changes what containers ask for and may use', () => {
    const old = one(resources({ cpu: '1', memory: '1Gi' }, { cpu: '2' }));
    assert.deepEqual(resized(old, one(resources({ cpu: '500m', memory: '2Gi' }, { cpu: '3' }))), []);
    assert.deepEqual(resized(old, one(resources({ cpu: '1', memory: '1Gi' }, { cpu: '2', memory: '4Gi' }))), []);
    assert.deepEqual(resized(old, one(resources({ cpu: '3', memory: '1Gi' }, { cpu: '2' }))), [
      'spec.containers[0].resources.requests: Invalid value: "3": must be less than or equal to cpu limit of 2',
    ]);
  });

  it('leaves what else the request says about the pod alone', () => {
    const old = one(resources({ cpu: '1' }));
    assert.deepEqual(
      resized(old, { ...one(resources({ cpu: '2' }), { image: 'other', command: ['x'] }), nodeName: 'n', hostNetwork: true }),
      [],
    );
  });

  it('takes nothing away', () => {
    const at = 'spec.containers[0].resources';
    assert.deepEqual(resized(one(resources({ cpu: '1', memory: '1Gi' })), one(resources({ cpu: '1' }))), [
      `${at}.requests: Forbidden: resource requests cannot be removed`,
    ]);
    assert.deepEqual(
      resized(
        one(resources({ cpu: '1', memory: '1Gi' }, { cpu: '2', memory: '2Gi' })),
        one(resources({ cpu: '1', memory: '1Gi' }, { cpu: '2' })),
      ),
      [`${at}.limits: Forbidden: resource limits cannot be removed`],
    );
    // a request that is left out is taken from the limit
    assert.deepEqual(resized(one(resources({ cpu: '1' }, { cpu: '2' })), one(resources(undefined, { cpu: '2' }))), []);
  });

  it('keeps the class of service', () => {
    assert.deepEqual(resized(one(resources({ cpu: '1' })), one(resources({ cpu: '1', memory: '1' }, { cpu: '1', memory: '1' }))), [
      QOS(''),
    ]);
    const status = { qosClass: 'BestEffort' };
    assert.deepEqual(resized(one(), one(resources({ cpu: '1' })), { status }), [QOS('BestEffort')]);
  });

  it('is for CPU and memory', () => {
    const old = one(resources({ cpu: '1', 'ephemeral-storage': '1Gi' }));
    assert.deepEqual(resized(old, one(resources({ cpu: '2', 'ephemeral-storage': '1Gi' }))), []);
    assert.deepEqual(resized(old, one(resources({ cpu: '1', 'ephemeral-storage': '2Gi' }))), [MUTABLE]);
    assert.deepEqual(
      resized(old, one(resources({ cpu: '1', 'ephemeral-storage': '1Gi', 'example.com/a': '1' }, { 'example.com/a': '1' }))),
      [MUTABLE],
    );
  });

  it('does not change by what policy it happens', () => {
    const policy = (restartPolicy: string): Loose => ({ resizePolicy: [{ resourceName: 'cpu', restartPolicy }] });
    const old = one(resources({ cpu: '1' }), policy('NotRequired'));
    assert.deepEqual(resized(old, one(resources({ cpu: '1' }), policy('RestartContainer'))), [MUTABLE]);
  });

  it('has the same containers in the same order', () => {
    const two = (a: string, b: string): Loose => ({
      containers: [a, b].map((name) => containerWith({ name, ...resources({ cpu: '1' }) })),
    });
    assert.deepEqual(resized(two('a', 'b'), two('b', 'a')), [
      'spec.containers[0].name: Forbidden: containers may not be renamed or reordered on resize',
      'spec.containers[1].name: Forbidden: containers may not be renamed or reordered on resize',
    ]);
    assert.deepEqual(resized(two('a', 'b'), { containers: [containerWith({ name: 'a', ...resources({ cpu: '1' }) })] }), [
      'spec.containers: Forbidden: containers may not be added or removed on resize',
    ]);
  });

  it('is not for pods of files, or of Windows, or of nodes that cannot do it', () => {
    const spec = { ...one(resources({ cpu: '1' })), nodeName: 'n' };
    const more = { ...one(resources({ cpu: '2' })), nodeName: 'n' };
    assert.deepEqual(resized(spec, more, { metadata: { annotations: { 'kubernetes.io/config.mirror': 'x' } } }), [
      '[]: Forbidden: static pods cannot be resized',
    ]);
    const os = { os: { name: 'windows' } };
    assert.deepEqual(resized({ ...spec, ...os }, { ...more, ...os }), ['[]: Forbidden: windows pods cannot be resized']);
    const running = { name: 'c', state: { running: {} } };
    assert.deepEqual(resized(spec, more, { status: { containerStatuses: [running] } }), [
      'spec: Forbidden: Pod running on node without support for resize',
    ]);
    assert.deepEqual(resized(spec, more, { status: { containerStatuses: [{ ...running, resources: {} }] } }), []);
  });
});

describe('a resize of containers that come first', () => {
  const withInit = (members: Loose): Loose => ({
    ...one(resources({ cpu: '1' })),
    initContainers: [containerWith({ name: 'i', ...members })],
  });

  it('happens without a restart, or of sidecars', () => {
    const sidecar = { restartPolicy: 'Always', resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }] };
    const old = withInit({ ...resources({ cpu: '1' }), ...sidecar });
    assert.deepEqual(resized(old, withInit({ ...resources({ cpu: '2' }), ...sidecar })), []);
    assert.deepEqual(resized(withInit(resources({ cpu: '1' })), withInit(resources({ cpu: '2' }))), []);
  });

  it('is for CPU and memory, too, and takes nothing away', () => {
    const old = withInit(resources({ cpu: '1', 'ephemeral-storage': '1' }));
    assert.deepEqual(resized(old, withInit(resources({ cpu: '1', 'ephemeral-storage': '2' }))), [
      'spec.initContainers[0]: Forbidden: only cpu and memory resources for init or sidecar containers are mutable',
    ]);
    assert.deepEqual(resized(withInit(resources({ cpu: '1', memory: '1' })), withInit(resources({ cpu: '1' }))), [
      'spec.initContainers[0].resources.requests: Forbidden: resource requests cannot be removed',
    ]);
  });
});

describe('a resize of the pod as a whole', () => {
  const whole = (requests: Loose, limits?: Loose): Loose => ({ ...one(resources({ cpu: '1' })), ...resources(requests, limits) });

  it('changes its CPU and memory and takes nothing away', () => {
    assert.deepEqual(resized(whole({ cpu: '2' }), whole({ cpu: '3' })), []);
    assert.deepEqual(resized(whole({ cpu: '2' }, { cpu: '4' }), whole({ cpu: '2' })), [
      'spec.resources.limits: Forbidden: pod-level resource limits cannot be removed',
    ]);
    assert.deepEqual(resized(whole({ cpu: '2' }), whole({ cpu: '2', memory: '1Gi' }, { memory: '1Gi' })), []);
    assert.deepEqual(resized(whole({ cpu: '2' }), whole({ cpu: '2', 'hugepages-2Mi': '2Mi' }, { 'hugepages-2Mi': '2Mi' })), [
      'spec: Forbidden: only cpu and memory resources are mutable at pod-level',
    ]);
  });
});
