/** The three kinds of patch, and the computing of apply patches, by table and by property. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseJson } from '../json.ts';
import { typeSchema } from '../schema/schema.ts';
import { StatusError } from '../status.ts';
import { jsonPatch } from './json.ts';
import { createThreeWayMergePatch, mergePatch } from './merge.ts';
import { createThreeWayPatch, strategicMerge } from './strategic.ts';

const deployment = typeSchema('apps.v1.Deployment');
const json = (text: string): object => parseJson(text).value as object;
const withContainers = (...containers: object[]): object => ({ spec: { template: { spec: { containers } } } });
const fails = (run: () => unknown, code: number, message: string | RegExp): void => {
  assert.throws(run, (error: Error) => {
    assert.ok(error instanceof StatusError, String(error));
    assert.equal(error.code, code);
    if (typeof message === 'string') assert.equal(error.message, message);
    else assert.match(error.message, message);
    return true;
  });
};

test('a JSON patch has the habits of upstream', () => {
  const cases: [string, string, string][] = [
    ['{"data":{"k":"v"}}', '[{"op":"add","path":"/data/n","value":"1"}]', '{"data":{"k":"v","n":"1"}}'],
    ['{"data":{"k":"v"}}', '[{"op":"replace","path":"/data/z","value":"w"}]', '{"data":{"k":"v","z":"w"}}'],
    ['{"data":{"k":"v"}}', '[{"op":"test","path":"/data/none","value":null}]', '{"data":{"k":"v"}}'],
    ['{"data":{"k":"v"}}', '[{"op":"add","path":"data/x","value":"1"}]', '{"data":{"k":"v"},"x":"1"}'],
    ['{"data":{"k":"v"}}', '[{"op":"copy","from":"/data/none","path":"/data/y"}]', '{"data":{"k":"v","y":null}}'],
    ['{"data":{"k":"v"}}', '[{"op":"move","from":"/data/k","path":"/data/m"}]', '{"data":{"m":"v"}}'],
    ['{"data":{"k":"v"}}', '[{"op":"replace","path":"","value":{"a":1}}]', '{"a":1}'],
    [
      '{"l":["a","b"]}',
      '[{"op":"add","path":"/l/-1","value":"c"},{"op":"add","path":"/l/01","value":"x"},{"op":"remove","path":"/l/+0"}]',
      '{"l":["x","b","c"]}',
    ],
    ['{"data":{"a/b":"1","~":"2"}}', '[{"op":"remove","path":"/data/a~1b"},{"op":"remove","path":"/data/~0"}]', '{"data":{}}'],
    [
      '{"data":{"k":"v"}}',
      '[{"op":"add","path":"/data/__proto__","value":"1"},{"op":"test","path":"/data/__proto__","value":"1"}]',
      '{"data":{"k":"v","__proto__":"1"}}',
    ],
  ];
  for (const [original, patch, expected] of cases)
    assert.deepEqual(jsonPatch(json(original), json(patch) as unknown[]), json(expected), patch);
});

test('a JSON patch that does not apply is 422 without a reason, one that is none is 400', () => {
  const rejected = [
    '[{}]',
    '[{"op":"set","path":"/data/x"}]',
    '[{"op":"remove","path":"/data/none"}]',
    '[{"op":"add","path":"/none/x","value":1}]',
    '[{"op":"add","path":"","value":{}}]',
    '[{"op":"add","path":"/__proto__/polluted","value":1}]',
    '[{"op":"add","path":"/constructor/prototype/polluted","value":1}]',
    '[{"op":"test","path":"/n","value":3.0}]',
    '[{"op":"add","path":"/l/9","value":1}]',
    '[{"op":"replace","path":"/l/-","value":1}]',
    '[{"op":"move","from":"/data","path":"/data/l"}]',
  ];
  for (const patch of rejected) {
    fails(
      () => jsonPatch(json('{"data":{"k":"v"},"n":3,"l":[1]}'), json(patch) as unknown[]),
      422,
      'the server rejected our request due to an error in our request',
    );
  }
  assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
  fails(
    () => jsonPatch({}, [{ op: 1 }]),
    400,
    'error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string',
  );
});

test('a merge patch removes with null and replaces lists', () => {
  assert.deepEqual(mergePatch({ a: { b: 1, c: 2 }, l: [1] }, { a: { b: null, d: { e: null } }, l: [2], n: null }), {
    a: { c: 2, d: {} },
    l: [2],
  });
  const polluted = mergePatch(json('{"data":{}}'), json('{"data":{"__proto__":"2"}}')) as { data: object };
  assert.deepEqual(Object.keys(polluted.data), ['__proto__']);
});

test('a three-way merge patch deletes what was applied before and leaves what others set', () => {
  const patch = createThreeWayMergePatch({ spec: { a: 1, b: 2 } }, { spec: { a: 3 } }, { spec: { a: 1, b: 2, other: 9 }, status: {} });
  assert.deepEqual(patch, { spec: { a: 3, b: null } });
});

const one = {
  name: 'one',
  image: 'i:1',
  env: [
    { name: 'A', value: '1' },
    { name: 'B', value: '2' },
  ],
  args: ['x'],
};
const two = { name: 'two', image: 'i:2' };
const containersOf = (result: object): unknown =>
  (result as { spec: { template: { spec: { containers: unknown } } } }).spec.template.spec.containers;

test('lists with a merge key merge item by item, new items first', () => {
  const live = withContainers(one, two);
  assert.deepEqual(containersOf(strategicMerge(deployment, live, withContainers({ name: 'two', image: 'i:3' }))), [
    one,
    { name: 'two', image: 'i:3' },
  ]);
  assert.deepEqual(containersOf(strategicMerge(deployment, live, withContainers({ name: 'three' }))), [{ name: 'three' }, one, two]);
  assert.deepEqual(containersOf(strategicMerge(deployment, live, withContainers({ name: 'two', $patch: 'delete' }))), [one]);
  assert.deepEqual(containersOf(strategicMerge(deployment, live, withContainers({ $patch: 'replace' }, { name: 'new' }))), [
    { name: 'new' },
  ]);
  assert.deepEqual(containersOf(strategicMerge(deployment, live, withContainers({ name: 'one', env: null, args: ['y'] }))), [
    { name: 'one', image: 'i:1', args: ['y'] },
    two,
  ]);
});

test('an order directive decides where items go', () => {
  const patch = {
    spec: {
      template: {
        spec: { '$setElementOrder/containers': [{ name: 'two' }, { name: 'mid' }, { name: 'one' }], containers: [{ name: 'mid' }] },
      },
    },
  };
  assert.deepEqual(containersOf(strategicMerge(deployment, withContainers(one, two), patch)), [two, { name: 'mid' }, one]);
});

test('primitive lists merge as sets and lose what is deleted from them', () => {
  const map = typeSchema('core.v1.ConfigMap');
  const live = { metadata: { finalizers: ['a', 'b'] } };
  const finalizers = (patch: object): unknown =>
    (strategicMerge(map, live, { metadata: patch }) as { metadata: { finalizers: unknown } }).metadata.finalizers;
  assert.deepEqual(finalizers({ finalizers: ['c'] }), ['c', 'a', 'b']);
  assert.deepEqual(finalizers({ '$deleteFromPrimitiveList/finalizers': ['b'] }), ['a']);
  assert.deepEqual(finalizers({ '$deleteFromPrimitiveList/finalizers': 'x' }), ['a', 'b']);
});

test('retained keys clear the others, and directives without a counterpart leave nothing', () => {
  const live = { spec: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 2 } } } };
  const strategy = (patch: object): unknown => (strategicMerge(deployment, live, { spec: patch }) as { spec: object }).spec;
  assert.deepEqual(strategy({ strategy: { $retainKeys: ['type'], type: 'Recreate' } }), { strategy: { type: 'Recreate' } });
  assert.deepEqual(
    strategy({ template: { spec: { nodeSelector: { $patch: 'merge', a: 'b' }, tolerations: [{ $patch: 'delete', key: 'a' }] } } }),
    {
      ...live.spec,
      template: { spec: { tolerations: [] } },
    },
  );
  fails(() => strategy({ strategy: { $retainKeys: ['type'], type: 'x', rollingUpdate: {} } }), 400, 'invalid patch format of retainKeys');
});

test('strategic patches that make no sense answer as upstream', () => {
  const live = { ...withContainers(one, two), metadata: { name: 'a' } };
  const cases: [string, number, string][] = [
    ['{"spec":{"$patch":"merge","replicas":2}}', 500, 'unknown patch type: merge in map: map[$patch:merge replicas:2]'],
    ['{"spec":{"$patch":1,"replicas":3}}', 500, 'unknown patch type: %!s(int64=1) in map: map[$patch:1 replicas:3]'],
    ['{"spec":{"template":{"spec":{"containers":[{"image":"x"}]}}}}', 500, 'map: map[image:x] does not contain declared merge key: name'],
    [
      '{"spec":{"template":{"spec":{"containers":[{"$patch":"merge","name":"one"}]}}}}',
      500,
      'merging lists cannot yet be specified in the patch',
    ],
    [
      '{"spec":{"template":{"spec":{"containers":"x"}}}}',
      422,
      ' "" is invalid: patch: Invalid value: "map[spec:map[template:map[spec:map[containers:x]]]]": cannot restore slice from string',
    ],
    [
      '{"spec":{"replicas":2.5}}',
      422,
      ' "" is invalid: patch: Invalid value: "map[spec:map[replicas:2.5]]": cannot convert float64 to int32',
    ],
    ['{"spec":{"replicas":"2"}}', 422, ' "" is invalid: patch: Invalid value: "map[spec:map[replicas:2]]": unrecognized type: int32'],
  ];
  for (const [patch, code, message] of cases) fails(() => strategicMerge(deployment, live, json(patch)), code, message);
  fails(() => strategicMerge(deployment, live, withContainers('x' as never)), 500, /^list element types are not identical: \[\[map\[/);
});

test('numbers of a strategic patch become those of their field', () => {
  const replicas = (patch: string): unknown =>
    (strategicMerge(deployment, { spec: { replicas: 1 } }, json(patch)) as { spec: { replicas: unknown } }).spec.replicas;
  assert.equal(replicas('{"spec":{"replicas":2.0}}'), 2);
  assert.equal(replicas('{"spec":{"replicas":4294967297}}'), 1);
});

test('an apply patch names deletions, changes and the order of lists', () => {
  const original = withContainers(one, two);
  const modified = withContainers({ ...one, image: 'i:9' });
  const current = withContainers({ ...one, imagePullPolicy: 'Always' }, two);
  assert.deepEqual(createThreeWayPatch(deployment, original, modified, current), {
    spec: {
      template: {
        spec: {
          '$setElementOrder/containers': [{ name: 'one' }],
          containers: [
            { name: 'one', image: 'i:9' },
            { name: 'two', $patch: 'delete' },
          ],
        },
      },
    },
  });
  assert.deepEqual(createThreeWayPatch(deployment, modified, modified, modified), {});
  assert.deepEqual(createThreeWayPatch(deployment, { spec: { paused: true } }, { spec: {} }, { spec: { paused: true, replicas: 3 } }), {
    spec: { paused: null },
  });
  const recreate = createThreeWayPatch(
    deployment,
    undefined,
    { spec: { strategy: { type: 'Recreate' } } },
    { spec: { strategy: { type: 'RollingUpdate', rollingUpdate: {} } } },
  );
  assert.deepEqual(recreate, { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } });
});

test('a JSON patch whose copies double the object each time is refused before it fills the memory', () => {
  const copies = Array.from({ length: 60 }, (_, i) => ({ op: 'copy', from: '/data', path: `/data/c${i}` }));
  const started = process.hrtime.bigint();
  assert.throws(() => jsonPatch({ data: { k: 'x'.repeat(1000) } }, copies), /the server rejected our request/);
  assert.ok(process.hrtime.bigint() - started < 5_000_000_000n);
  const few = jsonPatch({ data: { k: 'x' } }, copies.slice(0, 3)) as { data: object };
  assert.deepEqual(Object.keys(few.data), ['k', 'c0', 'c1', 'c2']);
});

test('a list of what to delete is one whatever the strategy of its field is', () => {
  const namespace = typeSchema('core.v1.Namespace');
  const original = { spec: { finalizers: ['a', 'b', 'a'] } };
  assert.deepEqual(strategicMerge(namespace, original, { spec: { '$deleteFromPrimitiveList/finalizers': ['a'] } }), {
    spec: { finalizers: ['b'] },
  });
  fails(
    () => strategicMerge(namespace, original, { spec: { '$deleteFromPrimitiveList/finalizers': [null] } }),
    500,
    'list element types are not identical: [[a b a] [<nil>]]',
  );
});

test('a list of scalars that is not in alphabetical order has its order said even where nothing changes', () => {
  const object = { metadata: { finalizers: ['b', 'a'] } };
  const patch = createThreeWayPatch(deployment, object, { metadata: { finalizers: ['b', 'a'], labels: { k: 'v' } } }, object);
  assert.deepEqual(patch, { metadata: { labels: { k: 'v' }, '$setElementOrder/finalizers': ['b', 'a'] } });
  const sorted = { metadata: { finalizers: ['a', 'b'] } };
  assert.deepEqual(createThreeWayPatch(deployment, sorted, sorted, sorted), {});
});

test('what reads its JSON itself is refused without its place, named texts with their type', () => {
  const pod = typeSchema('core.v1.Pod');
  const cases: [object, RegExp][] = [
    [{ metadata: { deletionTimestamp: 5 } }, /: json: cannot unmarshal number into Go value of type string$/],
    [{ spec: { dnsPolicy: 5 } }, /: cannot convert int64 to v1\.DNSPolicy$/],
    [{ spec: { containers: [{ name: 'a', ports: [{ containerPort: 1, protocol: true }] }] } }, /: unrecognized type: string$/],
  ];
  for (const [patch, message] of cases) fails(() => strategicMerge(pod, {}, patch), 422, message);
});
