/** The same seed draws the same faults; what is asked for with --only is found or refused. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../machinery/process/random.ts';
import { chooseProcesses, drawFaults, type Fault } from './faults.ts';

const names = ['apiserver', 'controllers', 'scheduler', 'kubelet-node-1', 'kubelet-node-2'];

function first(count: number, seed: number, among: readonly string[] = names): Fault[] {
  const faults = drawFaults(seededRandom(seed), among);
  return Array.from({ length: count }, () => faults.next().value);
}

test('a seed repeats its faults and another seed draws others', () => {
  assert.deepEqual(first(50, 7), first(50, 7));
  assert.notDeepEqual(first(50, 7), first(50, 8));
});

test('every kind of fault is drawn, of one process and of several, of all processes, also during a start', () => {
  const faults = first(200, 1);
  assert.deepEqual(new Set(faults.map(({ kind }) => kind)), new Set(['kill', 'freeze', 'freeze-kill']));
  assert.deepEqual(new Set(faults.flatMap(({ processes }) => processes)), new Set(names));
  assert.ok(faults.some(({ processes }) => processes.length === 1) && faults.some(({ processes }) => processes.length > 2));
  assert.deepEqual(new Set(faults.map(({ whileStarting }) => whileStarting?.kind)), new Set(['kill', 'freeze', undefined]));
  assert.ok(faults.every(({ processes }) => new Set(processes).size === processes.length && processes.length > 0));
});

test('--only chooses processes by name, by node, or all kubelets', () => {
  const cases: readonly (readonly [readonly string[], readonly string[]])[] = [
    [[], names],
    [['scheduler'], ['scheduler']],
    [['node-2'], ['kubelet-node-2']],
    [
      ['kubelet', 'apiserver'],
      ['apiserver', 'kubelet-node-1', 'kubelet-node-2'],
    ],
  ];
  for (const [wanted, expected] of cases) assert.deepEqual(chooseProcesses(names, wanted), expected);
  assert.throws(() => chooseProcesses(names, ['etcd']), /there is no process "etcd"; there are apiserver/);
});
