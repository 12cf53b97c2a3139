/**
 * Which resources the server has, for the loops that serve every kind. Mirrors client-go `discovery` (aggregated form) and its REST mapper.
 *
 * Invariant: a part of the discovery that cannot be read is told, never taken for "there is nothing": deleting a namespace must not skip what it cannot see.
 */
import type { GroupVersion } from '../machinery/api/object.ts';
import type { Client } from '../machinery/client/client.ts';
import type { ResourceType } from '../machinery/client/resource-type.ts';

export interface DiscoveredResource extends ResourceType {
  readonly verbs: readonly string[];
}

export interface Discovered {
  /** Every version of every resource, preferred version first. */
  readonly resources: readonly DiscoveredResource[];
  /** Why some could not be read. */
  readonly failure?: Error;
}

interface GroupList {
  readonly items?: readonly {
    readonly metadata?: { readonly name?: string };
    readonly versions?: readonly {
      readonly version: string;
      readonly freshness?: string;
      readonly resources?: readonly {
        readonly resource: string;
        readonly responseKind?: { readonly kind?: string };
        readonly scope?: string;
        readonly verbs?: readonly string[];
      }[];
    }[];
  }[];
}

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

export async function discoverResources(client: Client): Promise<Discovered> {
  const resources: DiscoveredResource[] = [];
  const stale: string[] = [];
  for (const path of ['/api', '/apis']) {
    const answer = await client.raw({ method: 'GET', path, headers: { accept: AGGREGATED } });
    if (answer.code !== 200) throw new Error(`discovery of ${path} answered ${answer.code}`);
    for (const { metadata, versions } of (JSON.parse(answer.body.toString('utf8')) as GroupList).items ?? []) {
      const group = metadata?.name ?? '';
      for (const { version, freshness, resources: found } of versions ?? []) {
        if (freshness === 'Stale') stale.push(`${group}/${version}`);
        for (const { resource, responseKind, scope, verbs } of found ?? []) {
          resources.push({
            group,
            version,
            resource,
            kind: responseKind?.kind ?? '',
            namespaced: scope === 'Namespaced',
            verbs: verbs ?? [],
          });
        }
      }
    }
  }
  return stale.length > 0 ? { resources, failure: new Error(`stale GroupVersion discovery: ${stale.join(', ')}`) } : { resources };
}

/** One version of each resource that has all `verbs`. */
export function preferred(resources: readonly DiscoveredResource[], verbs: readonly string[]): DiscoveredResource[] {
  const seen = new Set<string>();
  return resources.filter(({ group, resource, verbs: has }) => {
    const id = `${group}/${resource}`;
    if (seen.has(id) || !verbs.every((verb) => has.includes(verb))) return false;
    seen.add(id);
    return true;
  });
}

/** The resource of a kind, in exactly this version. */
export function resourceOfKind(resources: readonly DiscoveredResource[], gv: GroupVersion, kind: string): DiscoveredResource | undefined {
  return resources.find((r) => r.kind === kind && r.group === gv.group && r.version === gv.version && !r.resource.includes('/'));
}
