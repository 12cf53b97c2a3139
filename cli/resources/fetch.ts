/**
 * Gets the objects a verb acts on: from words (`deploy/web`), selectors, or manifests. Mirrors cli-runtime `resource.Builder`: every object is tried and
 * the failures are told together at the end.
 */
import type { AnyObject } from '../../machinery/api/object.ts';
import type { Resource } from '../discovery/mapper.ts';
import { CliError, throwAll } from '../errors.ts';
import type { Session } from '../session.ts';
import { parseResourceWords } from './arguments.ts';
import { readManifests } from './manifests.ts';

/** One object to act on. `object` is its state on the server, or the manifest where `fromFile` is told. */
export interface Found {
  readonly resource: Resource;
  readonly namespace: string;
  readonly name: string;
  readonly object: AnyObject;
  /** The file it came from, '' when it was named by words. */
  readonly source: string;
}

export interface FetchOptions {
  /** With manifests: do not ask the server for the live object. */
  readonly local?: boolean;
  /** Refuse to act on whole types: a name, a selector or --all is needed. */
  readonly needsNames?: boolean;
  /** Taken instead of the words when a verb has a fixed type (`cordon NODE`). */
  readonly type?: string;
  /** Get this subresource of each named object. */
  readonly subresource?: string;
}

/** What was asked for: objects in order, and what went wrong on the way. */
export interface Fetched {
  readonly found: Found[];
  readonly errors: unknown[];
  /** One object was named: print it, not a List. */
  readonly single: boolean;
}

const flagOr = (session: Session, name: string): string => (session.flags.has(name) ? session.flags.string(name) : '');
const isSet = (session: Session, name: string): boolean => session.flags.has(name) && session.flags.bool(name);

export async function fetchObjects(session: Session, words: readonly string[], options: FetchOptions = {}): Promise<Fetched> {
  const files = session.flags.has('filename') ? session.flags.list('filename') : [];
  if (files.length > 0) {
    if (words.length > 0)
      throw new CliError('when paths, URLs, or stdin is provided as input, you may not specify resource arguments as well');
    return fetchManifests(session, files, options);
  }
  return fetchWords(session, words, options);
}

/** The rollout verbs act on nothing that was not asked for. */
export function requireAsked(session: Session, words: readonly string[]): void {
  if (words.length === 0 && session.flags.list('filename').length === 0) throw new CliError('required resource not specified');
}

/** Does `act` with every object, one after the other. What failed, here or before (`errors`), is thrown together at the end. */
export async function actOnEach<T>(items: readonly T[], errors: unknown[], act: (item: T) => Promise<unknown>): Promise<void> {
  for (const item of items) {
    try {
      await act(item);
    } catch (error) {
      errors.push(error);
    }
  }
  throwAll(errors);
}

async function fetchManifests(session: Session, files: readonly string[], options: FetchOptions): Promise<Fetched> {
  const manifests = await readManifests(files, isSet(session, 'recursive'), () => session.stdin());
  const mapper = await session.mapper();
  const found: Found[] = [];
  const errors: unknown[] = [];
  for (const { object, source } of manifests) {
    try {
      const name = object.metadata.name ?? '';
      const resource = mapper.kind(object.apiVersion, object.kind, { name, namespace: object.metadata.namespace ?? '', path: source });
      const namespace = manifestNamespace(session, resource, object);
      const live = options.local ? object : await session.api.get(resource, { namespace, name });
      found.push({ resource, namespace, name, object: live, source });
    } catch (error) {
      errors.push(error);
    }
  }
  return { found, errors, single: manifests.length === 1 };
}

/** Fills the namespace of a manifest in, and refuses one that contradicts --namespace. */
export function manifestNamespace(session: Session, resource: Resource, object: AnyObject): string {
  if (!resource.namespaced) return '';
  const wanted = session.namespace();
  const own = object.metadata.namespace;
  if (own && wanted.explicit && own !== wanted.name) {
    throw new CliError(
      `the namespace from the provided object "${own}" does not match the namespace "${wanted.name}". You must pass '--namespace=${own}' to perform this operation.`,
    );
  }
  object.metadata.namespace = own || wanted.name;
  return object.metadata.namespace;
}

async function fetchWords(session: Session, given: readonly string[], options: FetchOptions): Promise<Fetched> {
  const mapper = await session.mapper();
  const words =
    options.type !== undefined && given.length > 0 && !given.some((word) => word.includes('/')) ? [options.type, ...given] : given;
  const { wanted, single } = parseResourceWords(words.length === 0 && options.type !== undefined ? [options.type] : words, mapper);
  if (wanted.length === 0)
    throw new CliError(
      "You must provide one or more resources by argument or filename.\nExample resource specifications include:\n   '-f rsrc.yaml'\n   '--filename=rsrc.json'\n   '<resource> <name>'\n   '<resource>'",
    );
  const selector = flagOr(session, 'selector');
  const fieldSelector = flagOr(session, 'field-selector');
  const everywhere = isSet(session, 'all-namespaces');
  const named = wanted.some((w) => w.name !== undefined);
  if (named && selector !== '') throw new CliError('name cannot be provided when a selector is specified');
  if (named && fieldSelector !== '') throw new CliError('name cannot be provided when a selector is specified');
  if (named && isSet(session, 'all')) throw new CliError("setting 'all' parameter but found a non empty selector. ");
  if (named && everywhere) throw new CliError('a resource cannot be retrieved by name across all namespaces');
  if (!named && options.needsNames && selector === '' && fieldSelector === '' && !isSet(session, 'all'))
    throw new CliError('resource(s) were provided, but no name was specified');
  return collect(session, wanted, { selector, fieldSelector, everywhere, single, subresource: options.subresource });
}

async function collect(
  session: Session,
  wanted: ReturnType<typeof parseResourceWords>['wanted'],
  how: { selector: string; fieldSelector: string; everywhere: boolean; single: boolean; subresource?: string },
): Promise<Fetched> {
  const found: Found[] = [];
  const errors: unknown[] = [];
  const namespace = session.namespace().name;
  for (const { resource, name } of wanted) {
    const scope = resource.namespaced && !how.everywhere ? namespace : '';
    try {
      if (name !== undefined) {
        const object = await session.api.get(resource, { namespace: scope, name, subresource: how.subresource });
        found.push({ resource, namespace: scope, name, object, source: '' });
        continue;
      }
      const query = { labelSelector: how.selector, fieldSelector: how.fieldSelector };
      for (const object of await listAll(session, resource, { namespace: scope, query })) {
        found.push({ resource, namespace: object.metadata.namespace ?? '', name: object.metadata.name ?? '', object, source: '' });
      }
    } catch (error) {
      errors.push(error);
    }
  }
  return { found, errors, single: how.single };
}

/** All pages of a list; items carry apiVersion and kind as kubectl shows them. */
export async function listAll(
  session: Session,
  resource: Resource,
  from: { namespace?: string; query?: Record<string, string | undefined> },
): Promise<AnyObject[]> {
  const items: AnyObject[] = [];
  let next: string | undefined;
  do {
    const page = await session.api.list(resource, from.namespace, { ...from.query, limit: 500, continue: next });
    const kind = page.kind.replace(/List$/, '');
    for (const item of page.items ?? []) items.push({ ...item, apiVersion: item.apiVersion ?? page.apiVersion, kind: item.kind ?? kind });
    next = (page.metadata as { continue?: string }).continue;
  } while (next);
  return items;
}
