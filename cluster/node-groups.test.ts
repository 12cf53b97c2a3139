/** Which nodes share a kubelet process, and that one of them is not taken for all. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findProcess } from './cluster.ts';
import { groupNodes } from './node-groups.ts';

const names = (nodes: number | readonly string[], nodesPerKubelet?: number): string[] =>
  groupNodes(nodes, nodesPerKubelet).map(({ name }) => name);

test('a few nodes have a process each', () => {
  assert.deepEqual(names(3), ['node-1', 'node-2', 'node-3']);
  assert.equal(names(10).length, 10);
  assert.deepEqual(names(0), []);
});

test('many nodes share one', () => {
  assert.deepEqual(groupNodes(1000), [{ name: 'nodes-1-to-1000', base: 'node', first: 1, count: 1000 }]);
  assert.deepEqual(names(11), ['nodes-1-to-11']);
});

test('how many share one can be chosen; one that is left over has a process of its own', () => {
  assert.deepEqual(names(1000, 400), ['nodes-1-to-400', 'nodes-401-to-800', 'nodes-801-to-1000']);
  assert.deepEqual(names(5, 2), ['nodes-1-to-2', 'nodes-3-to-4', 'node-5']);
  assert.equal(names(20, 1).length, 20);
  assert.throws(() => groupNodes(5, 0), /at least 1/);
});

test('nodes with names have a process each', () => assert.deepEqual(names(['a', 'b']), ['a', 'b']));

test('a node that shares its process is not taken for it', () => {
  const processes = names(20, 15).map((name) => ({ name: `kubelet-${name}` }));
  assert.equal(findProcess(processes, 'nodes-1-to-15').name, 'kubelet-nodes-1-to-15');
  assert.throws(
    () => findProcess(processes, 'node-17'),
    /node-17 has no process of its own: it is one of those that kubelet-nodes-16-to-20 runs/,
  );
  assert.throws(() => findProcess(processes, 'node-21'), /there is no process "node-21"/);
});
