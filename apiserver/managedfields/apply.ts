/**
 * Server-side apply: the configuration says all that its manager wants to own. What it sets is merged into the live object, what the manager
 * set before and does not any more is removed unless others own it too, what others own with another value is a conflict. Mirrors apimachinery
 * `managedfields` FieldManager.Apply and structured-merge-diff `merge/update.go`.
 */
import { type GroupVersionKind, type KubeObject, parseApiVersion } from '../../machinery/api/object.ts';
import type { Plain } from '../../machinery/api/plain.ts';
import { badRequest, type StatusError, unclassified } from '../../machinery/api/status.ts';
import type { ManagedFieldsEntry } from '../../machinery/api/types/meta.v1.ts';
import { conflictError } from './conflict.ts';
import { sameJson } from './equal.ts';
import { difference, EMPTY_SET, type FieldSet, isEmptySet, recursiveDifference } from './field-set.ts';
import { allowedByLastApplied, withSyncedLastApplied } from './last-applied.ts';
import { BadManagedFields, decodeManagers, encodeManagers, identify, type ManagerName, type Managers, timeText } from './managers.ts';
import { fieldsOf, mergeTyped } from './merge.ts';
import { assess, type OwnedType, stripIdentity, takeOver } from './ownership.ts';
import { prune } from './prune.ts';
import { reconcile } from './reconcile.ts';
import { recordUpdate, withoutOwnership } from './track.ts';
import { printedView, type Typed, TypedError, typedStruct } from './typed.ts';
import { problemText, validateTyped } from './validate.ts';

export interface ApplyConfiguration extends OwnedType {
  readonly kind: string;
  /** What is stored, in the version of the request; undefined when the apply creates. Not changed. */
  readonly live: KubeObject | undefined;
  /** The body as parsed: nulls, empty maps and lists as they were sent. Not changed. */
  readonly config: Plain;
  readonly manager: string;
  readonly force: boolean;
  readonly now: Date;
}

export interface Applied {
  /**
   * The object that results, as plain JSON: still to be decoded (which may fail), defaulted and validated. Without managedFields. Where the
   * configuration changes no value it equals the live object.
   */
  readonly object: KubeObject;
  readonly managedFields: ManagedFieldsEntry[] | undefined;
}

/** The manager that owns what was there before anybody tracked it. */
const BEFORE_FIRST_APPLY = 'before-first-apply';
/** The only manager whose client-side apply annotation is honoured and kept in step. */
const KUBECTL = 'kubectl';

/** Throws StatusError: 400 for another kind or with managedFields, 500 without reason for what does not fit the type, 409 for conflicts. */
export function applyConfiguration(request: ApplyConfiguration): Applied {
  checkIdentity(request);
  const live = request.live ?? emptyObject(request);
  const managers = liveManagers(live);
  reconcile(request, managers);
  const type = typedStruct(request.schema);
  const state: Plain = (request.reading === 'literal' ? withoutOwnership(live) : printedView(type, withoutOwnership(live))) as Plain;
  if (managers.size === 0 && request.live !== undefined) {
    orRefuseLive(request, state, 'failed to create manager for existing fields: failed to convert new object', () =>
      recordUpdate({ ...request, live: undefined, object: live, manager: BEFORE_FIRST_APPLY }, managers),
    );
  }
  checkFields(request);
  const attempt = orRefuseLive(request, state, 'failed to create typed live object', () =>
    attemptApply(request, { type, state, managers: new Map(managers) }),
  );
  if (attempt.conflicts.size > 0 && !request.force) {
    const open = openConflicts(request, attempt.conflicts, { type, state, live });
    if (open.size > 0) throw conflictError(managers, open);
  }
  takeOver(attempt.managers, attempt.conflicts);
  return finish(request, attempt, { live, unchanged: sameJson(state, attempt.object) });
}

interface Attempt {
  readonly object: Plain;
  readonly managers: Managers;
  readonly conflicts: ReadonlyMap<string, FieldSet>;
}

interface Ground {
  readonly type: Typed;
  /** The live object as Go would print it, without managedFields. */
  readonly state: Plain;
  readonly managers: Managers;
}

/** Runs `step`. A live object whose list items have no names cannot be merged with anything. */
function orRefuseLive<T>(request: ApplyConfiguration, live: Plain, what: string, step: () => T): T {
  try {
    return step();
  } catch (error) {
    if (!(error instanceof TypedError)) throw error;
    const problems = validateTyped(typedStruct(request.schema), live, true);
    const kind = what.endsWith('new object') ? ' to smd typed' : '';
    const why = problems.length > 0 ? problemText(problems) : error.message;
    throw unclassified(`${what} (${objectText({ ...request, config: live })})${kind}: ${why}`);
  }
}

