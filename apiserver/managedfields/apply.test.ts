/** Server-side apply: ownership, lists, conflicts, bodies that do not fit, the way from client-side apply (guarantee C10). */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Plain } from '../../machinery/api/plain.ts';
import { StatusError } from '../../machinery/api/status.ts';
import { LAST_APPLIED } from '../../machinery/api/well-known-labels.ts';
import { OwnedObject } from './testing/owned-object.ts';

const configMap = (): OwnedObject => new OwnedObject('core.v1.ConfigMap');
const deployment = (): OwnedObject => new OwnedObject('apps.v1.Deployment');
const containers = (...list: unknown[]): Plain => ({ spec: { template: { spec: { containers: list } } } });
const namesOf = (object: OwnedObject): string[] => {
  const spec = object.live?.['spec'] as { template: { spec: { containers: { name: string }[] } } };
  return spec.template.spec.containers.map(({ name }) => name);
};
const refused = (code: number, message: string | RegExp) => (error: unknown) => {
  assert.ok(error instanceof StatusError, String(error));
  assert.equal(error.code, code);
  if (typeof message === 'string') assert.equal(error.message, message);
  else assert.match(error.message, message);
  return true;
};

describe('server-side apply: what an applier owns', () => {
  it('owns the leaves it sends; a second time nothing moves', () => {
    const object = configMap().apply('alpha', { metadata: { labels: { x: 'y' } }, data: { k: 'v' } });
    const owners = ['alpha Apply {"f:data":{"f:k":{}},"f:metadata":{"f:labels":{"f:x":{}}}}'];
    assert.deepEqual([object.owners, object.times], [owners, 'alpha 1']);
    object.apply('alpha', { metadata: { labels: { x: 'y' } }, data: { k: 'v' } });
    assert.deepEqual([object.owners, object.times], [owners, 'alpha 1']);
  });

  it('removes what it gives up, down to nothing', () => {
    const object = configMap()
      .apply('alpha', { data: { k: 'v', l: '1' } })
      .apply('alpha', { data: { k: 'v' } });
    assert.deepEqual(object.live?.['data'], { k: 'v' });
    object.apply('alpha', {});
    assert.deepEqual([object.live?.['data'], object.owners], [undefined, []]);
  });

  it('keeps what another applier or an updater owns too', () => {
    const object = configMap()
      .apply('alpha', { data: { k: '1', l: '1', m: '1' } })
      .apply('beta', { data: { k: '1' } });
    object.change('u', (o) => {
      (o['data'] as Record<string, string>)['l'] = '2';
    });
    object.apply('alpha', { data: { m: '1' } });
    assert.deepEqual(object.live?.['data'], { k: '1', l: '2', m: '1' });
    assert.deepEqual(object.owners, [
      'beta Apply {"f:data":{"f:k":{}}}',
      'alpha Apply {"f:data":{"f:m":{}}}',
      'u Update {"f:data":{"f:l":{}}}',
    ]);
  });

  it('dates no entry that only shares what is there', () => {
    const object = configMap()
      .put('m', { data: { k: 'v' } })
      .apply('alpha', { data: { k: 'v' } });
    assert.equal(object.times, 'alpha -, m 1');
  });

  it('owns nulls and empty maps, but not empty lists', () => {
    const object = configMap().apply('a', { data: {} });
    assert.deepEqual(object.owners, ['a Apply {"f:data":{}}']);
    object.apply('a', { data: null });
    assert.deepEqual(object.owners, ['a Apply {"f:data":{}}']);
    const list = deployment().apply('a', { spec: { template: { spec: { containers: [{ name: 'm' }], volumes: [] } } } });
    assert.deepEqual(list.owners, [
      'a Apply {"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\\"name\\":\\"m\\"}":{".":{},"f:name":{}}}}}}}',
    ]);
    list.apply('a', { spec: { template: { spec: { containers: [{ name: 'm' }], volumes: null } } } });
    assert.match(list.owners[0], /"f:volumes":\{\}/);
  });

  it('fills a missing list key with its default', () => {
    const object = deployment().apply('a', containers({ name: 'm', ports: [{ containerPort: 80 }] }));
    assert.match(object.owners[0], /"k:\{\\"containerPort\\":80,\\"protocol\\":\\"TCP\\"\}":\{"\.":\{\},"f:containerPort":\{\}\}/);
  });

  it('credits the state before the first apply to before-first-apply', () => {
    const object = configMap()
      .put('m', { data: { k: '1' } })
      .put('m', { metadata: { managedFields: [] }, data: { k: '1' } });
    object.apply('alpha', { data: { l: '1' } });
    assert.deepEqual(object.owners, ['alpha Apply {"f:data":{"f:l":{}}}', 'before-first-apply Update {"f:data":{".":{},"f:k":{}}}']);
    assert.throws(
      () => object.apply('alpha', { data: { k: '2' } }),
      refused(409, /conflict with "before-first-apply" using v1: \.data\.k$/),
    );
  });
});

