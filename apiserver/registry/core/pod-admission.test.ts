/** What admission gives a new pod, and what it refuses: runtime classes, priorities, tolerations. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '../../../machinery/api/object.ts';
import type { Pod, Toleration } from '../../../machinery/api/types/core.v1.ts';
import type { StrategyContext } from '../resource.ts';
import { NOW } from '../testing/kind-under-test.ts';
import { containerWith, type Loose, podWith } from '../testing/pods.ts';
import { mergeTolerations } from './merge-tolerations.ts';
import { pod as podKind } from './pod.ts';
import { admitPod } from './pod-admission.ts';

const ACCOUNT = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace: 'n' } };

type Stored = Readonly<Record<string, readonly object[]>>;

function contextOf(stored: Stored, subresource = ''): StrategyContext {
  const objects: Stored = { serviceaccounts: [ACCOUNT], ...stored };
  const list = (_group: string, resource: string): readonly KubeObject[] => (objects[resource] ?? []) as readonly KubeObject[];
  const get = (group: string, resource: string, _namespace: string, name: string): KubeObject | undefined =>
    list(group, resource).find((object) => object.metadata.name === name);
  const nothing = { warn: () => undefined, sleep: async () => undefined, suffix: () => 'x' };
  return { ...nothing, now: NOW, subresource, reader: { list, get } } as unknown as StrategyContext;
}

async function refusalOf(admission: () => void | Promise<void>): Promise<string | undefined> {
  try {
    await admission();
  } catch (error) {
    return (error as Error).message.replace(/^pods "p" is forbidden: /, '');
  }
  return undefined;
}

async function admitted(spec: Loose, stored: Stored = {}, metadata: Loose = {}): Promise<Pod | string> {
  const pod = podWith({ automountServiceAccountToken: false, ...spec }, { metadata });
  return (await refusalOf(() => admitPod(pod, contextOf(stored)))) ?? pod;
}

const podOf = (answer: Pod | string): Pod => {
  assert.notEqual(typeof answer, 'string', String(answer));
  return answer as Pod;
};

describe('the runtime class of a pod', () => {
  const runtimeclasses = [
    {
      metadata: { name: 'vm' },
      overhead: { podFixed: { cpu: '100m', memory: '64Mi' } },
      scheduling: { nodeSelector: { vm: 'yes' }, tolerations: [{ key: 'vm', operator: 'Exists' }] },
    },
    { metadata: { name: 'plain' } },
  ];
  const classed = (runtimeClassName: string, spec: Loose = {}): Promise<Pod | string> =>
    admitted({ runtimeClassName, ...spec }, { runtimeclasses });

  it('says what the pod costs and where it runs', async () => {
    const { spec } = podOf(await classed('vm', { nodeSelector: { a: 'b' } }));
    assert.deepEqual(spec.overhead, { cpu: '100m', memory: '64Mi' });
    assert.deepEqual(spec.nodeSelector, { a: 'b', vm: 'yes' });
    assert.ok(spec.tolerations!.some(({ key }) => key === 'vm'));
  });

  it('agrees with what the pod itself says, in whatever order', async () => {
    podOf(await classed('vm', { overhead: { memory: '64Mi', cpu: '100m' } }));
    assert.equal(
      await classed('vm', { overhead: { cpu: '1' } }),
      "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead",
    );
    assert.equal(
      await classed('vm', { nodeSelector: { vm: 'no' } }),
      'conflict: runtimeClass.scheduling.nodeSelector[vm] = yes; pod.spec.nodeSelector[vm] = no',
    );
  });

  it('is there, or the pod is refused', async () => {
    assert.equal(await classed('none'), 'pod rejected: RuntimeClass "none" not found');
    const without = 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead';
    assert.equal(await classed('plain', { overhead: { cpu: '1' } }), without);
    assert.equal(await admitted({ overhead: { cpu: '1' } }), without);
  });
});

describe('the priority of a pod', () => {
  const priorityclasses = [
    { metadata: { name: 'high' }, value: 1000, preemptionPolicy: 'Never' },
    { metadata: { name: 'usual' }, value: 5, globalDefault: true },
    { metadata: { name: 'other' }, value: 7, globalDefault: true },
  ];
  const prior = (spec: Loose): Promise<Pod | string> => admitted(spec, { priorityclasses });

  it('is that of its class, or of the lowest default', async () => {
    const high = podOf(await prior({ priorityClassName: 'high' })).spec;
    assert.deepEqual([high.priority, high.preemptionPolicy], [1000, 'Never']);
    const usual = podOf(await prior({})).spec;
    assert.deepEqual([usual.priorityClassName, usual.priority, usual.preemptionPolicy], ['usual', 5, 'PreemptLowerPriority']);
    assert.equal(podOf(await admitted({ priorityClassName: 'system-node-critical' })).spec.priority, 2000001000);
  });

  it('is not what the pod says', async () => {
    assert.equal(
      await prior({ priorityClassName: 'high', priority: 3 }),
      'the integer value of priority (3) must not be provided in pod spec; priority admission controller computed 1000 from the given PriorityClass name',
    );
    assert.equal(
      await prior({ priorityClassName: 'high', preemptionPolicy: 'PreemptLowerPriority' }),
      'the string value of PreemptionPolicy (PreemptLowerPriority) must not be provided in pod spec; priority admission controller computed Never from the given PriorityClass name',
    );
    assert.equal(await prior({ priorityClassName: 'none' }), 'no PriorityClass with name none was found');
  });
});

describe('tolerations', () => {
  it('of nodes that are away are given for five minutes, unless the pod says otherwise', async () => {
    const keys = async (tolerations: Loose[]): Promise<string[]> =>
      (podOf(await admitted({ tolerations })).spec.tolerations ?? []).map(({ key = '' }) => key);
    assert.deepEqual(await keys([]), ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']);
    assert.deepEqual(await keys([{ operator: 'Exists' }]), ['']);
    assert.deepEqual(await keys([{ key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' }]), [
      'node.kubernetes.io/not-ready',
      'node.kubernetes.io/unreachable',
    ]);
  });

  it('that others cover are left out', () => {
    const all: Toleration = { operator: 'Exists' };
    const one: Toleration = { key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 };
    const longer: Toleration = { ...one, tolerationSeconds: 9 };
    const value: Toleration = { key: 'b', operator: 'Equal', value: 'x', effect: 'NoSchedule' };
    assert.deepEqual(mergeTolerations([one, value], [all]), [all]);
    assert.deepEqual(mergeTolerations([one], [longer]), [longer]);
    assert.deepEqual(mergeTolerations([longer], [one]), [longer]);
    assert.deepEqual(mergeTolerations([value], [value, { ...value, value: 'y' }]), [value, { ...value, value: 'y' }]);
    assert.deepEqual(mergeTolerations([value], [{ key: 'b', operator: 'Exists' }]), [{ key: 'b', operator: 'Exists' }]);
  });
});

describe('the account of a pod', () => {
  const account = (annotation: string): object => ({
    ...ACCOUNT,
    metadata: { ...ACCOUNT.metadata, annotations: { 'kubernetes.io/enforce-mountable-secrets': annotation } },
    secrets: [{ name: 'mine' }],
    imagePullSecrets: [{ name: 'pull' }],
  });
  const limited = (spec: Loose): Promise<Pod | string> => admitted(spec, { serviceaccounts: [account('1')] });
  const tail = 'is not allowed because service account default does not reference that';
  const reads = (name: string): Loose => ({ name: 'A', valueFrom: { secretKeyRef: { name, key: 'k' } } });

  it('must be there', async () => {
    assert.equal(
      await admitted({ serviceAccountName: 'none' }),
      'error looking up service account n/none: serviceaccount "none" not found',
    );
  });

  it('may hold the pod to the secrets it lists', async () => {
    const { spec } = podOf(await limited({ volumes: [{ name: 'v', secret: { secretName: 'mine' } }] }));
    assert.deepEqual(spec.imagePullSecrets, [{ name: 'pull' }]);
    const cases: readonly (readonly [Loose, string])[] = [
      [{ volumes: [{ name: 'v', secret: { secretName: 'other' } }] }, `volume with secret.secretName="other" ${tail} secret`],
      [
        { initContainers: [containerWith({ env: [reads('other')] })] },
        `init container c with envVar A referencing secret.secretName="other" ${tail} secret`,
      ],
      [
        { containers: [containerWith({ envFrom: [{ secretRef: { name: 'other' } }] })] },
        `container c with envFrom referencing secret.secretName="other" ${tail} secret`,
      ],
      [{ imagePullSecrets: [{ name: 'mine' }] }, `imagePullSecrets[0].name="mine" ${tail} imagePullSecret`],
    ];
    for (const [given, text] of cases) assert.equal(await limited(given), text);
    podOf(await admitted({ volumes: [{ name: 'v', secret: { secretName: 'other' } }] }, { serviceaccounts: [account('no')] }));
  });

  it('holds containers that join later, too', async () => {
    const context = contextOf({ serviceaccounts: [account('true')] }, 'ephemeralcontainers');
    const joined = podWith({ ephemeralContainers: [containerWith({ name: 'e', env: [reads('other')] })] });
    const refusal = await refusalOf(() => podKind.strategy.admitUpdate!(joined, podWith(), context));
    assert.equal(refusal, `ephemeral container e with envVar A referencing secret.secretName="other" ${tail} secret`);
    assert.equal(await refusalOf(() => podKind.strategy.admitUpdate!(joined, podWith(), { ...context, subresource: 'status' })), undefined);
  });

  it('is nothing for a pod of a file, nor are secrets', async () => {
    const mirror = (spec: Loose): Promise<Pod | string> =>
      admitted({ serviceAccountName: '', nodeName: 'm', ...spec }, {}, { annotations: { 'kubernetes.io/config.mirror': 'x' } });
    podOf(await mirror({ volumes: [{ name: 'v', hostPath: { path: '/' } }] }));
    const secrets = 'a mirror pod may not reference secrets';
    assert.equal(await mirror({ serviceAccountName: 'default' }), 'a mirror pod may not reference service accounts');
    assert.equal(await mirror({ volumes: [{ name: 'v', secret: { secretName: 's' } }] }), secrets);
    assert.equal(await mirror({ volumes: [{ name: 'v', rbd: { monitors: ['m'], image: 'i', secretRef: { name: 's' } } }] }), secrets);
    assert.equal(await mirror({ imagePullSecrets: [{ name: 's' }] }), secrets);
    assert.equal(await mirror({ containers: [containerWith({ env: [reads('s')] })] }), secrets);
    assert.equal(
      await mirror({ volumes: [{ name: 'v', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } }] }),
      'a mirror pod may not use ServiceAccountToken volume projections',
    );
  });
});
