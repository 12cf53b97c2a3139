/**
 * The audit policy: which requests are recorded, and how much of each. Mirrors audit.k8s.io/v1 Policy, apiserver `pkg/audit/policy`: the first rule that
 * matches decides; what no rule matches is not recorded.
 *
 * Invariant: a file that says anything we do not understand is refused at start, with every problem named.
 */
import { readFileSync } from 'node:fs';
import { isPlain, type Plain } from '../../machinery/api/plain.ts';
import { readYaml } from '../../machinery/api/yaml.ts';
import type { Attributes } from '../http/authorize.ts';

export const LEVELS = ['None', 'Metadata', 'Request', 'RequestResponse'] as const;
export type Level = (typeof LEVELS)[number];
export const STAGES = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'] as const;
export type Stage = (typeof STAGES)[number];

interface GroupResources {
  readonly group: string;
  /** `pods`, `pods/log`, `pods/*`, `*` and a slash before a subresource, `*`; none means all of the group. */
  readonly resources: readonly string[];
  readonly resourceNames: readonly string[];
}

export interface PolicyRule {
  readonly level: Level;
  readonly users: readonly string[];
  readonly userGroups: readonly string[];
  readonly verbs: readonly string[];
  readonly resources: readonly GroupResources[];
  /** '' stands for what has no namespace. */
  readonly namespaces: readonly string[];
  readonly nonResourceURLs: readonly string[];
  readonly omitStages: readonly Stage[];
  readonly omitManagedFields: boolean | undefined;
}

export interface AuditPolicy {
  readonly rules: readonly PolicyRule[];
  readonly omitStages: readonly Stage[];
  readonly omitManagedFields: boolean;
}

/** Who, what and when of every request, once it is answered: what is recorded where a log is asked for without a policy. */
export const METADATA_OF_ALL: AuditPolicy = {
  omitStages: ['RequestReceived'],
  omitManagedFields: false,
  rules: [
    {
      level: 'Metadata',
      users: [],
      userGroups: [],
      verbs: [],
      resources: [],
      namespaces: [],
      nonResourceURLs: [],
      omitStages: [],
      omitManagedFields: undefined,
    },
  ],
};

export interface Verdict {
  readonly level: Level;
  readonly omitStages: readonly Stage[];
  readonly omitManagedFields: boolean;
}

const NOT_RECORDED: Verdict = { level: 'None', omitStages: STAGES, omitManagedFields: false };

/** `attributes.user` is undefined when nobody could be made out. */
export function judge(
  policy: AuditPolicy,
  attributes: Omit<Attributes, 'user'> & { readonly user: Attributes['user'] | undefined },
): Verdict {
  const rule = policy.rules.find((r) => matches(r, attributes));
  if (rule === undefined) return NOT_RECORDED;
  return {
    level: rule.level,
    omitStages: [...policy.omitStages, ...rule.omitStages],
    omitManagedFields: rule.omitManagedFields ?? policy.omitManagedFields,
  };
}

type Asked = Parameters<typeof judge>[1];

function matches(rule: PolicyRule, asked: Asked): boolean {
  const { user } = asked;
  if (rule.users.length > 0 && (user === undefined || !rule.users.includes(user.name))) return false;
  if (rule.userGroups.length > 0 && !user?.groups.some((group) => rule.userGroups.includes(group))) return false;
  if (rule.verbs.length > 0 && !rule.verbs.includes(asked.verb)) return false;
  if (rule.namespaces.length > 0 || rule.resources.length > 0) return matchesResource(rule, asked);
  if (rule.nonResourceURLs.length > 0)
    return !asked.isResourceRequest && rule.nonResourceURLs.some((spec) => matchesPath(spec, asked.path));
  return true;
}

function matchesResource(rule: PolicyRule, asked: Asked): boolean {
  if (!asked.isResourceRequest) return false;
  if (rule.namespaces.length > 0 && !rule.namespaces.includes(asked.namespace)) return false;
  return rule.resources.length === 0 || rule.resources.some((entry) => matchesGroupResources(entry, asked));
}

function matchesGroupResources(entry: GroupResources, { group, resource, subresource, name }: Asked): boolean {
  if (entry.group !== group) return false;
  if (entry.resources.length === 0) return true;
  if (entry.resourceNames.length > 0 && !entry.resourceNames.includes(name)) return false;
  const combined = subresource === '' ? resource : `${resource}/${subresource}`;
  const wanted = ['*', combined, `${resource}/*`, ...(subresource === '' ? [] : [`*/${subresource}`])];
  return entry.resources.some((spec) => wanted.includes(spec));
}

function matchesPath(spec: string, path: string): boolean {
  return spec === path || (spec.endsWith('*') && path.startsWith(spec.slice(0, -1)));
}

/** Throws one Error that names the file and all that is wrong with it. */
export function readPolicyFile(path: string): AuditPolicy {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new Error(`--audit-policy-file ${path} cannot be read: ${(error as Error).message}`, { cause: error });
  }
  try {
    return parsePolicy(text);
  } catch (error) {
    throw new Error(`--audit-policy-file ${path}: ${(error as Error).message}`, { cause: error });
  }
}

