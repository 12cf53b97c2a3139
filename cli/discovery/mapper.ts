/**
 * From what a person types (`deploy`, `deployments.apps`, `deployment.v1.apps`, `Deployment`) to a served resource. Mirrors client-go `restmapper`
 * (PriorityRESTMapper, shortcut and category expanders): an exact group and version wins, then the server's own order.
 */
import { formatGroupResource, parseApiVersion } from '../../machinery/api/object.ts';
import { CliError } from '../errors.ts';
import type { Discovered } from './discovery.ts';

export interface Resource {
  readonly group: string;
  readonly version: string;
  /** Plural, lower case. */
  readonly resource: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
  readonly subresources: readonly string[];
}

/** `pod`, `deployment.apps`: how kubectl names an object's resource before the slash. */
export function shownResource(resource: Pick<Resource, 'group' | 'kind'>): string {
  const singular = resource.kind.toLowerCase();
  return resource.group === '' ? singular : `${singular}.${resource.group}`;
}

export class Mapper {
  readonly discovered: Discovered;
  readonly #warn: (text: string) => void;
  constructor(discovered: Discovered, warn: (text: string) => void = () => undefined) {
    this.discovered = discovered;
    this.#warn = warn;
  }

  /** Throws in kubectl's wording when nothing of that name is served. */
  resource(text: string): Resource {
    const found = this.find(text);
    if (found) return found;
    throw new CliError(`the server doesn't have a resource type "${text}"`);
  }

  find(text: string): Resource | undefined {
    const wanted = text.toLowerCase();
    const whole = this.#named(wanted, () => true);
    if (whole) return whole;
    const [name, ...rest] = wanted.split('.');
    if (rest.length === 0) return undefined;
    const versioned = this.#named(name, (r) => r.version === rest[0] && r.group === rest.slice(1).join('.'));
    return (
      versioned ??
      this.#named(name, (r) => r.group === rest.join('.')) ??
      this.#named(name, (r) => r.group.startsWith(`${rest.join('.')}.`))
    );
  }

  #named(name: string, fits: (resource: Resource) => boolean): Resource | undefined {
    const candidates = this.discovered.resources.filter(fits);
    return (
      candidates.find((r) => r.resource === name) ??
      candidates.find((r) => r.singular === name || (r.singular === '' && r.kind.toLowerCase() === name)) ??
      this.#byShortName(name, candidates) ??
      candidates.find((r) => r.kind.toLowerCase() === name)
    );
  }

  /** Says so when the short name means resources of several groups. */
  #byShortName(name: string, candidates: readonly Resource[]): Resource | undefined {
    const [first, ...others] = candidates.filter((r) => r.shortNames.includes(name));
    const other = others.find((r) => r.group !== first.group);
    if (other) this.#warn(`short name "${name}" could also match lower priority resource ${formatGroupResource(other)}`);
    return first;
  }

  /** The resources of a category such as `all`, one version of each. */
  category(name: string): Resource[] {
    const seen = new Set<string>();
    return this.discovered.resources.filter((r) => {
      const key = `${r.resource}.${r.group}`;
      if (!r.categories.includes(name) || seen.has(key)) return false;
      seen.add(key);
      return true;
    });
  }

  /** For a manifest. `source` names the manifest in the message. */
  kind(apiVersion: string, kind: string, source: { name: string; namespace: string; path: string }): Resource {
    const { group, version } = parseApiVersion(apiVersion);
    const found = this.discovered.resources.find((r) => r.group === group && r.version === version && r.kind === kind);
    if (found) return found;
    throw new CliError(
      `resource mapping not found for name: "${source.name}" namespace: "${source.namespace}" from "${source.path}": no matches for kind "${kind}" in version "${apiVersion}"\nensure CRDs are installed first`,
    );
  }

  /** The resource of an object that came from the server. */
  of(object: { apiVersion: string; kind: string }): Resource | undefined {
    const { group, version } = parseApiVersion(object.apiVersion);
    return this.discovered.resources.find((r) => r.group === group && r.version === version && r.kind === object.kind);
  }
}
