/** Lookup by index and by labels. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../api/types/core.v1.ts';
import { IndexedStore } from './indexed-store.ts';

const pod = (name: string, namespace: string, labels: Record<string, string>, nodeName = ''): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace, labels },
  spec: { containers: [], nodeName },
});
const names = (pods: readonly Pod[] | undefined): string[] => (pods ?? []).map((object) => object.metadata.name ?? '').sort();

test('an index follows what is set, changed and deleted, whether made before or after', () => {
  const store = new IndexedStore<Pod>();
  store.define('node', (object) => [object.spec.nodeName ?? '']);
  store.set(pod('a', 'x', {}));
  assert.deepEqual(names(store.byIndex('node', '')), ['a']);
  store.set(pod('a', 'x', {}, 'n1'));
  store.set(pod('b', 'x', {}, 'n1'));
  assert.deepEqual(names(store.byIndex('node', '')), []);
  assert.deepEqual(names(store.byIndex('node', 'n1')), ['a', 'b']);
  store.delete('x/a');
  assert.deepEqual(names(store.byIndex('node', 'n1')), ['b']);
});

test('labels are looked up within a namespace, all pairs at once', () => {
  const store = new IndexedStore<Pod>();
  store.set(pod('a', 'x', { app: 'web', tier: 'front' }));
  store.set(pod('b', 'x', { app: 'web', tier: 'back' }));
  store.set(pod('c', 'y', { app: 'web', tier: 'front' }));
  assert.deepEqual(names(store.byLabels('x', { app: 'web' })), ['a', 'b']);
  assert.deepEqual(names(store.byLabels('x', { app: 'web', tier: 'front' })), ['a']);
  assert.deepEqual(names(store.byLabels('x', { app: 'none' })), []);
  assert.equal(store.byLabels('x', {}), undefined);
});

test('label names such as __proto__ and constructor are names like any other', () => {
  const store = new IndexedStore<Pod>();
  const labels = JSON.parse('{"__proto__": "a", "constructor": "b"}') as Record<string, string>;
  store.set(pod('a', 'x', labels));
  assert.deepEqual(names(store.byLabels('x', JSON.parse('{"constructor": "b"}') as Record<string, string>)), ['a']);
});
