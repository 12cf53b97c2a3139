/**
 * All kinds of this API server, by resource and served version. Mirrors the storage providers of kubernetes `pkg/registry/<group>/rest`.
 *
 * Kinds with a file of their own are listed in `kinds.ts`; every other resource that can be written gets a plain definition.
 */
import { builtinResources } from '../../machinery/api/schema/resources.ts';
import { withAdmission } from './admission/plugin.ts';
import { admissionPlugins } from './admission/plugins.ts';
import { builtinKinds } from './kinds.ts';
import { plainDefinition } from './plain.ts';
import type { Registry, RegistryDeps, ResourceDefinition } from './resource.ts';

export function createRegistry(deps: RegistryDeps): Registry {
  const byVersion = new Map<string, ResourceDefinition>();
  const all: ResourceDefinition[] = [];
  const plugins = admissionPlugins(deps);
  const add = (kind: ResourceDefinition): void => {
    const definition = withAdmission(kind, plugins);
    all.push(definition);
    byVersion.set(keyOf(definition.group, definition.version, definition.resource), definition);
    for (const served of definition.conversions ?? []) byVersion.set(keyOf(served.group, served.version, definition.resource), definition);
  };
  for (const definition of builtinKinds(deps)) add(definition);
  for (const info of builtinResources()) {
    const stored = info.verbs.includes('update');
    if (stored && !byVersion.has(keyOf(info.group, info.version, info.plural))) add(plainDefinition(info));
  }
  return {
    definition: (group, version, resource) => byVersion.get(keyOf(group, version, resource)),
    definitions: () => all,
  };
}

const keyOf = (group: string, version: string, resource: string): string => `${group}/${version}/${resource}`;
