/**
 * ResourceQuota: a write that a namespace's quotas have room for is charged to their status, another is refused. Mirrors kubernetes
 * `apiserver/pkg/admission/plugin/resourcequota`. What was charged stays charged when the write fails later: the quota controller counts anew.
 *
 * Invariant: charges of one namespace follow one another, each with compare-and-set, so that two writes never take the same room.
 */
import { encodeObject, parseJson } from '../../../machinery/api/json.ts';
import { compareQuantities, formatQuantity, parseQuantity, quantityMilli, subtractQuantities } from '../../../machinery/api/quantity.ts';
import { typeSchema } from '../../../machinery/api/schema/schema.ts';
import { conflict, OBJECT_MODIFIED } from '../../../machinery/api/status.ts';
import type { ResourceQuota } from '../../../machinery/api/types/core.v1.ts';
import { trackUpdate } from '../../managedfields/track.ts';
import { KeyMissing, RevisionConflict, type Store, type Stored } from '../../storage/interface.ts';
import { storagePrefix } from '../resource.ts';
import { type AdmissionPlugin, type AdmissionRequest, refuse } from './plugin.ts';
import { type Amounts, addAmounts } from './pod-usage.ts';
import { scopesMatch } from './quota-match.ts';
import { type Evaluator, evaluatorOf } from './quota-usage.ts';

const QUOTAS = { group: '', resource: 'resourcequotas' };
const ATTEMPTS = 10;

interface Charge {
  readonly stored: Stored;
  readonly quota: ResourceQuota;
  readonly used: Amounts;
}

export function createQuotaPlugin({ store }: { readonly store: Store }): AdmissionPlugin {
  /** The last charge under way, by namespace. */
  const underWay = new Map<string, Promise<void>>();
  return {
    name: 'ResourceQuota',
    handles: (group, resource) => evaluatorOf(group, resource) !== undefined,
    validate: async (request) => {
      const namespace = request.object.metadata.namespace ?? '';
      const evaluator = evaluatorOf(request.group, request.resource)!;
      if (namespace === '' || !isCharged(request, evaluator) || store.count(storagePrefix('', 'resourcequotas', namespace)) === 0) return;
      const before = underWay.get(namespace);
      const mine = (before ?? Promise.resolve()).then(() => chargeAll(store, request, evaluator));
      const settled = mine.catch(() => undefined);
      underWay.set(namespace, settled);
      try {
        await mine;
      } finally {
        if (underWay.get(namespace) === settled) underWay.delete(namespace);
      }
    },
  };
}

const isCharged = ({ old, subresource }: AdmissionRequest, evaluator: Evaluator): boolean =>
  old === undefined ? subresource === '' : evaluator.chargesUpdate(subresource);

async function chargeAll(store: Store, request: AdmissionRequest, evaluator: Evaluator): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const charges = chargesOf(store, request, evaluator);
    if (request.context.dryRun) return;
    try {
      for (const charge of charges) await write(store, charge, request.context.now);
      return;
    } catch (error) {
      if (!(error instanceof RevisionConflict || error instanceof KeyMissing)) throw error;
      if (attempt >= ATTEMPTS) throw conflict(QUOTAS, charges[0]?.quota.metadata.name ?? '', OBJECT_MODIFIED);
    }
  }
}

/** All quotas are asked before one is charged. */
function chargesOf(store: Store, request: AdmissionRequest, evaluator: Evaluator): Charge[] {
  const { object, resource } = request;
  const interested: { stored: Stored; quota: ResourceQuota; names: string[] }[] = [];
  for (const stored of store.list(storagePrefix('', 'resourcequotas', object.metadata.namespace!)).items) {
    const quota = parseJson(stored.bytes).value as ResourceQuota;
    const names = Object.keys(quota.status?.hard ?? {}).filter((name) => evaluator.counts(name));
    if (names.length === 0 || !scopesMatch(quota, resource, object)) continue;
    const name = quota.metadata.name ?? '';
    const missing = evaluator.missing?.(object, names);
    if (missing !== undefined) throw refuse(request, `failed quota: ${name}: ${missing}`);
    const used = (quota.status?.used ?? {}) as Amounts;
    if (names.some((resourceName) => used[resourceName] === undefined)) {
      throw refuse(request, `status unknown for quota: ${name}, resources: ${[...names].sort().join(',')}`);
    }
    interested.push({ stored, quota, names });
  }
  if (interested.length === 0) return [];
  const delta = deltaOf(request, evaluator);
  return interested.flatMap(({ stored, quota, names }) => {
    const asked = only(delta, names);
    if (Object.keys(asked).length === 0) return [];
    const used = (quota.status?.used ?? {}) as Amounts;
    const sum = addAmounts(used, asked);
    requireRoom(request, quota, asked, sum);
    return [{ stored, quota, used: sum }];
  });
}

/** What the write adds; an update that gives back is not credited. */
function deltaOf({ object, old }: AdmissionRequest, evaluator: Evaluator): Amounts {
  const usage = evaluator.usage(object);
  const before = old === undefined ? {} : evaluator.usage(old);
  const delta: Amounts = {};
  for (const [name, value] of Object.entries(usage)) {
    const more = subtractQuantities(parseQuantity(value), parseQuantity(before[name] ?? '0'));
    if (quantityMilli(more) > 0) delta[name] = formatQuantity(more);
  }
  return delta;
}

const only = (amounts: Amounts, names: readonly string[]): Amounts =>
  Object.fromEntries(Object.entries(amounts).filter(([name]) => names.includes(name)));

function requireRoom(request: AdmissionRequest, quota: ResourceQuota, asked: Amounts, sum: Amounts): void {
  const hard = (quota.status?.hard ?? {}) as Amounts;
  const exceeded = Object.keys(asked).filter((name) => compareQuantities(parseQuantity(sum[name]!), parseQuantity(hard[name]!)) > 0);
  if (exceeded.length === 0) return;
  const text = (amounts: Amounts): string =>
    [...exceeded]
      .sort()
      .map((name) => `${name}=${formatQuantity(parseQuantity(amounts[name]!))}`)
      .join(',');
  const used = (quota.status?.used ?? {}) as Amounts;
  throw refuse(request, `exceeded quota: ${quota.metadata.name}, requested: ${text(asked)}, used: ${text(used)}, limited: ${text(hard)}`);
}

async function write(store: Store, { stored, quota, used }: Charge, now: Date): Promise<void> {
  const schema = typeSchema('core.v1.ResourceQuota');
  const object: ResourceQuota = { ...quota, metadata: { ...quota.metadata }, status: { ...quota.status, used } };
  const entries = trackUpdate({
    schema,
    apiVersion: 'v1',
    subresource: 'status',
    live: quota,
    object,
    manager: 'kube-apiserver',
    now,
  });
  if (entries !== undefined) object.metadata.managedFields = entries;
  await store.update(stored.key, stored.revision, (revision) => {
    object.metadata.resourceVersion = String(revision);
    return encodeObject(schema, object);
  });
}
