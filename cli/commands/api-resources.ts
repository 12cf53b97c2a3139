/** `api-resources`: what the server serves. Mirrors kubectl `cmd/apiresources`. */
import type { Resource } from '../discovery/mapper.ts';
import { CliError, usageError } from '../errors.ts';
import { RememberingTable } from '../printers/tabwriter.ts';
import type { Session } from '../session.ts';
import type { Verb } from '../verb.ts';

export const verb: Verb = {
  usage: '[flags]',
  flags: {
    'api-group': { type: 'string', help: 'Limit to resources in the specified API group' },
    cached: { type: 'boolean', help: 'Use the cached list of resources if available', hidden: true },
    categories: { type: 'list', help: 'Limit to resources that belong to the specified categories' },
    namespaced: {
      type: 'boolean',
      default: true,
      help: 'If false, non-namespaced resources will be returned, otherwise returning namespaced resources by default',
    },
    'no-headers': { type: 'boolean', help: "When using the default or custom-column output format, don't print headers" },
    output: { type: 'string', short: 'o', help: 'Output format. One of: (wide, name)' },
    'sort-by': {
      type: 'string',
      help: "If non-empty, sort list of resources using specified field. The field can be either 'name' or 'kind'",
    },
    verbs: { type: 'list', help: 'Limit to resources that support the specified verbs' },
  },
  run: apiResources,
};

async function apiResources(session: Session, args: readonly string[]): Promise<void> {
  const { flags } = session;
  if (args.length > 0) throw usageError(session.verb, `unexpected arguments: [${args.join(' ')}]`);
  const output = flags.string('output');
  if (!['', 'wide', 'name'].includes(output)) throw new CliError(`--output ${output} is not available`);
  if (!['', 'name', 'kind'].includes(flags.string('sort-by'))) throw new CliError('--sort-by accepts only name or kind');
  const rows = preferred((await session.mapper()).discovered.resources)
    .filter((resource) => wanted(session, resource))
    .sort(order(flags.string('sort-by')));
  if (output === 'name') {
    session.out(rows.map((r) => `${r.resource}${r.group === '' ? '' : `.${r.group}`}\n`).join(''));
    return;
  }
  const header = ['NAME', 'SHORTNAMES', 'APIVERSION', 'NAMESPACED', 'KIND', ...(output === 'wide' ? ['VERBS', 'CATEGORIES'] : [])];
  const cells = rows.map((r) => [
    r.resource,
    r.shortNames.join(','),
    r.group === '' ? r.version : `${r.group}/${r.version}`,
    String(r.namespaced),
    r.kind,
    ...(output === 'wide' ? [r.verbs.join(','), r.categories.join(',')] : []),
  ]);
  session.out(new RememberingTable().format([...(flags.bool('no-headers') ? [] : [header]), ...cells]));
}

/** One version of each resource: the first the server names for its group. */
function preferred(resources: readonly Resource[]): Resource[] {
  const seen = new Set<string>();
  return resources.filter((r) => {
    const key = `${r.group}/${r.resource}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

function wanted({ flags }: Session, resource: Resource): boolean {
  if (resource.verbs.length === 0) return false;
  if (flags.changed('api-group') && flags.string('api-group') !== resource.group) return false;
  if (flags.changed('namespaced') && flags.bool('namespaced') !== resource.namespaced) return false;
  if (!flags.list('verbs').every((v) => resource.verbs.includes(v))) return false;
  return flags.list('categories').every((category) => resource.categories.includes(category));
}

const text = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function order(by: string): (a: Resource, b: Resource) => number {
  if (by === 'kind') return (a, b) => text(a.kind, b.kind);
  if (by === 'name') return (a, b) => text(a.resource, b.resource);
  return (a, b) => text(a.group, b.group) || text(a.resource, b.resource);
}
