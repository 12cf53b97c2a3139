/** How a plan is carried out, and what happens when a part of it fails. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { badRequest, conflict, forbidden, StatusError } from '../api/status.ts';
import type { ConfigMap } from '../api/types/core.v1.ts';
import { ConnectionError } from '../client/errors.ts';
import { configmaps, pods } from '../client/resource-type.ts';
import { MemoryClient } from '../client/testing/memory-client.ts';
import { type Clock, systemClock } from '../process/clock.ts';
import { act, batches } from './act.ts';
import type { Action, Plan } from './plan.ts';

const map = (name: string): ConfigMap => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'ns', name } });
const create = (name: string, more: { tolerate?: readonly string[] } = {}): Action => ({
  do: 'create',
  type: configmaps,
  object: map(name),
  ...more,
});
const remove = (name: string, uid: string): Action => ({ do: 'delete', type: configmaps, name: { namespace: 'ns', name }, uid });

async function run(plan: Plan, client = new MemoryClient(), clock: Clock = systemClock) {
  const told: string[] = [];
  const noted: string[] = [];
  const failure = await act('ns/web', plan, {
    name: 'test',
    client,
    clock,
    signal: new AbortController().signal,
    recorder: { event: (_about, type, reason, message) => void told.push(`${type} ${reason}: ${message}`), flush: async () => undefined },
    freshness: {
      note: (key, type, metadata) => void noted.push(`${key} ${type.resource} ${metadata?.resourceVersion}`),
      noteDeletion: (key, type, object) => void noted.push(`${key} ${type.resource} -${object.key} ${object.uid}`),
    },
  });
  return { client, failure, told, noted };
}

test('creations go in batches of 1, 2, 4 …; everything else one by one', () => {
  const actions = [
    ...Array.from({ length: 9 }, (_, i) => create(`c${i}`)),
    remove('x', 'u'),
    remove('y', 'u'),
    remove('z', 'u'),
    create('last'),
  ];
  assert.deepEqual(
    [...batches(actions)].map((batch) => batch.length),
    [1, 2, 4, 2, 1, 2, 1],
  );
  const other: Action = { do: 'create', type: pods, object: map('p') };
  assert.deepEqual(
    [...batches([create('a'), other, create('b'), create('c')])].map((batch) => batch.length),
    [1, 1, 1, 1],
  );
  assert.deepEqual([...batches([])], []);
});

test('when the first creation fails the rest is not tried', async () => {
  const client = new MemoryClient();
  client.intercept = () => {
    throw forbidden({ group: '', resource: 'configmaps' }, 'c0', 'exceeded quota');
  };
  const { failure } = await run({ actions: Array.from({ length: 100 }, (_, i) => create(`c${i}`)) }, client);
  assert.match(failure?.message ?? '', /exceeded quota/);
  assert.equal(client.writes.length, 1);
});

test('what was written is told to freshness, a deletion without revision by its uid', async () => {
  const client = new MemoryClient();
  const a = await client.create(configmaps, map('a'));
  const { noted } = await run({ actions: [create('b'), remove('a', a.metadata.uid ?? '')] }, client);
  assert.deepEqual(noted, ['ns/web configmaps 2', `ns/web configmaps -ns/a ${a.metadata.uid}`]);
});

test('events follow the actions they speak of', async () => {
  const client = new MemoryClient();
  client.intercept = (_verb, _resource, key) => {
    if (key === 'ns/bad') throw badRequest('no good');
  };
  const about = map('web');
  const { told } = await run(
    {
      actions: [create('good'), create('bad')],
      events: [
        { about, type: 'Normal', reason: 'Created', message: 'Created {name}', after: 0 },
        { about, type: 'Normal', reason: 'Created', message: 'Created {name}', after: 1 },
        { about, type: 'Warning', reason: 'Failed', message: 'Error: {error}', onFailure: 0 },
        { about, type: 'Warning', reason: 'Failed', message: 'Error: {error}', onFailure: 1 },
        { about, type: 'Normal', reason: 'Done', message: 'all done' },
      ],
    },
    client,
  );
  assert.deepEqual(told, ['Normal Created: Created good', 'Warning Failed: Error: no good']);
  const fine = await run({ actions: [], events: [{ about, type: 'Normal', reason: 'Done', message: 'all done' }] });
  assert.deepEqual(fine.told, ['Normal Done: all done']);
});

test('the status is written last, and knows of a failure', async () => {
  const client = new MemoryClient();
  const owner = await client.create(configmaps, map('web'));
  const status = (value: string) => ({
    do: 'update' as const,
    type: configmaps,
    object: { ...owner, data: { value } },
    subresource: 'status',
  });
  const failing = await run({ actions: [remove('web', owner.metadata.uid ?? ''), create('web2')], status: status('fine') }, client);
  assert.equal(failing.failure, undefined, 'the object is gone, so nobody needs its status');
  const second = new MemoryClient();
  const again = await second.create(configmaps, map('web'));
  second.intercept = (verb) => {
    if (verb === 'create') throw badRequest('no');
  };
  const { failure } = await run(
    {
      actions: [create('x')],
      status: { do: 'update', type: configmaps, object: again, subresource: 'status' },
      statusOnFailure: (error) => ({
        do: 'update',
        type: configmaps,
        object: { ...again, data: { error: error.message } } as ConfigMap,
        subresource: 'status',
      }),
    },
    second,
  );
  assert.equal(failure?.message, 'no');
  assert.deepEqual((await second.get<ConfigMap>(configmaps, { namespace: 'ns', name: 'web' })).data, { error: 'no' });
  assert.deepEqual(
    second.writes.map((write) => write.verb),
    ['create', 'create', 'update/status'],
  );
});

test('tolerated reasons count as done, also as causes', async () => {
  const terminating = new StatusError({
    status: 'Failure',
    reason: 'Forbidden',
    code: 403,
    message: 'because it is being terminated',
    details: { causes: [{ reason: 'NamespaceTerminating' }] },
  });
  for (const [error, tolerate, tolerated] of [
    [terminating, ['NamespaceTerminating'], true],
    [terminating, ['AlreadyExists'], false],
    [conflict({ group: '', resource: 'configmaps' }, 'a', 'x'), ['Conflict'], true],
  ] as const) {
    const client = new MemoryClient();
    client.intercept = () => {
      throw error;
    };
    const { failure, told } = await run(
      { actions: [create('a', { tolerate })], events: [{ about: map('w'), type: 'Normal', reason: 'R', message: 'm', after: 0 }] },
      client,
    );
    assert.equal(failure === undefined, tolerated);
    assert.deepEqual(told, [], 'it was not our doing');
  }
});

test('what is gone, or is another object of the same name, is deleted already', async () => {
  const client = new MemoryClient();
  await client.create(configmaps, map('a'));
  const { failure } = await run({ actions: [remove('a', 'another-uid'), remove('missing', 'u')] }, client);
  assert.equal(failure, undefined);
  assert.equal(client.objects.size, 1);
});

test('a plan without preconditions is refused as the bug it is', async () => {
  const bad: readonly Action[] = [
    { do: 'update', type: configmaps, object: map('a') },
    { do: 'delete', type: configmaps, name: { namespace: 'ns', name: 'a' }, uid: '' },
    { do: 'patch', type: configmaps, name: { namespace: 'ns', name: 'a' }, patchType: 'application/merge-patch+json', patch: { data: {} } },
    {
      do: 'patch',
      type: configmaps,
      name: { namespace: 'ns', name: 'a' },
      patchType: 'application/json-patch+json',
      patch: [{ op: 'add', path: '/x', value: 1 }],
    },
  ];
  for (const action of bad) await assert.rejects(run({ actions: [action] }), /without/);
});

test('a creation whose answer was lost is looked for before the key goes on', async () => {
  const client = new MemoryClient();
  let lost = true;
  client.intercept = (verb) => {
    if (verb !== 'create' || !lost) return;
    lost = false;
    // the server did it, the answer never came
    queueMicrotask(() => void client.create(configmaps, map('b')));
    throw new ConnectionError('https://server', Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' }));
  };
  const { failure, noted } = await run({ actions: [create('b')] }, client);
  assert.match(failure?.message ?? '', /https:..server/);
  assert.deepEqual(noted, ['ns/web configmaps 1']);
});

test('a refused connection leaves no doubt', async () => {
  const client = new MemoryClient();
  client.intercept = () => {
    throw new ConnectionError('https://server', Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }));
  };
  const { noted } = await run({ actions: [create('b')] }, client);
  assert.deepEqual(noted, []);
});