/** Throws one Error with all problems. */
export function parsePolicy(text: string): AuditPolicy {
  const { value, problems: repeated } = readYaml(text);
  if (!isPlain(value)) throw new Error('it holds no object');
  const problems: string[] = [...repeated];
  const read = new Reader(problems);
  read.only(value, '', ['apiVersion', 'kind', 'metadata', 'rules', 'omitStages', 'omitManagedFields']);
  if (value['apiVersion'] !== 'audit.k8s.io/v1' || value['kind'] !== 'Policy')
    problems.push(`it is ${String(value['kind'])} of ${String(value['apiVersion'])}; expected kind Policy of apiVersion audit.k8s.io/v1`);
  const rules = Array.isArray(value['rules']) ? value['rules'] : [];
  if (rules.length === 0) problems.push('rules: at least one rule is needed');
  const policy = {
    rules: rules.map((rule, i) => read.rule(rule, `rules[${i}]`)),
    omitStages: read.stages(value, ''),
    omitManagedFields: read.flag(value, '', 'omitManagedFields') ?? false,
  };
  if (problems.length > 0) throw new Error(problems.join('; '));
  return policy;
}

class Reader {
  readonly #problems: string[];
  constructor(problems: string[]) {
    this.#problems = problems;
  }

  rule(value: unknown, at: string): PolicyRule {
    const rule = this.object(value, at);
    this.only(rule, at, [
      'level',
      'users',
      'userGroups',
      'verbs',
      'resources',
      'namespaces',
      'nonResourceURLs',
      'omitStages',
      'omitManagedFields',
    ]);
    const level = rule['level'] as Level;
    if (!LEVELS.includes(level))
      this.#problems.push(`${at}.level: ${JSON.stringify(level ?? '')} is no level; known: ${LEVELS.join(', ')}`);
    const list = (name: string): string[] => this.texts(rule, at, name);
    const entries = rule['resources'] ?? [];
    if (!Array.isArray(entries)) this.#problems.push(`${at}.resources: not a list`);
    const resources = Array.isArray(entries) ? entries.map((entry, i) => this.groupResources(entry, `${at}.resources[${i}]`)) : [];
    const nonResourceURLs = list('nonResourceURLs');
    const namespaces = list('namespaces');
    if (nonResourceURLs.length > 0 && resources.length + namespaces.length > 0)
      this.#problems.push(`${at}: a rule is about resources and namespaces or about nonResourceURLs, not both`);
    for (const url of nonResourceURLs) {
      if (url !== '*' && !url.startsWith('/')) this.#problems.push(`${at}.nonResourceURLs: ${JSON.stringify(url)} does not begin with /`);
      if (url.slice(0, -1).includes('*'))
        this.#problems.push(`${at}.nonResourceURLs: ${JSON.stringify(url)} has a * that is not at its end`);
    }
    const omitManagedFields = this.flag(rule, at, 'omitManagedFields');
    const [users, userGroups, verbs] = [list('users'), list('userGroups'), list('verbs')];
    return {
      level,
      users,
      userGroups,
      verbs,
      resources,
      namespaces,
      nonResourceURLs,
      omitStages: this.stages(rule, at),
      omitManagedFields,
    };
  }

  groupResources(value: unknown, at: string): GroupResources {
    const entry = this.object(value, at);
    this.only(entry, at, ['group', 'resources', 'resourceNames']);
    const group = entry['group'] ?? '';
    if (typeof group !== 'string' || group.includes('/'))
      this.#problems.push(`${at}.group: ${JSON.stringify(group)} is no group; a group is named without its version`);
    const [resources, resourceNames] = [this.texts(entry, at, 'resources'), this.texts(entry, at, 'resourceNames')];
    if (resourceNames.length > 0 && resources.length === 0) this.#problems.push(`${at}.resourceNames: needs resources to be named`);
    return { group: String(group), resources, resourceNames };
  }

  stages(of: Plain, at: string): Stage[] {
    const stages = this.texts(of, at, 'omitStages');
    for (const stage of stages)
      if (!STAGES.includes(stage as Stage))
        this.#problems.push(`${join(at, 'omitStages')}: ${JSON.stringify(stage)} is no stage; known: ${STAGES.join(', ')}`);
    return stages as Stage[];
  }

  flag(of: Plain, at: string, name: string): boolean | undefined {
    const value = of[name] ?? undefined;
    if (value === undefined || typeof value === 'boolean') return value;
    this.#problems.push(`${join(at, name)}: neither true nor false`);
    return undefined;
  }

  texts(of: Plain, at: string, name: string): string[] {
    const value = of[name] ?? [];
    if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
    this.#problems.push(`${join(at, name)}: not a list of strings`);
    return [];
  }

  object(value: unknown, at: string): Plain {
    if (isPlain(value)) return value;
    this.#problems.push(`${at}: not an object`);
    return {};
  }

  only(value: Plain, at: string, known: readonly string[]): void {
    for (const name of Object.keys(value)) if (!known.includes(name)) this.#problems.push(`${join(at, name)}: unknown field`);
  }
}

const join = (at: string, name: string): string => (at === '' ? name : `${at}.${name}`);
