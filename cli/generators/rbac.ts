/** `create role`, `clusterrole`, `rolebinding`, `clusterrolebinding`. Mirrors kubectl `cmd/create/create_role.go` and its neighbours. */
import { CliError, PlainError } from '../errors.ts';
import type { Flags, FlagTable } from '../flags.ts';
import type { Session } from '../session.ts';
import type { Verb } from '../verb.ts';
import { type Generated, type GeneratedResource, type GeneratorCall, generatorVerb, parsePairs } from './generator.ts';

const GROUP = 'rbac.authorization.k8s.io';
const kind = (resource: string, name: string, namespaced: boolean): GeneratedResource => ({
  group: GROUP,
  version: 'v1',
  resource,
  kind: name,
  namespaced,
});

const RULE_FLAGS: FlagTable = {
  verb: { type: 'list', help: 'Verb that applies to the resources contained in the rule' },
  resource: { type: 'list', help: 'Resource that the rule applies to' },
  'resource-name': { type: 'array', help: 'Resource in the white list that the rule applies to' },
};

export const role: Verb = generatorVerb({
  usage: 'NAME --verb=verb --resource=resource.group/subresource [--resource-name=resourcename]',
  flags: RULE_FLAGS,
  resource: kind('roles', 'Role', true),
  build: async ({ flags, session }) => ({ body: { rules: await rulesOf(flags, session) } }),
});

export const clusterrole: Verb = generatorVerb({
  usage: 'NAME --verb=verb --resource=resource.group [--resource-name=resourcename]',
  flags: {
    ...RULE_FLAGS,
    'non-resource-url': { type: 'list', help: 'A partial url that user should have access to' },
    'aggregation-rule': { type: 'string', help: 'An aggregation label selector for combining ClusterRoles' },
  },
  resource: kind('clusterroles', 'ClusterRole', false),
  build: buildClusterRole,
});

async function buildClusterRole({ flags, session }: GeneratorCall): Promise<Generated> {
  if (flags.string('aggregation-rule') !== '') {
    const matchLabels = parsePairs(flags.string('aggregation-rule').split(','), 'aggregation rule');
    return { body: { rules: [], aggregationRule: { clusterRoleSelectors: [{ matchLabels }] } } };
  }
  const urls = flags.list('non-resource-url');
  if (urls.length === 0) return { body: { rules: await rulesOf(flags, session) } };
  const rules = flags.list('resource').length > 0 ? await rulesOf(flags, session) : [];
  return { body: { rules: [...rules, { verbs: verbsOf(flags), nonResourceURLs: urls }] } };
}

function verbsOf(flags: Flags): string[] {
  const verbs = [...new Set(flags.list('verb').map((verb) => verb.trim()))];
  if (verbs.length === 0) throw new CliError('at least one verb must be specified');
  return verbs.includes('*') ? ['*'] : verbs;
}

/** One rule per API group, in the order the groups are first named. */
async function rulesOf(flags: Flags, session: Session): Promise<Record<string, unknown>[]> {
  const verbs = verbsOf(flags);
  const wanted = flags.list('resource');
  if (wanted.length === 0) throw new CliError('at least one resource must be specified');
  const names = flags.list('resource-name');
  if (names.length > 0 && wanted.length > 1) throw new CliError('resourceName(s) can not be applied to multiple resources');
  const mapper = await session.mapper();
  const byGroup = new Map<string, string[]>();
  for (const text of wanted) {
    const [type, subresource] = text.split('/');
    if (type === '*') {
      byGroup.set('*', ['*']);
      continue;
    }
    const found = mapper.find(type);
    if (!found) throw new PlainError(`the server doesn't have a resource type "${type.split('.')[0]}"`);
    const shown = subresource === undefined ? found.resource : `${found.resource}/${subresource}`;
    byGroup.set(found.group, [...new Set([...(byGroup.get(found.group) ?? []), shown])]);
  }
  return [...byGroup].map(([group, resources]) => ({
    verbs,
    apiGroups: [group],
    resources,
    ...(names.length > 0 && { resourceNames: names }),
  }));
}

const BINDING_FLAGS: FlagTable = {
  clusterrole: { type: 'string', help: 'ClusterRole the binding should reference' },
  user: { type: 'array', help: 'Usernames to bind to the role' },
  group: { type: 'array', help: 'Groups to bind to the role' },
  serviceaccount: { type: 'array', help: 'Service accounts to bind to the role, in the format <namespace>:<name>' },
};

export const rolebinding: Verb = generatorVerb({
  usage: 'NAME --clusterrole=NAME|--role=NAME [--user=username] [--group=groupname] [--serviceaccount=namespace:serviceaccountname]',
  flags: { ...BINDING_FLAGS, role: { type: 'string', help: 'Role this RoleBinding should reference' } },
  resource: kind('rolebindings', 'RoleBinding', true),
  noun: 'rolebinding',
  build: ({ flags }) => {
    if ((flags.string('role') === '') === (flags.string('clusterrole') === ''))
      throw new CliError('exactly one of clusterrole or role must be specified');
    const roleRef =
      flags.string('role') !== '' ? roleRefOf('Role', flags.string('role')) : roleRefOf('ClusterRole', flags.string('clusterrole'));
    return { body: { ...subjectsOf(flags), roleRef } };
  },
});

export const clusterrolebinding: Verb = generatorVerb({
  usage: 'NAME --clusterrole=NAME [--user=username] [--group=groupname] [--serviceaccount=namespace:serviceaccountname]',
  flags: BINDING_FLAGS,
  required: ['clusterrole'],
  resource: kind('clusterrolebindings', 'ClusterRoleBinding', false),
  noun: 'clusterrolebinding',
  build: ({ flags }) => ({ body: { ...subjectsOf(flags), roleRef: roleRefOf('ClusterRole', flags.string('clusterrole')) } }),
});

const roleRefOf = (roleKind: string, name: string): Record<string, string> => ({ apiGroup: GROUP, kind: roleKind, name });

function subjectsOf(flags: Flags): { subjects?: Record<string, string>[] } {
  const accounts = flags.list('serviceaccount').map((text) => {
    const [namespace, name, ...more] = text.split(':');
    if (!namespace || !name || more.length > 0) throw new CliError('serviceaccount must be <namespace>:<name>');
    return { kind: 'ServiceAccount', name, namespace };
  });
  const subjects: Record<string, string>[] = [
    ...flags.list('user').map((name) => ({ kind: 'User', apiGroup: GROUP, name })),
    ...flags.list('group').map((name) => ({ kind: 'Group', apiGroup: GROUP, name })),
    ...accounts,
  ];
  return subjects.length === 0 ? {} : { subjects };
}
