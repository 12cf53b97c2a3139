/** Which pods a drain removes, leaves or refuses. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Pod } from '../../machinery/api/types/core.v1.ts';
import { DAEMONSET_REFUSAL, type DrainRules, LOCAL_DATA_REFUSAL, planDrain, UNMANAGED_REFUSAL } from './drain-plan.ts';

const RULES: DrainRules = { force: false, ignoreDaemonSets: false, deleteEmptyDirData: false, skipDeletedSeconds: 0 };
const pod = (owner: string, rest: Partial<Pod> = {}): Pod =>
  ({
    metadata: {
      name: 'p',
      namespace: 'd',
      ...(owner && { ownerReferences: [{ kind: owner, name: 'o', controller: true, apiVersion: 'apps/v1', uid: 'u' }] }),
    },
    spec: { containers: [] },
    ...rest,
  }) as Pod;
const local = { spec: { containers: [], volumes: [{ name: 'v', emptyDir: {} }] } } as Partial<Pod>;

describe('a drain', () => {
  const cases: [name: string, pod: Pod, rules: Partial<DrainRules>, removed: number, refusals: string[]][] = [
    ['removes what a controller replaces', pod('ReplicaSet'), {}, 1, []],
    ['refuses pods of daemon sets', pod('DaemonSet'), {}, 0, [`${DAEMONSET_REFUSAL}: d/p`]],
    ['leaves them when told to ignore them', pod('DaemonSet'), { ignoreDaemonSets: true }, 0, []],
    ['refuses pods nobody replaces', pod(''), {}, 0, [`${UNMANAGED_REFUSAL}: d/p`]],
    ['removes them by force', pod(''), { force: true }, 1, []],
    ['removes finished ones', pod('', { status: { phase: 'Succeeded' } } as Partial<Pod>), {}, 1, []],
    ['refuses local data', pod('ReplicaSet', local), {}, 0, [`${LOCAL_DATA_REFUSAL}: d/p`]],
    ['gives local data up when told to', pod('ReplicaSet', local), { deleteEmptyDirData: true }, 1, []],
  ];
  for (const [name, p, rules, removed, refusals] of cases) {
    test(name, () => {
      const plan = planDrain([p], { ...RULES, ...rules }, new Date(0));
      assert.deepEqual([plan.remove.length, plan.refusals], [removed, refusals]);
    });
  }
});
