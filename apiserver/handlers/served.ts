/**
 * The resources this server answers for, by path. A `ServedResource` is one resource in one served version: the definition it shares with
 * other versions and the schema of this one. Mirrors apiserver `handlers.RequestScope`.
 */
import { deepClone } from '../../machinery/api/equality.ts';
import { formatApiVersion, type KubeObject } from '../../machinery/api/object.ts';
import { builtinResources, type GroupInfo, type ResourceInfo } from '../../machinery/api/schema/resources.ts';
import { type TypeSchema, typeSchema } from '../../machinery/api/schema/schema.ts';
import { isTwin } from '../../machinery/api/schema/twins.ts';
import { type ServedApi, servedApi, versionWarning } from '../discovery/served-api.ts';
import type { Registry, ResourceDefinition, VersionConversion } from '../registry/resource.ts';

export interface ServedResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** `apps/v1`. */
  readonly apiVersion: string;
  readonly info: ResourceInfo;
  readonly definition: ResourceDefinition;
  /** Of the served version. */
  readonly schema: TypeSchema;
  /** Of the version that is stored: its schema, its apiVersion, and the bytes every stored object begins with. */
  readonly storedSchema: TypeSchema;
  readonly storedApiVersion: string;
  readonly storedHead: Buffer;
  /** Absent where the served version is the stored one. */
  readonly conversion: VersionConversion | undefined;
  /** What every request for it is warned of. */
  readonly deprecation: string | undefined;
}

export interface Catalog {
  /** The resource of a path, stored or not (reviews have no definition of use). */
  lookup(group: string, version: string, resource: string): ServedResource | undefined;
  /** Also of a version that is not served: for what the server itself writes and remembers. */
  known(group: string, version: string, resource: string): ServedResource | undefined;
  hasGroup(group: string): boolean;
  /** In the order of /apis. */
  groups(): readonly GroupInfo[];
  all(): readonly ServedResource[];
}

/** `{"kind":"Pod","apiVersion":"v1",`: how every encoded object of a kind begins, so that list items are cut from stored bytes. */
export function objectHead(kind: string, apiVersion: string): Buffer {
  return Buffer.from(`{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},`);
}

export function createCatalog(registry: Registry, api: ServedApi = servedApi([])): Catalog {
  const pathOf = (info: ResourceInfo): string => `${info.group}/${info.version}/${info.plural}`;
  const known = new Map(api.known.map((info) => [pathOf(info), serve(info, registry)]));
  const byPath = new Map(api.resources.map((info) => [pathOf(info), known.get(pathOf(info))!]));
  const all = [...byPath.values()];
  return {
    lookup: (group, version, resource) => byPath.get(`${group}/${version}/${resource}`),
    known: (group, version, resource) => known.get(`${group}/${version}/${resource}`),
    hasGroup: (group) => api.groups.some((info) => info.group === group),
    groups: () => api.groups,
    all: () => all,
  };
}

function serve(info: ResourceInfo, registry: Registry): ServedResource {
  const own = registry.definition(info.group, info.version, info.plural);
  const twin = isTwin(info.group, info.version, info.kind);
  const definition = own ?? (twin ? registry.definition(info.group, 'v1', info.plural) : undefined) ?? plainDefinition(info);
  const stored = definition.group === info.group && definition.version === info.version;
  const apiVersion = formatApiVersion(info);
  const storedApiVersion = stored ? apiVersion : formatApiVersion(definition);
  const schema = typeSchema(info.type);
  return {
    group: info.group,
    version: info.version,
    resource: info.plural,
    kind: info.kind,
    namespaced: info.namespaced,
    apiVersion,
    info,
    definition,
    schema,
    storedSchema: stored ? schema : storedSchemaOf(definition),
    storedApiVersion,
    storedHead: objectHead(definition.kind, storedApiVersion),
    conversion: stored ? undefined : (conversionOf(info, definition) ?? (twin ? renaming(info, definition) : undefined)),
    deprecation: definition.deprecation ?? versionWarning(info),
  };
}

const conversionOf = (info: ResourceInfo, definition: ResourceDefinition): VersionConversion | undefined =>
  definition.conversions?.find((c) => c.group === info.group && c.version === info.version);

/** Between versions that have the same fields. */
function renaming(info: ResourceInfo, definition: ResourceDefinition): VersionConversion {
  const named = (apiVersion: string) => (object: KubeObject) => {
    object.apiVersion = apiVersion;
    return object;
  };
  return {
    group: info.group,
    version: info.version,
    toStored: named(formatApiVersion(definition)),
    fromStored: named(formatApiVersion(info)),
  };
}

function storedSchemaOf(definition: ResourceDefinition): TypeSchema {
  const info = builtinResources().find(
    (r) => r.group === definition.group && r.version === definition.version && r.plural === definition.resource,
  );
  if (info === undefined) throw new Error(`no schema for ${definition.resource} ${formatApiVersion(definition)}`);
  return typeSchema(info.type);
}

/** What is answered without being stored (reviews, bindings) needs only names. */
function plainDefinition(info: ResourceInfo): ResourceDefinition {
  return {
    group: info.group,
    version: info.version,
    resource: info.plural,
    kind: info.kind,
    strategy: {},
    generation: 'none',
    createOnUpdate: false,
    unconditionalUpdate: true,
    table: { columns: [], cells: () => [] },
  };
}

/** A stored object in the served version; a copy only where versions differ. */
export function toServed(served: ServedResource, object: KubeObject): KubeObject {
  return served.conversion === undefined ? object : served.conversion.fromStored(deepClone(object));
}

export function toStored(served: ServedResource, object: KubeObject): KubeObject {
  return served.conversion === undefined ? object : served.conversion.toStored(object);
}
