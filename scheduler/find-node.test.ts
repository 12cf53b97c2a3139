/** How many nodes are looked at, and that a partial look moves on. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../machinery/process/random.ts';
import { findNode, nodesToFind } from './find-node.ts';
import { podInfo } from './framework/pod-info.ts';
import { defaultProfile } from './framework/profile.ts';
import { makeCache, makeNode, makePod } from './testing/fixtures.ts';

const table: readonly [total: number, percentage: number, expected: number][] = [
  [10, 0, 10],
  [99, 50, 99],
  [100, 0, 100],
  [1000, 0, 420],
  [5000, 0, 500],
  [6000, 0, 300],
  [1000, 30, 300],
  [1000, 100, 1000],
];
for (const [total, percentage, expected] of table) {
  test(`of ${total} nodes at ${percentage} percent ${expected} are enough`, () => assert.equal(nodesToFind(total, percentage), expected));
}

test('a partial look begins where the last one ended, and sees every zone', () => {
  const cache = makeCache(
    Array.from({ length: 300 }, (_, i) =>
      makeNode(`n${i}`, { labels: { 'topology.kubernetes.io/zone': i < 100 ? 'a' : i < 200 ? 'b' : 'c' } }),
    ),
  );
  const found = findNode(podInfo(makePod('p')), cache, defaultProfile, {
    percentageOfNodesToScore: 40,
    startIndex: 290,
    random: seededRandom(1),
  });
  assert.equal(found.nextStartIndex, (290 + 120) % 300);
  assert.deepEqual(new Set(cache.nodes.slice(0, 3).map((node) => node.labels['topology.kubernetes.io/zone'])), new Set(['a', 'b', 'c']));
});
