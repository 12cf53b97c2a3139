/** Every built-in kind's defaults against what a real API server answered to a dry run; skipped where those answers are not at hand. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { decodeObject } from '../../../machinery/api/decode.ts';
import { encodeObject } from '../../../machinery/api/json.ts';
import type { AnyObject, KubeObject } from '../../../machinery/api/object.ts';
import { builtinResources } from '../../../machinery/api/schema/resources.ts';
import { typeSchema } from '../../../machinery/api/schema/schema.ts';
import { createMemoryStore } from '../../storage/memory/store.ts';
import { createRegistry } from '../registry.ts';
import type { StrategyContext } from '../resource.ts';
import { initialGeneration } from '../validation/write.ts';

const FACTS = new URL('../../../../shared/kubernetes/dry-run-defaults.json', import.meta.url).pathname;

interface Row {
  readonly gvr: string;
  readonly request: AnyObject;
  readonly answer?: AnyObject;
}

const emptyStore = createMemoryStore();

const reader = {
  get: (_group: string, resource: string, namespace: string, name: string) => {
    if (resource === 'serviceaccounts' && name === 'default') return { metadata: { name, namespace } };
    return undefined;
  },
  list: () => [],
} as unknown as StrategyContext['reader'];

const context: StrategyContext = {
  now: new Date(0),
  user: {
    name: 'kubernetes-admin',
    groups: ['system:masters', 'system:authenticated'],
    extra: { 'authentication.kubernetes.io/credential-id': ['X509SHA256=1'] },
  },
  dryRun: true,
  requestGroup: '',
  subresource: '',
  warn: () => undefined,
  sleep: async () => undefined,
  suffix: (length) => 'x'.repeat(length),
  reader,
};

/** Values that vary or are chosen are not compared. */
function sameShape(want: unknown, got: unknown, path: string, differences: string[]): void {
  if (typeof want === 'string' && want.includes('#')) return;
  if (want !== null && typeof want === 'object' && got !== null && typeof got === 'object') {
    const keys = new Set([...Object.keys(want), ...Object.keys(got)]);
    for (const key of keys) sameShape((want as AnyObject)[key], (got as AnyObject)[key], `${path}.${key}`, differences);
    return;
  }
  if (want !== got) differences.push(`${path}: want ${JSON.stringify(want)}, got ${JSON.stringify(got)}`);
}

const NOT_COMPARED = ['uid', 'creationTimestamp', 'managedFields'];

async function created(row: Row): Promise<AnyObject> {
  const [groupVersion, resource] = [row.gvr.slice(0, row.gvr.lastIndexOf('/')), row.gvr.slice(row.gvr.lastIndexOf('/') + 1)];
  const [group, version] = groupVersion.includes('/') ? (groupVersion.split('/') as [string, string]) : ['', groupVersion];
  const info = builtinResources().find((r) => r.group === group && r.version === version && r.plural === resource)!;
  const registry = createRegistry({ store: emptyStore, serviceClusterIpRange: '10.96.0.0/16', serviceNodePortRange: [30000, 32767] });
  const definition = registry.definition(group, version, resource)!;
  const decoded = decodeObject(typeSchema(info.type), structuredClone(row.request), { strict: false }).object as unknown as KubeObject;
  const conversion = definition.conversions?.find((c) => c.group === group && c.version === version);
  const object = conversion === undefined ? decoded : conversion.toStored(decoded);
  if (info.namespaced) object.metadata.namespace = 'facts';
  object.metadata.name ??= 'facts-dry-xxxxx';
  object.metadata.uid = 'uid';
  const { strategy } = definition;
  strategy.default?.(object);
  await strategy.admit?.(object, context);
  initialGeneration(definition.generation, object);
  strategy.prepareForCreate?.(object, context);
  strategy.allocate?.(object, undefined, context);
  assert.deepEqual(
    (strategy.validate?.(object, { ...context, requestGroup: group }) ?? []).map((e) => e.message),
    [],
    'the request is valid',
  );
  await strategy.admitValidated?.(object, context);
  const served = conversion === undefined ? object : conversion.fromStored(object);
  return JSON.parse(encodeObject(typeSchema(info.type), served).toString()) as AnyObject;
}

const skip = existsSync(FACTS) ? false : 'the recorded dry runs are not here';
const rows: Row[] = skip ? [] : (JSON.parse(readFileSync(FACTS, 'utf8')) as { rows: Row[] }).rows;
/** Reviews, tokens and pod bindings are answered, not stored. */
const stored = (row: Row): boolean => row.answer !== undefined && !/(reviews|\/token|v1\/bindings)$/.test(row.gvr);

test('a new object gets the defaults of a real API server', { skip }, async (t) => {
  for (const [index, row] of rows.entries()) {
    if (!stored(row)) continue;
    await t.test(`${row.gvr} #${index}`, async () => {
      const got = await created(row);
      const want = structuredClone(row.answer!);
      for (const member of NOT_COMPARED) {
        delete (want.metadata as unknown as AnyObject)[member];
        delete (got.metadata as unknown as AnyObject)[member];
      }
      const differences: string[] = [];
      sameShape(want, got, '', differences);
      assert.deepEqual(differences, []);
    });
  }
});
