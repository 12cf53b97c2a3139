/** Updates of a pod: what of it may change, and what is said of the rest. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { refusals } from '../testing/kind-under-test.ts';
import { containerWith, type Loose, podWith } from '../testing/pods.ts';
import { pod } from './pod.ts';

const changed = (old: Loose, next: Loose): string[] => refusals(pod, podWith(next), { old: podWith(old) });
const FIELDS = 'spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,';

describe('an update of a pod', () => {
  it('may change images, to some image', () => {
    const old = { containers: [containerWith(), containerWith({ name: 'd' })], initContainers: [containerWith({ name: 'i' })] };
    const images = (first: string, init: string): Loose => ({
      containers: [containerWith({ image: first }), containerWith({ name: 'd' })],
      initContainers: [containerWith({ name: 'i', image: init })],
    });
    assert.deepEqual(changed(old, images('other:2', 'setup:9')), []);
    assert.deepEqual(changed(old, images('other:2', ' setup')), [
      'spec.initContainers[0].image: Invalid value: " setup": must not have leading or trailing whitespace',
      'spec.initContainers[0].image: Invalid value: " setup": must not have leading or trailing whitespace',
    ]);
  });

  it('may not change which containers there are, and is told of nothing else then', () => {
    const two = { containers: [containerWith(), containerWith({ name: 'd' })], priority: 4 };
    assert.deepEqual(changed({}, two), ['spec.containers: Forbidden: pod updates may not add or remove containers']);
    assert.deepEqual(changed({ initContainers: [containerWith({ name: 'i' })] }, { activeDeadlineSeconds: -1 }), [
      'spec.activeDeadlineSeconds: Invalid value: -1: must be between 1 and 2147483647, inclusive',
      'spec.initContainers: Forbidden: pod updates may not add or remove containers',
    ]);
  });

  it('brings the deadline nearer or sets the first one', () => {
    assert.deepEqual(changed({}, { activeDeadlineSeconds: 30 }), []);
    assert.deepEqual(changed({ activeDeadlineSeconds: 30 }, { activeDeadlineSeconds: 29 }), []);
    assert.deepEqual(changed({ activeDeadlineSeconds: 30 }, { activeDeadlineSeconds: 31, nodeName: 'n' }), [
      'spec.activeDeadlineSeconds: Invalid value: 31: must be less than or equal to previous value',
    ]);
    assert.deepEqual(changed({ activeDeadlineSeconds: 30 }, {}), [
      'spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive integer to nil value',
    ]);
  });

  it('may add tolerations and change how long one holds', () => {
    const tolerates = (...tolerations: Loose[]): Loose => ({ tolerations });
    const one = { key: 'k', operator: 'Exists', effect: 'NoExecute' };
    assert.deepEqual(changed(tolerates(one), tolerates({ ...one, tolerationSeconds: 5 }, { operator: 'Exists' })), []);
    assert.deepEqual(changed(tolerates(one), tolerates({ ...one, effect: 'NoSchedule' })), [
      'spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds',
    ]);
    assert.deepEqual(changed(tolerates(one), tolerates()), [
      'spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds',
    ]);
    const bad = 'spec.tolerations[1].effect: Invalid value: "NoSchedule": effect must be \'NoExecute\' when `tolerationSeconds` is set';
    assert.deepEqual(
      changed(tolerates(one), tolerates(one, { key: 'l', operator: 'Exists', effect: 'NoSchedule', tolerationSeconds: 1 })),
      [bad, bad],
    );
  });

  it('may open gates and set none', () => {
    const gates = (...names: string[]): Loose => ({ schedulingGates: names.map((name) => ({ name })) });
    assert.deepEqual(changed(gates('a/b', 'c/d'), gates('c/d')), []);
    assert.deepEqual(changed(gates('a/b'), gates('a/b', 'e/f')), [
      "spec.schedulingGates[1].name: Forbidden: only deletion is allowed, but found new scheduling gate 'e/f'",
    ]);
    assert.deepEqual(changed({}, gates('e/f')), [
      "spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new scheduling gate 'e/f'",
    ]);
  });

  it('takes a negative time to stop back to a second', () => {
    const old = { terminationGracePeriodSeconds: -1 };
    assert.deepEqual(changed(old, { terminationGracePeriodSeconds: 1 }), []);
    assert.deepEqual(changed(old, { terminationGracePeriodSeconds: -9 }), []);
    for (const seconds of [0, 2]) assert.ok(changed(old, { terminationGracePeriodSeconds: seconds })[0]!.startsWith(FIELDS));
  });

  it('is told once of all that may not change', () => {
    for (const next of [{ hostname: 'h' }, { containers: [containerWith({ command: ['x'] })] }, { priority: 3, restartPolicy: 'Never' }]) {
      const messages = changed({}, next);
      assert.equal(messages.length, 1);
      assert.ok(messages[0]!.startsWith(FIELDS), messages[0]);
    }
  });
});

describe('a gated pod', () => {
  const gated = { schedulingGates: [{ name: 'a/b' }] };
  const terms = (...nodeSelectorTerms: Loose[]): Loose => ({
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
  });
  const has = (key: string): Loose => ({ key, operator: 'Exists' });
  const PATH = 'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms';

  it('may be narrowed to fewer nodes by their labels', () => {
    assert.deepEqual(changed(gated, { ...gated, nodeSelector: { a: 'b' } }), []);
    assert.deepEqual(changed({ ...gated, nodeSelector: { a: 'b' } }, { ...gated, nodeSelector: { z: '1', a: 'c' } }), [
      'spec.nodeSelector: Invalid value: {"a":"c","z":"1"}: only additions to spec.nodeSelector are allowed (no mutations or deletions)',
    ]);
    assert.ok(changed({}, { nodeSelector: { a: 'b' } })[0]!.startsWith(FIELDS));
  });

  it('may be narrowed by requirements, not by terms', () => {
    const old = { ...gated, ...terms({ matchExpressions: [has('a')] }) };
    assert.deepEqual(changed(gated, old), []);
    assert.deepEqual(changed(old, { ...gated, ...terms({ matchExpressions: [has('a'), has('b')] }) }), []);
    assert.deepEqual(changed(old, { ...gated, ...terms({ matchExpressions: [has('b')] }) }), [
      `${PATH}[0]: Invalid value: {"MatchExpressions":[{"Key":"b","Operator":"Exists","Values":null}],"MatchFields":null}: only additions are allowed (no mutations or deletions)`,
    ]);
    const messages = changed(old, { ...gated, ...terms({ matchExpressions: [has('a')] }, { matchExpressions: [has('b')] }) });
    assert.equal(messages.length, 1);
    assert.match(messages[0]!, /no additions\/deletions to non-empty NodeSelectorTerms list are allowed$/);
  });
});

describe('annotations of a pod', () => {
  const annotated = (annotations: Loose, spec: Loose = {}): object => podWith(spec, { metadata: { annotations } });

  it('that mark a mirror, or profiles of AppArmor, stay', () => {
    const mirror = 'kubernetes.io/config.mirror';
    assert.deepEqual(refusals(pod, annotated({ [mirror]: 'x' }, { nodeName: 'n' }), { old: annotated({}, { nodeName: 'n' }) }), [
      `metadata.annotations[${mirror}]: Forbidden: may not add mirror pod annotation`,
    ]);
    assert.deepEqual(
      refusals(pod, annotated({ [mirror]: 'y' }, { nodeName: 'n' }), { old: annotated({ [mirror]: 'x' }, { nodeName: 'n' }) }),
      [`metadata.annotations[${mirror}]: Forbidden: may not remove or update mirror pod annotation`],
    );
    const armor = 'container.apparmor.security.beta.kubernetes.io/c';
    assert.deepEqual(refusals(pod, annotated({ [armor]: 'unconfined' }), { old: annotated({}) }), [
      `metadata.annotations[${armor}]: Forbidden: may not add AppArmor annotations`,
    ]);
    assert.deepEqual(refusals(pod, annotated({}), { old: annotated({ [armor]: 'unconfined' }) }), [
      `metadata.annotations[${armor}]: Forbidden: may not remove or update AppArmor annotations`,
    ]);
  });

  it('that say what a deletion costs are whole numbers', () => {
    const key = 'controller.kubernetes.io/pod-deletion-cost';
    const old = podWith();
    for (const cost of ['-5', '2147483647']) assert.deepEqual(refusals(pod, annotated({ [key]: cost }), { old }), []);
    for (const cost of ['+5', '05', '2147483648', 'x']) {
      const text = `metadata.annotations[${key}]: Invalid value: "${cost}": must be a 32bit integer`;
      assert.deepEqual(refusals(pod, annotated({ [key]: cost }), { old }), [text, text]);
    }
  });
});
