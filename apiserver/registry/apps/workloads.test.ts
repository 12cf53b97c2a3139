/** Deployments, stateful sets, daemon sets and replica sets: rules that are told apart by who has them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AnyObject } from '../../../machinery/api/object.ts';
import type { ResourceDefinition } from '../resource.ts';
import { createErrors, statusErrors, stored, updateErrors } from '../testing/rules.ts';
import { daemonset } from './daemonset.ts';
import { deployment } from './deployment.ts';
import { replicaset } from './replicaset.ts';
import { statefulset } from './statefulset.ts';

const CONTAINER = { name: 'main', image: 'registry.example/clock:1', terminationMessagePolicy: 'File', imagePullPolicy: 'Always' };
const made = (definition: ResourceDefinition, spec: object = {}, metadata: object = {}): AnyObject => {
  const template = { metadata: { labels: { app: 'clock' } }, spec: { containers: [{ ...CONTAINER }] } };
  const all = { selector: { matchLabels: { app: 'clock' } }, template, ...spec };
  return { apiVersion: 'apps/v1', kind: definition.kind, metadata, spec: all } as unknown as AnyObject;
};

describe('a new workload', () => {
  const cases: [string, ResourceDefinition, object, string[]][] = [
    [
      'keeps its claims by a policy that there is',
      statefulset,
      { persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Keep', whenScaled: '' } },
      ['spec.persistentVolumeClaimRetentionPolicy.whenDeleted: Unsupported value: "Keep": supported values: "Retain", "Delete"'],
    ],
    [
      'is told of its claims before its figures',
      statefulset,
      { replicas: -1, serviceName: 'a.b', volumeClaimTemplates: [{ metadata: { name: 'd' }, spec: { accessModes: ['ReadWriteOnce'] } }] },
      [
        'spec.volumeClaimTemplates[0].spec.resources[storage]: Required value',
        'spec.replicas: Invalid value: -1: must be greater than or equal to 0',
        'spec.serviceName: Invalid value: "a.b": must not contain dots',
      ],
    ],
    [
      'is told of its restarts even when its selector makes no sense, if it is a stateful set',
      statefulset,
      {
        selector: { matchExpressions: [{ key: 'a', operator: 'Near' }] },
        template: { spec: { containers: [CONTAINER], restartPolicy: 'Never', activeDeadlineSeconds: 1 } },
      },
      [
        'spec.selector.matchExpressions[0].operator: Invalid value: "Near": not a valid selector operator',
        'spec.selector: Invalid value: {"matchExpressions":[{"key":"a","operator":"Near"}]}',
        'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
        'spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in StatefulSet is not Supported',
      ],
    ],
    [
      'is told only of the selector otherwise',
      replicaset,
      {
        selector: { matchExpressions: [{ key: 'a', operator: 'Near' }] },
        template: { spec: { containers: [CONTAINER], restartPolicy: 'Never' } },
      },
      [
        'spec.selector.matchExpressions[0].operator: Invalid value: "Near": not a valid selector operator',
        'spec.selector: Invalid value: {"matchExpressions":[{"key":"a","operator":"Near"}]}: invalid label selector',
      ],
    ],
    [
      'surges by a number or a percentage, and what is neither counts as none',
      deployment,
      { strategy: { rollingUpdate: { maxUnavailable: '5x', maxSurge: 0 } } },
      [
        `spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "5x": a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')`,
        'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "5x": may not be 0 when `maxSurge` is 0',
      ],
    ],
    [
      'does neither both nor none of what a daemon set may do',
      daemonset,
      { updateStrategy: { rollingUpdate: { maxUnavailable: '0%', maxSurge: '101%' } } },
      ['spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: "101%": must not be greater than 100%'],
    ],
  ];
  for (const [what, definition, spec, expected] of cases) {
    it(what, () => assert.deepEqual(createErrors(definition, made(definition, spec)), expected));
  }

  it('holds numbers in the annotations that were fields', () => {
    const refusal = (definition: ResourceDefinition, annotations: object): string => {
      try {
        return createErrors(definition, made(definition, {}, { annotations })).join();
      } catch (error) {
        return (error as Error).message;
      }
    };
    const daemon = 'deprecated.daemonset.template.generation';
    assert.equal(
      refusal(daemonset, { [daemon]: 'x' }),
      'DaemonSet in version "v1" cannot be handled as a DaemonSet: strconv.ParseInt: parsing "x": invalid syntax',
    );
    assert.equal(
      refusal(daemonset, { [daemon]: '9223372036854775808' }),
      'DaemonSet in version "v1" cannot be handled as a DaemonSet: strconv.ParseInt: parsing "9223372036854775808": value out of range',
    );
    assert.equal(refusal(daemonset, { [daemon]: '-3' }), '');
    const rollback = 'deprecated.deployment.rollback.to';
    assert.equal(
      refusal(deployment, { [rollback]: '1.5' }),
      `Deployment in version "v1" cannot be handled as a Deployment: failed to parse annotation[${rollback}]=1.5 as int64: strconv.ParseInt: parsing "1.5": invalid syntax`,
    );
    assert.equal(refusal(deployment, { [rollback]: '-2' }), 'spec.rollback.version: Invalid value: -2: must be greater than or equal to 0');
    assert.equal(refusal(deployment, { [rollback]: '' }), '');
    assert.equal(stored(deployment, made(deployment, {}, { annotations: { [rollback]: '+7' } })).metadata.annotations?.[rollback], '7');
  });

  it('is warned of a name that is no label where pods are named by it', () => {
    const warned = (definition: ResourceDefinition): boolean => {
      const object = stored(definition, made(definition, {}, { name: 'a.b' }));
      return definition.strategy.warnings!(object, undefined).some((text) => text.startsWith('metadata.name: this is used in Pod names'));
    };
    assert.deepEqual([deployment, replicaset, daemonset, statefulset].map(warned), [true, true, false, false]);
  });
});

describe('an update of a stateful set', () => {
  it('is warned of its claims and its history whatever it changes', () => {
    const claim = { metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1500m' } } } };
    const object = stored(statefulset, made(statefulset, { volumeClaimTemplates: [claim], revisionHistoryLimit: -1 }));
    const history = 'spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended';
    const fraction = (path: string): string =>
      `${path}.resources.requests[storage]: fractional byte value "1500m" is invalid, must be an integer`;
    assert.deepEqual(statefulset.strategy.warnings!(object, undefined), [fraction('spec.volumeClaimTemplates[0]'), history]);
    assert.deepEqual(statefulset.strategy.warnings!(object, object), [fraction('spec.volumeClaimTemplates[0].Spec'), history]);
  });

  it('may change only what the sentence names', () => {
    const old = stored(statefulset, made(statefulset, { serviceName: 'a' }));
    const edit = (spec: object): string[] => updateErrors(statefulset, old, (object) => Object.assign(object['spec'] as object, spec));
    assert.deepEqual(edit({ replicas: 5, ordinals: { start: 2 }, minReadySeconds: 1, revisionHistoryLimit: 1 }), []);
    for (const spec of [{ serviceName: 'b' }, { podManagementPolicy: 'Parallel' }]) {
      assert.match(edit(spec).join(), /^spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', /);
    }
  });
});

describe('the status of a workload', () => {
  const limit = 'cannot be greater than status.replicas';
  const cases: [ResourceDefinition, object, object, string[]][] = [
    [
      deployment,
      {},
      { replicas: 2, updatedReplicas: 3, readyReplicas: 4, availableReplicas: 5 },
      [
        `status.updatedReplicas: Invalid value: 3: ${limit}`,
        `status.readyReplicas: Invalid value: 4: ${limit}`,
        `status.availableReplicas: Invalid value: 5: ${limit}`,
        'status.availableReplicas: Invalid value: 5: cannot be greater than readyReplicas',
      ],
    ],
    [
      statefulset,
      { collisionCount: 2 },
      { replicas: 2, currentReplicas: 3, availableReplicas: 1, collisionCount: 1 },
      [
        `status.currentReplicas: Invalid value: 3: ${limit}`,
        'status.availableReplicas: Invalid value: 1: cannot be greater than status.readyReplicas',
        'status.collisionCount: Invalid value: 1: cannot be decremented',
      ],
    ],
    [
      replicaset,
      {},
      { replicas: 1, fullyLabeledReplicas: 2, terminatingReplicas: -1 },
      [
        'status.terminatingReplicas: Invalid value: -1: must be greater than or equal to 0',
        `status.fullyLabeledReplicas: Invalid value: 2: ${limit}`,
      ],
    ],
    [daemonset, { collisionCount: 1 }, {}, ['status.collisionCount: Invalid value: 0: cannot be decremented']],
  ];
  for (const [definition, before, after, expected] of cases) {
    it(`does not contradict itself (${definition.kind})`, () => {
      const old = { ...stored(definition, made(definition)), status: before } as AnyObject;
      assert.deepEqual(statusErrors(definition, old, after), expected);
    });
  }
});
