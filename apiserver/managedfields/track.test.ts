/** Ownership by plain writes, and ownership that clients send. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AnyObject } from '../../machinery/api/object.ts';
import { OwnedObject } from './testing/owned-object.ts';

const configMap = (): OwnedObject => new OwnedObject('core.v1.ConfigMap');
const deployment = (containers: object[], more: object = {}) => ({
  spec: {
    selector: { matchLabels: { app: 'a' } },
    template: { metadata: { labels: { app: 'a' } }, spec: { containers, ...more } },
  },
});

describe('ownership by plain writes', () => {
  it('gives a creator all it sent, maps with themselves and their keys', () => {
    const object = configMap().put('m', { metadata: { labels: { x: '1' } }, data: { k: '1' } });
    assert.deepEqual(object.owners, ['m Update {"f:data":{".":{},"f:k":{}},"f:metadata":{"f:labels":{".":{},"f:x":{}}}}']);
  });

  it('names list items by their keys, atomic parts as one, and value structs not at all', () => {
    const object = new OwnedObject('apps.v1.Deployment').put(
      'm',
      deployment([{ name: 'main', image: 'i', args: ['x', 'x'], ports: [{ containerPort: 80, protocol: 'TCP' }], resources: {} }]),
    );
    assert.deepEqual(JSON.parse(object.owners[0].slice('m Update '.length)), {
      'f:spec': {
        'f:selector': {},
        'f:template': {
          'f:metadata': { 'f:labels': { '.': {}, 'f:app': {} } },
          'f:spec': {
            'f:containers': {
              'k:{"name":"main"}': {
                '.': {},
                'f:args': {},
                'f:image': {},
                'f:name': {},
                'f:ports': { '.': {}, 'k:{"containerPort":80,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {}, 'f:protocol': {} } },
                'f:resources': {},
              },
            },
          },
        },
      },
    });
  });

  it('marks a key that occurs twice, without what is below it', () => {
    const env = [
      { name: 'A', value: '1' },
      { name: 'A', value: '2' },
      { name: 'B', value: '3' },
    ];
    const object = new OwnedObject('apps.v1.Deployment').put('m', deployment([{ name: 'main', env }]));
    assert.match(
      object.owners[0],
      /"f:env":\{"\.":\{\},"k:\{\\"name\\":\\"A\\"\}":\{\},"k:\{\\"name\\":\\"B\\"\}":\{"\.":\{\},"f:name":\{\},"f:value":\{\}\}\}/,
    );
  });

  it('takes a changed field from its owner and leaves the map it is in', () => {
    const object = configMap().put('first', { data: { k: '1' } });
    object.put('second', { data: { k: '1', l: '1' } });
    assert.deepEqual(object.owners, ['first Update {"f:data":{".":{},"f:k":{}}}', 'second Update {"f:data":{"f:l":{}}}']);
    object.put('third', { data: { k: '2', l: '1' } });
    assert.deepEqual(object.owners, [
      'first Update {"f:data":{}}',
      'second Update {"f:data":{"f:l":{}}}',
      'third Update {"f:data":{"f:k":{}}}',
    ]);
  });

  it('takes a removed field from everybody', () => {
    const object = configMap()
      .put('m', { data: { k: '1', l: '1' } })
      .put('n', { data: { k: '1' } });
    assert.deepEqual([object.owners, object.times], [['m Update {"f:data":{".":{},"f:k":{}}}'], 'm 1']);
    object.put('n', {});
    assert.deepEqual(object.live?.metadata.managedFields, undefined);
    object.put('n', { data: { x: '1' } });
    assert.deepEqual(object.owners, [], 'an object without ownership is not tracked again');
  });

  it('dates an entry when its manager changes something, and only then', () => {
    const object = configMap().put('m', { data: { k: '1' } });
    const before = object.live?.metadata.managedFields;
    object.put('m', { data: { k: '1' } });
    assert.equal(object.live?.metadata.managedFields, before, 'nothing changed: the very same entries');
    object.put('m', { data: { k: '2' } });
    assert.equal(object.times, 'm 3');
    object.put('m', {});
    assert.deepEqual(object.owners, []);
  });

  it('keeps apart what a manager writes through a subresource, and what that throws away', () => {
    const object = new OwnedObject('apps.v1.Deployment').put('m', { ...deployment([{ name: 'main' }]), status: { replicas: 7 } });
    assert.doesNotMatch(object.owners[0], /status/);
    const written = (o: AnyObject): void => {
      o['status'] = { replicas: 1 };
      o.metadata.labels = { x: '1' };
    };
    object.change('m', written, { subresource: 'status' });
    assert.equal(object.owners[1], 'm/status Update {"f:status":{"f:replicas":{}}}');
  });

  it('owns finalizers and owner references item by item', () => {
    const owner = { apiVersion: 'v1', kind: 'X', name: 'x', uid: 'u1' };
    const object = configMap().put('m', { metadata: { finalizers: ['e.com/a'], ownerReferences: [owner] } });
    assert.deepEqual(object.owners, [
      'm Update {"f:metadata":{"f:finalizers":{".":{},"v:\\"e.com/a\\"":{}},"f:ownerReferences":{".":{},"k:{\\"uid\\":\\"u1\\"}":{}}}}',
    ]);
  });

  it('merges the oldest of more than ten updaters', () => {
    const object = configMap().put('m00', { data: { k: '0' } });
    for (let i = 1; i <= 12; i++) {
      const key = `k${String(i).padStart(2, '0')}`;
      object.change(`m${key.slice(1)}`, (o) => {
        (o['data'] as Record<string, string>)[key] = '1';
      });
    }
    const [oldest, ...others] = object.owners;
    assert.equal(oldest, 'ancient-changes Update {"f:data":{".":{},"f:k":{},"f:k01":{},"f:k02":{},"f:k03":{}}}');
    assert.equal(others.length, 9);
    assert.match(object.times, /^ancient-changes 4, m04 5,/);
  });
});

describe('ownership that clients send', () => {
  const entry = { manager: 'x', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { 'f:data': { 'f:k': {} } } };
  const cases: [string, unknown, string[]][] = [
    ['an empty list clears', [], []],
    ['one empty entry clears', [{}], []],
    ['two empty entries are ignored', [{}, {}], ['m Update {"f:data":{".":{},"f:k":{}}}']],
    ['null is ignored', null, ['m Update {"f:data":{".":{},"f:k":{}}}']],
    ['a whole entry replaces', [entry], ['x Update {"f:data":{"f:k":{}}}']],
    ['of two entries of one manager the last counts', [entry, { ...entry, fieldsV1: { 'f:data': {} } }], ['x Update {"f:data":{}}']],
    ['a version that is not there is dropped', [{ ...entry, apiVersion: 'example.com/v9' }], []],
    ['an unknown operation is ignored', [{ ...entry, operation: 'Delete' }], ['m Update {"f:data":{".":{},"f:k":{}}}']],
    ['no version is ignored', [{ ...entry, apiVersion: '' }], ['m Update {"f:data":{".":{},"f:k":{}}}']],
    ['an unknown form of fields is ignored', [{ ...entry, fieldsType: 'FieldsV2' }], ['m Update {"f:data":{".":{},"f:k":{}}}']],
    ['fields that are no paths are ignored', [{ ...entry, fieldsV1: { data: {} } }], ['m Update {"f:data":{".":{},"f:k":{}}}']],
    ['a list of fields is ignored', [{ ...entry, fieldsV1: [] }], ['m Update {"f:data":{".":{},"f:k":{}}}']],
    ['an entry that owns nothing goes', [{ ...entry, fieldsV1: undefined }], []],
  ];
  for (const [what, managedFields, owners] of cases) {
    it(what, () => {
      const object = configMap().put('m', { data: { k: '1' } });
      object.put('n', { metadata: { managedFields }, data: { k: '1' } });
      assert.deepEqual(object.owners, owners);
    });
  }
});

it('costs about as much per field for many fields as for few', () => {
  const data = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, '']));
  const before = process.cpuUsage();
  new OwnedObject('core.v1.ConfigMap')
    .put('u', { data })
    .apply('a', { data })
    .apply('a', { data: { k0: '' } });
  const { user } = process.cpuUsage(before);
  assert.ok(user < 5_000_000, `${user / 1000} ms`);
});
