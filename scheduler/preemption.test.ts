/** Who has to make room for whom, and that the room is kept. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodDisruptionBudget } from '../machinery/api/types/policy.v1.ts';
import { podInfo } from './framework/pod-info.ts';
import { preempt } from './preemption.ts';
import { find, makeCache, makeNode, makePod, place } from './testing/fixtures.ts';

const cpu = (amount: string) => ({ requests: { cpu: amount } });
const high = makePod('high', { priority: 100, ...cpu('2') });

function run(pods: ReturnType<typeof makePod>[], budgets: PodDisruptionBudget[] = [], nodes = [makeNode('a')]) {
  const cache = makeCache(nodes, pods);
  const found = find(high, cache);
  assert.equal(found.node, undefined);
  const { nodeName, victims, message } = preempt({ pod: podInfo(high), found, snapshot: cache, budgets });
  const sizes = pods.length === cache.podCount;
  assert.ok(sizes, 'the dry run leaves the cache as it was');
  return { nodeName, victims: victims.map((victim) => victim.pod.metadata.name).sort(), message };
}

test('the lower priority goes, and no more than needed', () => {
  const pods = [makePod('zero', { node: 'a', ...cpu('2') }), makePod('ten', { node: 'a', priority: 10, ...cpu('2') })];
  assert.deepEqual(run(pods), { nodeName: 'a', victims: ['zero'], message: '' });
});

test('equal priority is left alone', () => {
  const { nodeName, message } = run([makePod('x', { node: 'a', priority: 100, ...cpu('3') })]);
  assert.equal(nodeName, undefined);
  assert.equal(
    message,
    'no new claims to deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.',
  );
});

test('the node whose victims matter least is taken', () => {
  const pods = [makePod('x', { node: 'a', priority: 50, ...cpu('4') }), makePod('y', { node: 'b', priority: 10, ...cpu('4') })];
  assert.deepEqual(run(pods, [], [makeNode('a'), makeNode('b')]), { nodeName: 'b', victims: ['y'], message: '' });
});

test('the victim whose budget allows it is taken', () => {
  const pods = [
    makePod('guarded', { node: 'a', labels: { app: 'g' }, ...cpu('2') }),
    makePod('free', { node: 'a', labels: { app: 'f' }, ...cpu('2') }),
  ];
  const budget = {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'b', namespace: 'default' },
    spec: { selector: { matchLabels: { app: 'g' } } },
    status: { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 },
  } as PodDisruptionBudget;
  assert.deepEqual(run(pods, [budget]).victims, ['free']);
});

test('room made for one pod is not given to another of lower priority', () => {
  const cache = makeCache([makeNode('a')]);
  cache.nominate(podInfo(high), 'a');
  assert.match(place(makePod('low', cpu('3')), cache), /Insufficient cpu/);
  assert.equal(place(high, cache), 'a');
  assert.equal(place(makePod('higher', { priority: 200, ...cpu('3') }), cache), 'a');
});

test('a pod waits for the victims that are on their way out instead of taking more', () => {
  const leaving = makePod('leaving', { node: 'a', ...cpu('3') });
  leaving.metadata.deletionTimestamp = '2026-01-01T00:00:00Z';
  leaving.status = { conditions: [{ type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler' }] };
  const cache = makeCache([makeNode('a')], [leaving]);
  const nominated = { ...high, status: { nominatedNodeName: 'a' } };
  assert.match(place(nominated, cache), /preemption: not eligible due to a terminating pod on the nominated node\.$/);
});