describe('server-side apply: lists', () => {
  const cases: [string, string[], string[], string[]][] = [
    ['the applied order wins among shared items', ['a', 'b', 'c'], ['c', 'a'], ['b', 'c', 'a']],
    ['new items stand where they are applied', ['a', 'b'], ['a', 'x', 'b'], ['a', 'x', 'b']],
    ['items of others keep their place', ['a', 'b', 'c', 'd'], ['d', 'x', 'a'], ['b', 'c', 'd', 'x', 'a']],
  ];
  for (const [what, live, applied, expected] of cases) {
    it(what, () => {
      const object = deployment().put('m', containers(...live.map((name) => ({ name }))));
      object.apply('alpha', containers(...applied.map((name) => ({ name }))));
      assert.deepEqual(namesOf(object), expected);
    });
  }

  it('an item goes with its last owner, and only the fields one gave up go before', () => {
    const object = deployment().apply('alpha', containers({ name: 'm', image: 'i', command: ['c'] }));
    object.apply('beta', containers({ name: 'm', image: 'i' }));
    object.apply('alpha', containers());
    assert.match(JSON.stringify(object.live?.['spec']), /"containers":\[\{"name":"m","image":"i","resources":\{\}\}\]/);
    object.apply('beta', {});
    assert.doesNotMatch(JSON.stringify(object.live), /"containers":\[|"m"/);
  });

  it('finalizers are a set, in the applied order', () => {
    const object = configMap().apply('alpha', { metadata: { finalizers: ['e.com/a', 'e.com/b'] } });
    object.apply('beta', { metadata: { finalizers: ['e.com/b', 'e.com/c'] } });
    object.apply('alpha', { metadata: { finalizers: ['e.com/a'] } });
    assert.deepEqual(object.live?.metadata.finalizers, ['e.com/a', 'e.com/b', 'e.com/c']);
    object.apply('alpha', {});
    object.apply('beta', { metadata: { finalizers: ['e.com/c', 'e.com/b'] } });
    assert.deepEqual(object.live?.metadata.finalizers, ['e.com/c', 'e.com/b']);
  });

  it('a stored double is replaced by the item that takes it over', () => {
    const env = [
      { name: 'A', value: '1' },
      { name: 'A', value: '2' },
      { name: 'B', value: '3' },
    ];
    const object = deployment().put('m', containers({ name: 'm', env }));
    const config = containers({ name: 'm', env: [{ name: 'A', value: '5' }] });
    const path = '.spec.template.spec.containers[name="m"].env[name="A"]';
    assert.throws(
      () => object.apply('alpha', config),
      refused(409, `Apply failed with 1 conflict: conflict with "m" using apps/v1: ${path}`),
    );
    object.apply('alpha', containers({ name: 'm', env: [{ name: 'C', value: '4' }] }));
    assert.match(
      JSON.stringify(object.live?.['spec']),
      /"A","value":"1"\},\{"name":"A","value":"2"\},\{"name":"B","value":"3"\},\{"name":"C"/,
    );
    object.apply('alpha', config, { force: true });
    assert.match(JSON.stringify(object.live?.['spec']), /"env":\[\{"name":"A","value":"5"\},\{"name":"B","value":"3"\}\]/);
  });
});

describe('server-side apply: conflicts', () => {
  it('one conflict stands in one line, with a cause', () => {
    const object = configMap().put('m', { data: { k: 'v' } });
    assert.throws(
      () => object.apply('alpha', { data: { k: 'w' } }),
      (error) => {
        assert.ok(error instanceof StatusError);
        assert.deepEqual(error.status.details?.causes, [
          { reason: 'FieldManagerConflict', message: 'conflict with "m" using v1', field: '.data.k' },
        ]);
        return refused(409, 'Apply failed with 1 conflict: conflict with "m" using v1: .data.k')(error);
      },
    );
  });

  it('several are grouped by manager; appliers have no version, subresources are named', () => {
    const object = configMap()
      .put('m', { data: { u: '1' } })
      .apply('beta', { data: { k: '1', l: '1' } });
    object.change(
      's',
      (o) => {
        (o['data'] as Record<string, string>)['s'] = '1';
      },
      { subresource: 'scale' },
    );
    const message =
      'Apply failed with 4 conflicts: conflicts with "beta":\n- .data.k\n- .data.l\nconflicts with "m" using v1:\n- .data.u\n' +
      'conflicts with "s" with subresource "scale" using v1:\n- .data.s';
    assert.throws(() => object.apply('zeta', { data: { u: '2', k: '2', l: '2', s: '2' } }), refused(409, message));
  });

  it('force takes the fields from all who had them', () => {
    const object = configMap()
      .put('m', { data: { k: 'v' } })
      .apply('beta', { data: { k: 'v' } });
    object.apply('alpha', { data: { k: 'w' } }, { force: true });
    assert.deepEqual([object.owners, object.live?.['data']], [['alpha Apply {"f:data":{"f:k":{}}}', 'm Update {"f:data":{}}'], { k: 'w' }]);
  });

  it('compares as written: another spelling of the same quantity is a conflict for strangers, none for the owner', () => {
    const limit = (cpu: string): Plain => containers({ name: 'm', resources: { limits: { cpu } } });
    const object = deployment().apply('alpha', limit('1'));
    assert.throws(() => object.apply('beta', limit('1000m')), refused(409, /limits\.cpu$/));
    object.apply('alpha', limit('1000m'));
    assert.match(JSON.stringify(object.live?.['spec']), /"cpu":"1"/);
  });
});

describe('server-side apply: bodies that do not fit', () => {
  const cases: [string, Plain, string][] = [
    ['a field that is not there', { spec: { foo: 1 } }, '.spec.foo: field not declared in schema'],
    ['text for a number', { spec: { replicas: '3' } }, '.spec.replicas: expected numeric (int or float), got string'],
    ['text for a bool', { spec: { paused: 'true' } }, '.spec.paused: expected boolean, got &{true}'],
    ['text for a struct', { spec: 'x' }, '.spec: expected map, got &{x}'],
    ['a list for a struct', { spec: [] }, '.spec: expected map, got &{[]}'],
    [
      'a map for a list',
      { spec: { template: { spec: { containers: { name: 'x' } } } } },
      '.spec.template.spec.containers: expected list, got &{map[name:x]}',
    ],
    [
      'text for an item',
      containers('x'),
      '.spec.template.spec.containers: element 0: associative list with keys may not have non-map elements',
    ],
    [
      'null for an item',
      containers(null),
      '.spec.template.spec.containers: element 0: associative list with keys may not have a null element',
    ],
    [
      'a number in a list',
      containers({ name: 'm', args: [1] }),
      '.spec.template.spec.containers[name="m"].args[0]: expected string, got &value.valueUnstructured{Value:1}',
    ],
    ['a key twice', containers({ name: 'm' }, { name: 'm' }), '.spec.template.spec.containers: duplicate entries for key [name="m"]'],
    [
      'a key twice, once by default',
      containers({ name: 'm', ports: [{ containerPort: 53 }, { containerPort: 53, protocol: 'TCP' }] }),
      '.spec.template.spec.containers[name="m"].ports: duplicate entries for key [containerPort=53,protocol="TCP"]',
    ],
    ['a finalizer twice', { metadata: { finalizers: ['a', 'a'] } }, '.metadata.finalizers: duplicate entries for key [="a"]'],
  ];
  for (const [what, config, problem] of cases) {
    it(what, () => {
      const message = `failed to create typed patch object (/a; apps/v1, Kind=Deployment): ${problem}`;
      assert.throws(() => deployment().apply('alpha', config), refused(500, message));
    });
  }

  it('another kind, and managedFields in the body', () => {
    assert.throws(() => configMap().apply('a', { kind: 'Secret' }), refused(400, 'invalid object type: /v1, Kind=Secret'));
    assert.throws(() => configMap().apply('a', { metadata: { managedFields: [] } }), refused(400, 'metadata.managedFields must be nil'));
  });
});

describe('live objects that are not as they should be', () => {
  it('list items of one name are kept by an apply that is about something else, and nobody owns their parts', () => {
    const object = new OwnedObject('core.v1.Pod').put('u', { spec: { containers: [{ name: 'a' }, { name: 'b' }, { name: 'a' }] } });
    object.apply('alpha', { metadata: { labels: { k: 'v' } } });
    assert.deepEqual(
      (object.live!['spec'] as { containers: { name: string }[] }).containers.map(({ name }) => name),
      ['a', 'b', 'a'],
    );
    assert.match(object.owners.join(), /"k:\{\\"name\\":\\"a\\"\}":\{\}/);
  });

  it('items without a name cannot be merged with: the live object is named', () => {
    const object = new OwnedObject('core.v1.ServiceAccount').put('u', { secrets: [{ name: '' }] });
    assert.deepEqual(object.owners, []);
    object.live!.metadata.managedFields = [
      { manager: 'u', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { 'f:secrets': {} } },
    ];
    const message =
      'failed to create typed live object (/a; /v1, Kind=ServiceAccount): .secrets: element 0: associative list with keys has an element that omits all key fields ["name"] (and doesn\'t have default values for any key fields)';
    assert.throws(() => object.apply('alpha', { secrets: [{ name: 'x' }] }), refused(500, message));
  });

  it('an item that another applier owns by an empty key stays when the list around it is given up', () => {
    const object = new OwnedObject('storage.k8s.io.v1.CSINode').apply('m', { spec: { drivers: [{}] } });
    object.apply('k', { spec: {} }).apply('k', { spec: {} });
    assert.deepEqual(object.owners, ['k Apply {"f:spec":{}}', 'm Apply {"f:spec":{"f:drivers":{"k:{\\"name\\":\\"\\"}":{}}}}']);
  });

  it('ownership of parts of what is one leaf is ownership of the leaf', () => {
    const entry = { manager: 'old', operation: 'Apply', apiVersion: 'apps/v1', fieldsType: 'FieldsV1' };
    const fieldsV1 = { 'f:spec': { 'f:selector': { 'f:matchLabels': { 'f:app': {} } }, 'f:replicas': {} } };
    const object = deployment().put('u', { spec: { replicas: 1, selector: { matchLabels: { app: 'a' } } } });
    object.live!.metadata.managedFields = [{ ...entry, fieldsV1 } as never];
    object.apply('new', { spec: { replicas: 1 } });
    assert.equal(object.owners[1], 'old Apply {"f:spec":{"f:replicas":{},"f:selector":{}}}');
  });
});

describe('from client-side to server-side apply', () => {
  const annotated = (last: Plain): Plain => ({
    annotations: { [LAST_APPLIED]: JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', ...last }) },
  });

  it('kubectl takes over what its annotation lists and still has that value, and keeps the annotation in step', () => {
    const object = configMap().put('kubectl-client-side-apply', {
      metadata: annotated({ data: { k: '1', l: '1' } }),
      data: { k: '1', l: '2' },
    });
    object.apply('kubectl', { data: { k: '3' } });
    assert.deepEqual(object.live?.['data'], { k: '3', l: '2' });
    assert.equal(
      object.live?.metadata.annotations?.[LAST_APPLIED],
      '{"apiVersion":"v1","data":{"k":"3"},"kind":"ConfigMap","metadata":{"name":"a"}}\n',
    );
    assert.throws(
      () => object.apply('kubectl', { data: { k: '3', l: '3' } }),
      refused(409, /\.data\.l$/),
      'l has another value than listed',
    );
  });

  it('the annotation is kept in step as Go reads annotations: null is an empty text, and no map is none', () => {
    const object = configMap().put('u', { metadata: annotated({}) });
    const last = (): string => object.live!.metadata.annotations![LAST_APPLIED]!;
    object.apply('kubectl', { metadata: { annotations: { a: null } } });
    assert.equal(last(), '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"annotations":{"a":""},"name":"a"}}\n');
    object.apply('kubectl', { metadata: { annotations: null } });
    assert.equal(last(), '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}\n');
  });

  it('others get the conflict', () => {
    const object = configMap().put('kubectl-client-side-apply', { metadata: annotated({ data: { k: '1' } }), data: { k: '1' } });
    assert.throws(() => object.apply('argo', { data: { k: '3' } }), refused(409, /\.data\.k$/));
  });
});
