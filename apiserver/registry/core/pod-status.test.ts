/** What kubelets report of pods: what they may say of containers, addresses and claims, and what they leave as it was. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '../../../machinery/api/types/core.v1.ts';
import type { StrategyContext } from '../resource.ts';
import { NOW, refusals } from '../testing/kind-under-test.ts';
import { containerWith, type Loose, podWith } from '../testing/pods.ts';
import { pod } from './pod.ts';

const reported = (status: Loose, old: Loose = {}, spec: Loose = {}): string[] =>
  refusals(pod, podWith(spec, { status }), { old: podWith(spec, { status: old }), subresource: 'status' });
const ended = (exitCode: number, name = 'c'): Loose => ({ name, state: { terminated: { exitCode } } });
const runs = (name = 'c'): Loose => ({ name, state: { running: {} } });
const containers = (status: Loose): Loose => ({ containerStatuses: [status] });
const STOPPED = 'Forbidden: may not be transitioned to non-terminated state';

describe('a container that ended', () => {
  const cases: readonly (readonly [string, Loose, number, boolean])[] = [
    ['of a pod that always restarts', {}, 0, true],
    ['well, of a pod that restarts after failures', { restartPolicy: 'OnFailure' }, 0, false],
    ['badly, of a pod that restarts after failures', { restartPolicy: 'OnFailure' }, 3, true],
    ['of a pod that never restarts', { restartPolicy: 'Never' }, 3, false],
    ['and always restarts itself', { restartPolicy: 'Never', containers: [containerWith({ restartPolicy: 'Always' })] }, 0, true],
    [
      'by a code of its rules',
      {
        restartPolicy: 'Never',
        containers: [
          containerWith({
            restartPolicy: 'Never',
            restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [42] } }],
          }),
        ],
      },
      42,
      true,
    ],
    [
      'by a code that its rules except',
      {
        restartPolicy: 'Never',
        containers: [
          containerWith({
            restartPolicy: 'Never',
            restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'NotIn', values: [42] } }],
          }),
        ],
      },
      42,
      false,
    ],
  ];
  for (const [name, spec, exitCode, comesBack] of cases) {
    it(`${name} ${comesBack ? 'may come back' : 'stays so'}`, () => {
      const expected = comesBack ? [] : [`status.containerStatuses[0].state: ${STOPPED}`];
      assert.deepEqual(reported(containers(runs()), containers(ended(exitCode)), spec), expected);
      assert.deepEqual(reported(containers(ended(exitCode)), containers(ended(exitCode)), spec), []);
    });
  }

  it('stays so when it only came to look', () => {
    const spec = { ephemeralContainers: [containerWith({ name: 'e' })] };
    assert.deepEqual(reported({ ephemeralContainerStatuses: [runs('e')] }, { ephemeralContainerStatuses: [ended(1, 'e')] }, spec), [
      `status.ephemeralContainerStatuses[0].state: ${STOPPED}`,
    ]);
  });
});

describe('the report of a container', () => {
  it('names users that Linux can have', () => {
    assert.deepEqual(reported(containers({ ...runs(), user: { linux: { uid: -1, gid: 0, supplementalGroups: [0, 2147483648] } } })), [
      'status.containerStatuses[0].user.linux.uid: Invalid value: -1: must be between 0 and 2147483647, inclusive',
      'status.containerStatuses[0].user.linux.supplementalGroups[1]: Invalid value: 2147483648: must be between 0 and 2147483647, inclusive',
    ]);
    assert.deepEqual(reported(containers({ ...runs(), user: { linux: { uid: 1, gid: 1 } } }), {}, { os: { name: 'windows' } }), [
      'status.containerStatuses[0].user.linux: Forbidden: cannot be set for a windows pod',
    ]);
  });

  it('tells the health of what the container asked for', () => {
    const spec = {
      containers: [containerWith({ resources: { requests: { 'example.com/box': '1' }, limits: { 'example.com/box': '1' } } })],
    };
    const health = (name: string, ...resources: Loose[]): Loose =>
      containers({ ...runs(), allocatedResourcesStatus: [{ name, resources }] });
    const at = 'status.containerStatuses[0].allocatedResourcesStatus[0]';
    assert.deepEqual(reported(health('example.com/box', { resourceID: 'a', health: 'Healthy' }), {}, spec), []);
    assert.deepEqual(reported(health('example.com/tin'), {}, spec), [
      `${at}.name: Invalid value: "example.com/tin": must match one of the container's resource requests`,
    ]);
    assert.deepEqual(
      reported(health('example.com/box', { resourceID: 'a', health: 'Fine' }, { resourceID: 'a', health: 'Unknown' }), {}, spec),
      [
        `${at}.resources[0].health: Unsupported value: "Fine": supported values: "Healthy", "Unhealthy", "Unknown"`,
        `${at}.resources[1].resourceID: Duplicate value: "a"`,
      ],
    );
  });
});

describe('the report of a pod', () => {
  it('has one address of a family, and the host’s first one twice', () => {
    assert.deepEqual(reported({ podIPs: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }] }), []);
    assert.deepEqual(reported({ podIPs: [{ ip: '10.0.0.1' }, { ip: '10.0.0.2' }] }), [
      'status.podIPs: Invalid value: [{"IP":"10.0.0.1"},{"IP":"10.0.0.2"}]: may specify no more than one IP for each IP family',
    ]);
    assert.deepEqual(reported({ podIPs: [{ ip: '10.0.0.1' }, { ip: 'x' }] }), [
      'status.podIPs[1]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
      'status.podIPs: Internal error: failed to check for dual stack with error:invalid IP[1]: <nil>',
      'status.podIPs: Invalid value: [{"IP":"10.0.0.1"},{"IP":"x"}]: may specify no more than one IP for each IP family',
    ]);
    assert.deepEqual(reported({ hostIP: '10.0.0.1', hostIPs: [{ ip: '10.0.0.2' }] }), [
      'status.hostIPs[0].ip: Invalid value: "10.0.0.2": must be equal to `hostIP`',
    ]);
    assert.deepEqual(reported({ hostIP: 'x', hostIPs: [{ ip: 'x' }] }), [
      'status.hostIPs[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    ]);
  });

  it('names a node to be freed only before the pod has one', () => {
    assert.deepEqual(reported({ nominatedNodeName: 'n' }), []);
    assert.deepEqual(reported({ nominatedNodeName: 'n' }, {}, { nodeName: 'm' }), [
      'status.nominatedNodeName: Forbidden: may not be set on pods that are already bound to a node',
    ]);
    assert.deepEqual(reported({ nominatedNodeName: 'n' }, { nominatedNodeName: 'n' }, { nodeName: 'm' }), []);
  });

  it('keeps the class of service and has conditions with names', () => {
    assert.deepEqual(reported({ qosClass: 'Guaranteed' }, { qosClass: 'BestEffort' }), [
      'status.qosClass: Invalid value: "Guaranteed": field is immutable',
    ]);
    const [message] = reported({ conditions: [{ type: 'a b', status: 'True' }] });
    assert.match(message!, /^status\.conditions\[0\]\.Type: Invalid value: "a b": name part must consist of alphanumeric characters/);
    assert.deepEqual(reported({ observedGeneration: -1, conditions: [{ type: 'Ready', status: 'True', observedGeneration: -2 }] }), [
      'status.conditions[0].observedGeneration: Invalid value: -2: must be a non-negative integer',
      'status.observedGeneration: Invalid value: -1: must be a non-negative integer',
    ]);
  });

  it('names the claims that the pod has', () => {
    const spec = { resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 't' }] };
    const claimed = (...resourceClaimStatuses: Loose[]): string[] => reported({ resourceClaimStatuses }, {}, spec);
    assert.deepEqual(claimed({ name: 'gpu', resourceClaimName: 'p-gpu' }), []);
    assert.deepEqual(claimed({ name: 'gpu' }, { name: 'gpu' }, { name: 'other' }), [
      'status.resourceClaimStatuses[1].name: Duplicate value: "gpu"',
      'status.resourceClaimStatuses[2].name: Invalid value: "other": must match the name of an entry in `spec.resourceClaims`',
    ]);
    const [message] = claimed({ name: 'gpu', resourceClaimName: 'P' });
    assert.match(message!, /^status\.resourceClaimStatuses\[0\]\.resourceClaimName: Invalid value: "P": a lowercase RFC 1123 subdomain/);
  });

  it('leaves what it says nothing of as it was', () => {
    const old = podWith(
      {},
      {
        status: { observedGeneration: 3, qosClass: 'BestEffort', conditions: [{ type: 'Ready', status: 'False', observedGeneration: 2 }] },
      },
    );
    const next = podWith({}, { status: { conditions: [{ type: 'Ready', status: 'True' }] } });
    const warnings: string[] = [];
    const context = { now: NOW, subresource: 'status', warn: (text: string) => warnings.push(text) } as unknown as StrategyContext;
    pod.status!.prepareForUpdate(next, old, context);
    const { observedGeneration, qosClass, conditions } = (next as Pod).status!;
    assert.deepEqual([observedGeneration, qosClass, conditions![0]!.observedGeneration], [3, 'BestEffort', 2]);
    assert.deepEqual(warnings, []);
  });
});
