/** What the rollout verbs know of each workload kind. Mirrors kubectl `polymorphichelpers`. */

import type { AnyObject } from '../../machinery/api/object.ts';
import { controllerOf } from '../../machinery/api/object.ts';
import { formatSelector, selectorOf } from '../../machinery/api/selector.ts';
import type { ControllerRevision, DaemonSet, Deployment, ReplicaSet, StatefulSet } from '../../machinery/api/types/apps.v1.ts';
import { POD_TEMPLATE_HASH, REVISION } from '../../machinery/api/well-known-labels.ts';
import { CliError } from '../errors.ts';
import type { Found } from '../resources/fetch.ts';
import type { Session } from '../session.ts';

export type Workload = Deployment | DaemonSet | StatefulSet;

export const CHANGE_CAUSE = 'kubernetes.io/change-cause';

const WITH_ROLLOUTS = ['Deployment', 'DaemonSet', 'StatefulSet'];

/** `what` is the noun of the refusal: `status viewer`, `history viewer`, `rollbacker`. */
export function checkKind(object: AnyObject, what: string): void {
  const group = object.apiVersion.includes('/') ? object.apiVersion.split('/')[0] : '';
  if (group !== 'apps' || !WITH_ROLLOUTS.includes(object.kind))
    throw new CliError(`no ${what} has been implemented for ${object.kind}${group === '' ? '' : `.${group}`}`);
}

/** One recorded state of a workload's template. */
export interface Revision {
  readonly number: number;
  readonly changeCause: string;
  /** The ReplicaSet or ControllerRevision. */
  readonly object: AnyObject;
}

/** Oldest first. */
export async function revisionsOf(session: Session, { resource, namespace, object }: Found): Promise<Revision[]> {
  const mapper = await session.mapper();
  const { spec } = object as unknown as Workload;
  const labelSelector = formatSelector(selectorOf(spec?.selector));
  const holder = mapper.resource(resource.kind === 'Deployment' ? 'replicasets.apps' : 'controllerrevisions.apps');
  const { items, apiVersion } = await session.api.list(holder, namespace, { labelSelector });
  const owned = (items ?? []).filter((item) => controllerOf(item)?.uid === object.metadata.uid);
  return owned
    .map((item) => revision({ ...item, apiVersion, kind: holder.kind }))
    .filter((r): r is Revision => r !== undefined)
    .sort((a, b) => a.number - b.number);
}

function revision(object: AnyObject): Revision | undefined {
  const annotations = object.metadata.annotations ?? {};
  const number =
    object.kind === 'ReplicaSet' ? Number(annotations[REVISION] ?? Number.NaN) : (object as unknown as ControllerRevision).revision;
  if (!Number.isFinite(number)) return undefined;
  return { number, changeCause: annotations[CHANGE_CAUSE] || '<none>', object };
}

/** The pod template of a revision as it is recorded. */
export function recordedTemplate({ object }: Revision): Record<string, unknown> {
  return object.kind === 'ReplicaSet'
    ? { ...(object as unknown as ReplicaSet).spec?.template }
    : templateOf({ object, number: 0, changeCause: '' });
}

/** The pod template of a revision, without the labels its controller added. */
export function templateOf(found: Revision): Record<string, unknown> {
  const { object } = found;
  if (object.kind === 'ReplicaSet') {
    const template = (object as unknown as ReplicaSet).spec?.template;
    const { [POD_TEMPLATE_HASH]: _hash, ...labels } = template?.metadata?.labels ?? {};
    return { ...template, metadata: { ...template?.metadata, labels } };
  }
  const data = (object as unknown as { data?: { spec?: { template?: Record<string, unknown> } } }).data;
  const { $patch: _patch, ...template } = data?.spec?.template ?? {};
  return template;
}