/** Merges, prunes and finds the conflicts, on managers of its own. */
function attemptApply(request: ApplyConfiguration, { type, state, managers }: Ground): Attempt {
  const name = managerName(request);
  const id = identify(name);
  const previous = managers.get(id);
  const { resetFields = EMPTY_SET } = request;
  const wanted = recursiveDifference(fieldsOf(type, request.config), resetFields);
  managers.set(id, { ...name, set: wanted, time: previous?.time });
  const merged = mergeTyped(type, state, request.config) as Plain;
  const last = previous === undefined ? undefined : { ...previous, set: recursiveDifference(previous.set, resetFields) };
  const object = prune(request, { merged, managers, last });
  const { conflicts } = assess(request, { before: state, after: object, reading: 'literal' }, managers, id);
  const own = stripIdentity(managers.get(id)!.set);
  managers.set(id, { ...managers.get(id)!, set: own });
  if (isEmptySet(own)) managers.delete(id);
  return { object, managers, conflicts };
}

/** Conflicts that are not excused by the client-side apply annotation, when kubectl moves on to server-side apply. */
function openConflicts(
  request: ApplyConfiguration,
  conflicts: ReadonlyMap<string, FieldSet>,
  { type, state, live }: { type: Typed; state: Plain; live: KubeObject },
): ReadonlyMap<string, FieldSet> {
  if (request.manager !== KUBECTL) return conflicts;
  const allowed = allowedByLastApplied(request, { type, state, live });
  if (allowed === undefined) return conflicts;
  const open = new Map<string, FieldSet>();
  for (const [id, set] of conflicts) {
    const rest = difference(set, allowed);
    if (!isEmptySet(rest)) open.set(id, rest);
  }
  return open;
}

function finish(request: ApplyConfiguration, attempt: Attempt, { live, unchanged }: { live: KubeObject; unchanged: boolean }): Applied {
  const { managers } = attempt;
  const id = identify(managerName(request));
  const own = managers.get(id);
  // The time moves only when a value does: sharing what is there already is not dated.
  if (own !== undefined && !unchanged) managers.set(id, { ...own, time: timeText(request.now) });
  const result = unchanged ? withoutOwnership(live) : attempt.object;
  const object = (request.manager === KUBECTL ? withSyncedLastApplied(result, request.config) : result) as unknown as KubeObject;
  return { object, managedFields: encodeManagers(managers) };
}

function managerName({ manager, subresource, apiVersion }: ApplyConfiguration): ManagerName {
  return { name: manager === '' ? 'unknown' : manager, subresource, applied: true, apiVersion };
}

function emptyObject({ apiVersion, kind }: ApplyConfiguration): KubeObject {
  return { apiVersion, kind, metadata: {} };
}

function liveManagers(live: KubeObject): Managers {
  try {
    return decodeManagers(live.metadata.managedFields);
  } catch (error) {
    if (!(error instanceof BadManagedFields)) throw error;
    throw unclassified(`failed to decode managed fields: ${error.message}`);
  }
}

function checkIdentity({ config, apiVersion, kind }: ApplyConfiguration): void {
  const body: GroupVersionKind = { ...parseApiVersion(String(config['apiVersion'] ?? '')), kind: String(config['kind'] ?? '') };
  if (config['apiVersion'] !== apiVersion || config['kind'] !== kind) throw badRequest(`invalid object type: ${gvkText(body)}`);
  const metadata = config['metadata'];
  const owned = typeof metadata === 'object' && metadata !== null ? (metadata as Plain)['managedFields'] : undefined;
  if (owned !== undefined && owned !== null) throw badRequest('metadata.managedFields must be nil');
}

function checkFields(request: ApplyConfiguration): void {
  const problems = validateTyped(typedStruct(request.schema), request.config);
  if (problems.length > 0) throw unclassified(`failed to create typed patch object (${objectText(request)}): ${problemText(problems)}`);
}

/** The error of a result that cannot be decoded: `why` is the decoder's text. */
export function undecodable(request: Pick<ApplyConfiguration, 'config' | 'apiVersion' | 'kind'>, why: string): StatusError {
  const gvk = gvkText({ ...parseApiVersion(request.apiVersion), kind: request.kind });
  return unclassified(
    `failed to convert new object (${objectText(request)}) to proper version: unable to convert unstructured object to ${gvk}: ${why}`,
  );
}

/** `default/web; apps/v1, Kind=Deployment`. */
function objectText({ config, apiVersion, kind }: Pick<ApplyConfiguration, 'config' | 'apiVersion' | 'kind'>): string {
  const metadata = config['metadata'] as Plain | null | undefined;
  const text = (name: string): string => (typeof metadata === 'object' && typeof metadata?.[name] === 'string' ? metadata[name] : '');
  return `${text('namespace')}/${text('name')}; ${gvkText({ ...parseApiVersion(apiVersion), kind })}`;
}

/** Go's GroupVersionKind.String(): the core group leaves its slash. */
function gvkText({ group, version, kind }: GroupVersionKind): string {
  return `${group}/${version}, Kind=${kind}`;
}
