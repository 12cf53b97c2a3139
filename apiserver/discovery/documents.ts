/**
 * The discovery documents: which groups, versions and resources this server has, in the old form (`APIResourceList`) and the aggregated one
 * (`APIGroupDiscoveryList` v2). Mirrors apiserver `endpoints/discovery`. Built from the catalog, so custom resources appear by being in it.
 */
import type { GroupInfo, SubresourceInfo } from '../../machinery/api/schema/resources.ts';
import type { Catalog, ServedResource } from '../handlers/served.ts';

const groupVersion = (group: string, version: string): string => (group === '' ? version : `${group}/${version}`);

export function apiGroup({ group, versions, preferred }: GroupInfo, standalone: boolean): Record<string, unknown> {
  const named = (version: string) => ({ groupVersion: groupVersion(group, version), version });
  return {
    ...(standalone && { kind: 'APIGroup', apiVersion: 'v1' }),
    name: group,
    versions: versions.map(named),
    preferredVersion: named(preferred),
  };
}

export function apiVersions(serverAddress: string): Record<string, unknown> {
  return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }] };
}

export function apiGroupList(catalog: Catalog): Record<string, unknown> {
  const groups = catalog.groups().filter((g) => g.group !== '');
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map((g) => apiGroup(g, false)) };
}

const resourcesOf = (catalog: Catalog, group: string, version: string): ServedResource[] =>
  catalog
    .all()
    .filter((served) => served.group === group && served.version === version)
    .sort((a, b) => (a.resource < b.resource ? -1 : 1));

export function apiResourceList(catalog: Catalog, group: string, version: string): Record<string, unknown> {
  return {
    kind: 'APIResourceList',
    ...(group !== '' && { apiVersion: 'v1' }),
    groupVersion: groupVersion(group, version),
    resources: resourcesOf(catalog, group, version).flatMap((served) => [resourceEntry(served), ...subresourceEntries(served)]),
  };
}

function resourceEntry({ info }: ServedResource): Record<string, unknown> {
  return {
    name: info.plural,
    singularName: info.singular,
    namespaced: info.namespaced,
    kind: info.kind,
    verbs: info.verbs,
    ...(info.shortNames && { shortNames: info.shortNames }),
    ...(info.categories && { categories: info.categories }),
    ...(info.storageVersionHash && { storageVersionHash: info.storageVersionHash }),
  };
}

function subresourceEntries({ info }: ServedResource): Record<string, unknown>[] {
  return (info.subresources ?? []).map((sub) => ({
    name: `${info.plural}/${sub.name}`,
    singularName: '',
    namespaced: info.namespaced,
    ...(sub.group !== undefined && { group: sub.group }),
    ...(sub.version !== undefined && { version: sub.version }),
    kind: sub.kind,
    verbs: sub.verbs,
  }));
}

/** The v2 document of the core group (`/api`) or of all others (`/apis`). */
export function aggregated(catalog: Catalog, core: boolean): Record<string, unknown> {
  const groups = catalog.groups().filter((g) => (g.group === '') === core);
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: groups.map((g) => ({
      metadata: core ? {} : { name: g.group },
      versions: g.versions.map((version) => ({
        version,
        resources: resourcesOf(catalog, g.group, version).map(aggregatedResource),
        freshness: 'Current',
      })),
    })),
  };
}

function aggregatedResource({ info }: ServedResource): Record<string, unknown> {
  return {
    resource: info.plural,
    responseKind: { group: '', version: '', kind: info.kind },
    scope: info.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: info.singular,
    verbs: info.verbs,
    ...(info.shortNames && { shortNames: info.shortNames }),
    ...(info.categories && { categories: info.categories }),
    ...(info.subresources && { subresources: info.subresources.map(aggregatedSubresource) }),
  };
}

function aggregatedSubresource(sub: SubresourceInfo): Record<string, unknown> {
  return {
    subresource: sub.name,
    responseKind: { group: sub.group ?? '', version: sub.version ?? '', kind: sub.kind },
    verbs: sub.verbs,
  };
}
