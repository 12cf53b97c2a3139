/**
 * GET of a collection: selectors, pages, versions. Mirrors apiserver `handlers/get.go` ListResource and etcd3 `store.GetList`.
 *
 * Invariant: all pages of one list show the same revision, the one in the continue token.
 */
import { type FieldRequirement, FieldSelectorError, matchesFields, parseFieldSelector } from '../../machinery/api/field-selector.ts';
import { encodeObject } from '../../machinery/api/json.ts';
import type { AnyObject } from '../../machinery/api/object.ts';
import { matches, parseSelector, type Selector, SelectorError } from '../../machinery/api/selector.ts';
import { badRequest, expired, StatusError, unclassified } from '../../machinery/api/status.ts';
import { failpoint } from '../../machinery/process/failpoints.ts';
import { mutant } from '../../machinery/process/mutants.ts';
import { forEachInSlices } from '../../machinery/process/slices.ts';
import type { RequestContext } from '../http/context.ts';
import { decodeContinue, encodeContinue } from '../http/continue-token.ts';
import {
  invalidVersion,
  type ListOptions,
  listOptions,
  parseRevision,
  requireReached,
  tooLarge,
  validateListOptions,
} from '../http/list-options.ts';
import { storagePrefix } from '../registry/resource.ts';
import { RevisionCompacted, RevisionTooNew, type Stored } from '../storage/interface.ts';
import type { Answer, ListMeta } from './answer.ts';
import type { Api } from './api.ts';
import type { ServedResource } from './served.ts';

const TOO_OLD = 'The resourceVersion for the provided list is too old.';
const CONTINUE_TOO_OLD =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.';

export interface Filter {
  readonly labels: Selector;
  readonly fields: readonly FieldRequirement[];
  /** Selects everything. */
  readonly empty: boolean;
  matches(object: AnyObject): boolean;
}

export async function list(api: Api, context: RequestContext, served: ServedResource): Promise<Answer> {
  const options = listOptions(context.info.query);
  const filter = filterOf(served, options, context.info.name);
  validateListOptions(options, false);
  if (served.definition.made !== undefined) {
    const made = madeObjects(api, served).filter((stored) => filter.matches(api.cache.read(stored)));
    return { type: 'list', served, items: made, metadata: {} };
  }
  const { items, metadata } = await listStored(api, context, served, { options, filter });
  return { type: 'list', served, items, metadata };
}

/** Objects of a kind that is never stored, as if they were; they have no version. */
export function madeObjects(api: Api, served: ServedResource): Stored[] {
  const objects = served.definition.made?.(api.reader, api.clock.now()) ?? [];
  return objects.map((object) => ({ key: object.metadata.name ?? '', revision: 0, bytes: encodeObject(served.schema, object) }));
}

/** Names that cannot be part of a storage key. */
export function requireKeyable(served: ServedResource, namespace: string, name: string): void {
  if (!served.namespaced || (namespace !== '.' && namespace !== '..')) return;
  throw unclassified(`invalid key: "/${served.resource}/${namespace}${name === '' ? '' : `/${name}`}"`);
}

export function filterOf(served: ServedResource, options: { labelSelector: string; fieldSelector: string }, name = ''): Filter {
  const labels = parseLabels(options.labelSelector);
  const fields = parseFields(served, options.fieldSelector);
  void name;
  const selectable = served.definition.selectableFields;
  return {
    labels,
    fields,
    empty: labels.requirements.length === 0 && !labels.nothing && fields.length === 0,
    matches: (object) =>
      matches(labels, object.metadata.labels) &&
      matchesFields(fields, (label) => {
        if (label === 'metadata.name') return object.metadata.name ?? '';
        if (label === 'metadata.namespace') return object.metadata.namespace ?? '';
        return selectable?.[label]?.(object) ?? '';
      }),
  };
}

function parseLabels(text: string): Selector {
  try {
    return parseSelector(text);
  } catch (error) {
    if (error instanceof SelectorError) throw badRequest(error.message);
    throw error;
  }
}

function parseFields(served: ServedResource, text: string): FieldRequirement[] {
  let requirements: FieldRequirement[];
  try {
    requirements = parseFieldSelector(text);
  } catch (error) {
    if (error instanceof FieldSelectorError) throw badRequest(error.message);
    throw error;
  }
  return requirements.map((requirement) => ({ ...requirement, label: selectableLabel(served, requirement.label) }));
}

/** The label by which the stored version has the field. */
function selectableLabel(served: ServedResource, label: string): string {
  const { definition, conversion } = served;
  if (label === 'metadata.name') return label;
  if (label === 'metadata.namespace' && !definition.noNamespaceField) return label;
  const labels = conversion?.fieldLabels;
  const stored = labels === undefined ? label : Object.hasOwn(labels, label) ? labels[label]! : '';
  if (definition.selectableFields !== undefined && Object.hasOwn(definition.selectableFields, stored)) return stored;
  if (definition.fieldLabelError === 'notSupported') throw badRequest(`field label not supported: ${label}`);
  if (definition.fieldLabelError === 'notSupportedForType')
    throw badRequest(`field label not supported for ${served.apiVersion}, Kind=${served.kind}: ${label}`);
  if (definition.fieldLabelError === 'notSupportedForKind') throw badRequest(`field label "${label}" not supported for ${served.kind}`);
  throw badRequest(`${JSON.stringify(label)} is not a known field selector: only "metadata.name", "metadata.namespace"`);
}

