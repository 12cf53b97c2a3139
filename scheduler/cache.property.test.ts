/** The cache against counting anew, under any order of events. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { selectorOf } from '../machinery/api/selector.ts';
import type { Pod } from '../machinery/api/types/core.v1.ts';
import { NodeInfo } from './framework/node-info.ts';
import { podInfo } from './framework/pod-info.ts';
import { makeCache, makeNode, makePod } from './testing/fixtures.ts';

const NODES = ['a', 'b', 'c'];
const selector = selectorOf({ matchLabels: { app: 'x' } });

const operation = fc.record({
  do: fc.constantFrom('set', 'remove', 'assume', 'forget', 'addNode', 'removeNode'),
  pod: fc.integer({ min: 0, max: 7 }),
  node: fc.constantFrom(...NODES),
  cpu: fc.constantFrom('100m', '1', '2500m'),
  app: fc.constantFrom('x', 'y'),
  port: fc.constantFrom(0, 80, 443),
  terminating: fc.boolean(),
});

test('whatever happens, the sums of each node equal those of counting its pods anew', () => {
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 60 }), (operations) => {
      const cache = makeCache(NODES.map((name) => makeNode(name)));
      cache.podCounts('default', selector);
      const truth = new Map<string, { pod: Pod; node: string; assumed: boolean }>();
      for (const op of operations) {
        const pod = makePod(`p${op.pod}`, { labels: { app: op.app }, requests: { cpu: op.cpu, memory: '1Gi' } });
        if (op.terminating) pod.metadata.deletionTimestamp = '2026-01-01T00:00:00Z';
        if (op.port) pod.spec.containers[0]!.ports = [{ containerPort: op.port, hostPort: op.port }];
        const uid = pod.metadata.uid as string;
        if (op.do === 'set') {
          cache.setPod({ ...pod, spec: { ...pod.spec, nodeName: op.node } });
          truth.set(uid, { pod, node: op.node, assumed: false });
        } else if (op.do === 'assume' && !truth.has(uid)) {
          cache.assume(podInfo(pod), op.node);
          truth.set(uid, { pod, node: op.node, assumed: true });
        } else if (op.do === 'forget') {
          cache.forget(uid);
          if (truth.get(uid)?.assumed) truth.delete(uid);
        } else if (op.do === 'remove') {
          cache.removePod(uid);
          truth.delete(uid);
        } else if (op.do === 'addNode') cache.setNode(makeNode(op.node));
        else if (op.do === 'removeNode') cache.removeNode(op.node);
      }
      for (const name of NODES) {
        const fresh = new NodeInfo(name);
        let matching = 0;
        for (const { pod, node } of truth.values()) {
          if (node !== name) continue;
          fresh.addPod(podInfo(pod));
          if (pod.metadata.labels?.['app'] === 'x' && !pod.metadata.deletionTimestamp) matching++;
        }
        const info = cache.node(name);
        assert.deepEqual(new Map([...(info?.requested ?? [])].sort()), new Map([...fresh.requested].sort()));
        assert.deepEqual(new Map([...(info?.assumedRequested ?? [])].sort()), new Map([...fresh.assumedRequested].sort()));
        assert.equal(info?.pods.size ?? 0, fresh.pods.size);
        for (const port of [80, 443]) {
          const host = { ip: '0.0.0.0', protocol: 'TCP', port };
          assert.equal(info?.portTaken(host) ?? false, fresh.portTaken(host));
        }
        assert.equal(cache.podCounts('default', selector).get(name) ?? 0, matching);
      }
      assert.equal(cache.podCount, truth.size);
    }),
    { numRuns: 200 },
  );
});
