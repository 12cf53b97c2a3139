/** Flow schemas say whether their priority level exists, beside what others say of them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestApiServer } from '../fixtures/apiserver.ts';
import { eventually } from '../fixtures/eventually.ts';
import { sender } from '../fixtures/http.ts';

const GROUP = '/apis/flowcontrol.apiserver.k8s.io/v1';
const SCHEMA = `${GROUP}/flowschemas/mine`;

test('a flow schema says whether its level exists', async (t) => {
  const { client } = await startTestApiServer(t);
  const send = sender(client);
  const conditions = async (): Promise<{ type: string; status: string }[]> => (await send('GET', SCHEMA)).body.status.conditions ?? [];
  const says = (status: string) =>
    eventually(`Dangling is ${status}`, async () => (await conditions()).some((c) => c.type === 'Dangling' && c.status === status));

  await t.test('those of the server do from the start', async () => {
    const { body } = await send('GET', `${GROUP}/flowschemas`);
    const said = body.items.map((item: { status: { conditions: { status: string }[] } }) => item.status.conditions[0]?.status);
    assert.deepEqual(
      said,
      Array.from({ length: 13 }, () => 'False'),
    );
  });

  await t.test('it does not, and then it does', async () => {
    const spec = { priorityLevelConfiguration: { name: 'later' } };
    await send('POST', `${GROUP}/flowschemas`, {
      apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
      kind: 'FlowSchema',
      metadata: { name: 'mine' },
      spec,
    });
    await says('True');
    await send(
      'PATCH',
      `${SCHEMA}/status`,
      { status: { conditions: [{ type: 'Own', status: 'True' }] } },
      { type: 'application/merge-patch+json' },
    );
    await says('True');
    const limited = { limitResponse: { type: 'Reject' } };
    await send('POST', `${GROUP}/prioritylevelconfigurations`, {
      apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
      kind: 'PriorityLevelConfiguration',
      metadata: { name: 'later' },
      spec: { type: 'Limited', limited },
    });
    await says('False');
    assert.deepEqual((await conditions()).map(({ type }) => type).sort(), ['Dangling', 'Own']);
  });

  await t.test('it does no more', async () => {
    await send('DELETE', `${GROUP}/prioritylevelconfigurations/later`);
    await says('True');
  });
});