export interface ListRequest {
  readonly options: ListOptions;
  readonly filter: Filter;
}

/** Where and when a list starts. */
interface Plan {
  /** Exactly this revision; the latest when undefined. */
  readonly revision: number | undefined;
  readonly startKey: string | undefined;
  readonly limit: number;
}

export async function listStored(
  api: Api,
  context: RequestContext,
  served: ServedResource,
  request: ListRequest,
): Promise<{ items: readonly Stored[]; metadata: ListMeta }> {
  const namespace = served.namespaced ? context.info.namespace : '';
  requireKeyable(served, namespace, '');
  const prefix = storagePrefix(served.definition.group, served.definition.resource, namespace);
  const plan = await planOf(api, context, request.options, prefix);
  try {
    return await collect(api, request.filter, scopeOf(served, namespace, request.filter), plan);
  } catch (error) {
    if (error instanceof RevisionTooNew) throw tooLarge(plan.revision ?? 0, api.store.revision);
    if (!(error instanceof RevisionCompacted)) throw error;
    if (mutant('list.restarts-silently'))
      return collect(api, request.filter, scopeOf(served, namespace, request.filter), { ...plan, revision: undefined });
    throw request.options.continue === '' ? expired(TOO_OLD) : continueExpired(plan, prefix);
  }
}

async function planOf(api: Api, context: RequestContext, options: ListOptions, prefix: string): Promise<Plan> {
  const { resourceVersion, resourceVersionMatch: match, limit } = options;
  if (options.continue !== '') {
    const token = decodeContinue(options.continue, prefix);
    if (resourceVersion !== '' && resourceVersion !== '0')
      throw badRequest('specifying resource version is not allowed when using continue');
    failpoint('list.between-pages');
    if (token.revision > 0) await requireReached(api, context, token.revision);
    return { revision: token.revision > 0 && !mutant('list.page-at-latest') ? token.revision : undefined, startKey: token.startKey, limit };
  }
  if (resourceVersion === '') return { revision: mutant('list.stale') ? api.store.revision - 1 : undefined, startKey: undefined, limit };
  const revision = parseRevision(resourceVersion);
  if (revision === undefined) throw invalidVersion(resourceVersion, 'list');
  if (revision === 0) return { revision: undefined, startKey: undefined, limit: 0 };
  await requireReached(api, context, revision);
  const exact = (match === 'Exact' && !mutant('list.exact-ignored')) || (match === '' && limit > 0);
  return { revision: exact ? revision : undefined, startKey: undefined, limit };
}

/** Which keys a list looks at. */
interface Scope {
  /** Of the collection that was asked for: pages continue after it. */
  readonly prefix: string;
  /** Of what the selector leaves of it. */
  readonly narrow: string;
  /** The selector names one object: there is nothing after it. */
  readonly single: boolean;
}

/** A selector may name the namespace, and within one the object: what lies beyond makes no further page. */
function scopeOf({ definition, namespaced }: ServedResource, asked: string, { fields }: Filter): Scope {
  const exact = (wanted: string): string => fields.find(({ label, operator }) => label === wanted && operator !== '!=')?.value ?? '';
  const namespace = namespaced && asked === '' ? exact('metadata.namespace') : asked;
  return {
    prefix: storagePrefix(definition.group, definition.resource, asked),
    narrow: storagePrefix(definition.group, definition.resource, namespace),
    single: (!namespaced || namespace !== '') && exact('metadata.name') !== '',
  };
}

async function collect(api: Api, filter: Filter, scope: Scope, plan: Plan): Promise<{ items: readonly Stored[]; metadata: ListMeta }> {
  const { prefix, narrow, single } = scope;
  const { revision, startKey, limit } = plan;
  if (filter.empty) {
    const result = api.store.list(prefix, { ...(revision && { revision }), ...(startKey && { startKey }), limit });
    const metadata = {
      resourceVersion: String(result.revision),
      ...(result.nextKey !== undefined && {
        continue: encodeContinue(result.revision, result.nextKey.slice(prefix.length)),
        remainingItemCount: result.remaining,
      }),
    };
    return { items: result.items, metadata };
  }
  const result = api.store.list(narrow, { ...(revision && { revision }), ...(startKey && { startKey }) });
  const items: Stored[] = [];
  const looked = await forEachInSlices(api.clock, result.items, (stored) => {
    if (filter.matches(api.cache.read(stored))) items.push(stored);
    return limit > 0 && items.length === limit && !single;
  });
  const metadata = { resourceVersion: String(result.revision) };
  if (looked === result.items.length) return { items, metadata };
  const next = `${items.at(-1)!.key.slice(prefix.length)}\u0000`;
  return { items, metadata: { ...metadata, continue: encodeContinue(result.revision, next) } };
}

function continueExpired(plan: Plan, prefix: string): StatusError {
  const error = expired(CONTINUE_TOO_OLD);
  const token = encodeContinue(-1, (plan.startKey ?? prefix).slice(prefix.length));
  return new StatusError({ ...error.status, ...({ metadata: { continue: token } } as object) });
}
