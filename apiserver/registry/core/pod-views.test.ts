/** Containers that join a pod that runs: they come, and stay as they came. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { refusals } from '../testing/kind-under-test.ts';
import { containerWith, type Loose, podWith } from '../testing/pods.ts';
import { pod } from './pod.ts';

const debuggers = (...ephemeralContainers: Loose[]): Loose => ({ ephemeralContainers });
const look = (members: Loose = {}): Loose => containerWith({ name: 'look', ...members }) as unknown as Loose;
const joined = (old: Loose, next: Loose, metadata: Loose = {}): string[] =>
  refusals(pod, podWith(next, { metadata }), { old: podWith(old, { metadata }), subresource: 'ephemeralcontainers' });
const AT = 'spec.ephemeralContainers[0]';

describe('an ephemeral container', () => {
  it('comes while the pod runs, whatever else the request says of the pod', () => {
    assert.deepEqual(joined({}, debuggers(look())), []);
    assert.deepEqual(joined({}, { ...debuggers(look({ targetContainerName: 'c', stdin: true, tty: true })), nodeName: 'elsewhere' }), []);
    assert.deepEqual(joined(debuggers(look()), debuggers(look(), look({ name: 'again' }))), []);
  });

  it('is neither changed nor removed', () => {
    assert.deepEqual(joined(debuggers(look()), {}), [
      'spec.ephemeralContainers: Forbidden: existing ephemeral containers "look" may not be removed\n',
    ]);
    const [message, ...others] = joined(debuggers(look()), debuggers(look({ image: 'other' })));
    assert.match(message!, /^spec\.ephemeralContainers: Forbidden: existing ephemeral containers "look" may not be changed\n/);
    assert.deepEqual(others, []);
  });

  it('has a name of its own', () => {
    assert.deepEqual(joined({}, debuggers(look({ name: 'c' }))), [`${AT}.name: Duplicate value: "c"`]);
    assert.deepEqual(joined({ initContainers: [containerWith({ name: 'i' })] }, debuggers(look({ name: 'i' }))), [
      `${AT}.name: Duplicate value: "i"`,
    ]);
    assert.deepEqual(joined({}, debuggers(look(), look())), ['spec.ephemeralContainers[1].name: Duplicate value: "look"']);
  });

  it('looks at a container that is there', () => {
    assert.deepEqual(joined({}, debuggers(look({ targetContainerName: 'nobody' }))), [`${AT}.targetContainerName: Not found: "nobody"`]);
    assert.deepEqual(joined({ initContainers: [containerWith({ name: 'i' })] }, debuggers(look({ targetContainerName: 'i' }))), []);
  });

  it('has no ports, probes, hooks or resources', () => {
    const probe = { exec: { command: ['x'] } };
    const refused: readonly [string, Loose][] = [
      ['ports', { ports: [{ containerPort: 1 }] }],
      ['livenessProbe', { livenessProbe: probe }],
      ['readinessProbe', { readinessProbe: probe }],
      ['startupProbe', { startupProbe: probe }],
      ['lifecycle', { lifecycle: { preStop: probe } }],
      ['resources', { resources: { limits: { cpu: '1' } } }],
    ];
    for (const [field, members] of refused) {
      assert.deepEqual(joined({}, debuggers(look(members))), [`${AT}.${field}: Forbidden: cannot be set for an Ephemeral Container`]);
    }
  });

  it('mounts volumes whole', () => {
    const volumes = { volumes: [{ name: 'v', emptyDir: {} }] };
    assert.deepEqual(joined(volumes, debuggers(look({ volumeMounts: [{ name: 'v', mountPath: '/a' }] }))), []);
    assert.deepEqual(joined(volumes, debuggers(look({ volumeMounts: [{ name: 'v', mountPath: '/a', subPath: 'b' }] }))), [
      `${AT}.volumeMounts[0].subPath: Forbidden: cannot be set for an Ephemeral Container`,
    ]);
    assert.deepEqual(joined(volumes, debuggers(look({ volumeMounts: [{ name: 'v', mountPath: '/a', subPathExpr: 'b' }] }))), [
      `${AT}.volumeMounts[0].subPathExpr: Forbidden: cannot be set for an Ephemeral Container`,
    ]);
  });

  it('never restarts by itself and does not come with a new pod, or to one of a file', () => {
    assert.deepEqual(joined({}, debuggers(look({ restartPolicy: 'Always' }))), [
      `${AT}.restartPolicy: Forbidden: cannot be set for an Ephemeral Container`,
    ]);
    assert.deepEqual(refusals(pod, podWith(debuggers(look()))), ['spec.ephemeralContainers: Forbidden: cannot be set on create']);
    assert.deepEqual(
      joined({ nodeName: 'n' }, { nodeName: 'n', ...debuggers(look()) }, { annotations: { 'kubernetes.io/config.mirror': 'x' } }),
      ['[]: Forbidden: static pods do not support ephemeral containers'],
    );
  });
});
