/**
 * What the server serves, read in two requests (aggregated discovery, apidiscovery.k8s.io/v2), with the older per-group documents where a server does
 * not aggregate. Nothing is kept on disk: two local requests cost less than a stale answer about a new custom resource.
 */
import type { Api } from '../api.ts';
import type { Resource } from './mapper.ts';

const ACCEPT =
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json';

interface AggregatedResource {
  resource: string;
  responseKind?: { group?: string; version?: string; kind: string };
  scope: string;
  singularResource?: string;
  shortNames?: string[];
  categories?: string[];
  verbs: string[];
  subresources?: { subresource: string; responseKind?: { group?: string; version?: string; kind: string }; verbs: string[] }[];
}
interface AggregatedGroup {
  metadata?: { name?: string };
  versions?: { version: string; resources?: AggregatedResource[]; freshness?: string }[];
}
interface LegacyResource {
  name: string;
  kind: string;
  namespaced: boolean;
  singularName?: string;
  shortNames?: string[];
  categories?: string[];
  verbs: string[];
}

export interface DiscoveredGroup {
  readonly name: string;
  /** Preferred first, as the server orders them. */
  readonly versions: readonly string[];
}

export interface Discovered {
  readonly groups: readonly DiscoveredGroup[];
  /** Every version of every resource, in the server's order; the preferred version of a group comes first. */
  readonly resources: readonly Resource[];
}

export async function discover(api: Api): Promise<Discovered> {
  const [core, named] = await Promise.all([discoverRoot(api, '/api'), discoverRoot(api, '/apis')]);
  return { groups: [...core.groups, ...named.groups], resources: [...core.resources, ...named.resources] };
}

async function discoverRoot(api: Api, path: string): Promise<Discovered> {
  const document = await api.json<{ kind: string; items?: AggregatedGroup[]; versions?: string[]; groups?: LegacyGroup[] }>({
    path,
    accept: ACCEPT,
  });
  if (document.kind === 'APIGroupDiscoveryList') return fromAggregated(document.items ?? []);
  const groups = document.groups ?? [{ name: '', versions: (document.versions ?? []).map((version) => ({ version })) }];
  return fromLegacy(api, groups);
}

interface LegacyGroup {
  name: string;
  versions: { version: string }[];
}

function fromAggregated(items: readonly AggregatedGroup[]): Discovered {
  const groups = items.map((item) => ({ name: item.metadata?.name ?? '', versions: (item.versions ?? []).map((v) => v.version) }));
  const resources = items.flatMap((item) =>
    (item.versions ?? []).flatMap(({ version, resources = [] }) =>
      resources.map(
        (r): Resource => ({
          group: item.metadata?.name ?? '',
          version,
          resource: r.resource,
          kind: r.responseKind?.kind ?? '',
          namespaced: r.scope === 'Namespaced',
          singular: r.singularResource ?? '',
          shortNames: r.shortNames ?? [],
          categories: r.categories ?? [],
          verbs: r.verbs ?? [],
          subresources: (r.subresources ?? []).map((s) => s.subresource),
        }),
      ),
    ),
  );
  return { groups, resources };
}

async function fromLegacy(api: Api, groups: readonly LegacyGroup[]): Promise<Discovered> {
  const pairs = groups.flatMap((group) => group.versions.map(({ version }) => ({ group: group.name, version })));
  const lists = await Promise.all(
    pairs.map(async ({ group, version }) => {
      const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
      const list = await api.json<{ resources?: LegacyResource[] }>({ path });
      const all = list.resources ?? [];
      return all.filter((r) => !r.name.includes('/')).map((r) => legacyResource(r, { group, version }, all));
    }),
  );
  return { groups: groups.map((g) => ({ name: g.name, versions: g.versions.map((v) => v.version) })), resources: lists.flat() };
}

function legacyResource(r: LegacyResource, gv: { group: string; version: string }, all: readonly LegacyResource[]): Resource {
  return {
    ...gv,
    resource: r.name,
    kind: r.kind,
    namespaced: r.namespaced,
    singular: r.singularName ?? '',
    shortNames: r.shortNames ?? [],
    categories: r.categories ?? [],
    verbs: r.verbs,
    subresources: all.filter((s) => s.name.startsWith(`${r.name}/`)).map((s) => s.name.slice(r.name.length + 1)),
  };
}
