/**
 * Which versions and resources are served: what is on by default, changed by `--runtime-config`. Mirrors apiserver `server/options/api_enablement.go`,
 * `server/resourceconfig` and kubernetes `pkg/controlplane/instance.go`, with their texts for a setting that makes no sense.
 *
 * Invariant: what is turned off is only not served. It stays known, so that objects of the kind are still stored, made at start and owned by field.
 */
import { apiGroups, builtinResources, type GroupInfo, offByDefault, type ResourceInfo } from '../../machinery/api/schema/resources.ts';
import { isTwin, twinType } from '../../machinery/api/schema/twins.ts';
import { isFormerVersion } from '../handlers/former-kinds.ts';

export interface ServedApi {
  /** In the order of /apis, each with its served versions in order of preference; none without a version. */
  readonly groups: readonly GroupInfo[];
  readonly resources: readonly ResourceInfo[];
  /** Every resource that could be served. */
  readonly known: readonly ResourceInfo[];
  /** `group/version/resource` that was asked for by a whole version, and that nothing is known of here. */
  readonly missing: readonly string[];
}

type Toggles = Map<string, boolean>;

/** In the order in which upstream applies them. */
const MATCHERS: ReadonlyMap<string, RegExp> = new Map([
  ['api/all', /^/],
  ['api/ga', /^v\d+$/],
  ['api/beta', /^v\d+beta\d+$/],
  ['api/alpha', /^v\d+alpha\d+$/],
]);

/** `settings` are the items of the flag: `group/version=true`, `api/beta=false`, `group/version/resource`. Throws Error. */
export function servedApi(settings: readonly string[]): ServedApi {
  const config = parseSettings(settings);
  requireKnownGroups(config);
  const known = [...builtinResources(), ...twins()];
  const { versions, resources } = toggles(config);
  const isServed = ({ group, version, plural }: ResourceInfo): boolean =>
    resources.get(`${group}/${version}/${plural}`) ?? versions.get(`${group}/${version}`) === true;
  const served = known.filter(isServed);
  requireServable(config, resources, known);
  const keys = new Set(known.map(keyOf));
  const missing = unavailable().filter((key) => !keys.has(key) && versions.get(key.slice(0, key.lastIndexOf('/'))) === true);
  return { groups: groupsOf(served), resources: served, known, missing };
}

const keyOf = ({ group, version, plural }: ResourceInfo): string => `${group}/${version}/${plural}`;

/** Last wins; without a value it is on. */
function parseSettings(settings: readonly string[]): ReadonlyMap<string, string> {
  const config = new Map<string, string>();
  for (const setting of settings) {
    const equals = setting.indexOf('=');
    if (equals < 0) config.set(setting.trim(), '');
    else config.set(setting.slice(0, equals).trim(), setting.slice(equals + 1).trim());
  }
  if (config.size === 1 && config.get('api/all') === 'false') throw new Error('invalid key with only api/all=false');
  return config;
}

function requireKnownGroups(config: ReadonlyMap<string, string>): void {
  const groups = new Set([...apiGroups(), ...offByDefault()].map((info) => info.group));
  const unknown: string[] = [];
  for (const key of config.keys()) {
    if (MATCHERS.has(key)) continue;
    const tokens = key.split('/');
    if (tokens.length !== 2 && tokens.length !== 3) throw new Error(`runtime-config invalid key ${key}`);
    if (!groups.has(tokens[0]!) && !isFormerVersion(`${tokens[0]}/${tokens[1]}`)) unknown.push(tokens[0]!);
  }
  if (unknown.length > 0) throw new Error(`unknown api groups ${unknown.join(',')}`);
}

/** What is on and off: first by the kind of version, then by version, last by resource. */
function toggles(config: ReadonlyMap<string, string>): { versions: Toggles; resources: Toggles } {
  const versions: Toggles = new Map();
  for (const { group, versions: on } of apiGroups()) for (const version of on) versions.set(`${group}/${version}`, true);
  for (const { group, version } of offByDefault()) versions.set(`${group}/${version}`, false);
  for (const [key, pattern] of MATCHERS) {
    const value = config.get(key);
    if (value === undefined) continue;
    if (value !== 'true' && value !== 'false') throw new Error(`invalid value ${key}=${value}`);
    for (const name of versions.keys()) if (pattern.test(name.slice(name.indexOf('/') + 1))) versions.set(name, value === 'true');
  }
  const resources: Toggles = new Map();
  for (const [key, text] of config) {
    if (MATCHERS.has(key)) continue;
    const [group, version, resource] = key.split('/');
    const name = `${group}/${version}`;
    if (!versions.has(name) && !isFormerVersion(name)) throw new Error(`group version ${name} that has not been registered`);
    const on = isOn(key, text);
    if (resource === undefined) versions.set(name, on);
    else if (resource !== resource.toLowerCase())
      throw new Error(
        `invalid key ${key}: group/version/resource and resource is always lowercase plural, not ${JSON.stringify(resource)}`,
      );
    else resources.set(key, on);
  }
  return { versions, resources };
}

function isOn(key: string, text: string): boolean {
  if (['', '1', 't', 'T', 'true', 'TRUE', 'True'].includes(text)) return true;
  if (['0', 'f', 'F', 'false', 'FALSE', 'False'].includes(text)) return false;
  throw new Error(`invalid value of ${key}: ${text}, err: strconv.ParseBool: parsing ${JSON.stringify(text)}: invalid syntax`);
}

/** A version that was named, of which nothing can be served though upstream has it, is refused instead of being silently absent. */
function requireServable(config: ReadonlyMap<string, string>, resources: Toggles, known: readonly ResourceInfo[]): void {
  const keys = new Set(known.map(keyOf));
  const lost = unavailable().filter((key) => !keys.has(key));
  const refuse = (key: string, names: readonly string[]): never => {
    throw new Error(`--runtime-config: ${key} cannot be served here: nothing is known of ${names.join(', ')} but the name`);
  };
  for (const key of lost) if (resources.get(key) === true) refuse(key, [key.slice(key.lastIndexOf('/') + 1)]);
  for (const [key, text] of config) {
    if (MATCHERS.has(key) || key.split('/').length !== 2 || !isOn(key, text)) continue;
    const names = lost.filter((name) => name.startsWith(`${key}/`)).map((name) => name.slice(key.length + 1));
    if (names.length > 0 && !known.some((info) => `${info.group}/${info.version}` === key)) refuse(key, names);
  }
}

/** Served by upstream when asked for; those that its lifecycle has ended by now are not (`deleted_kinds.go`). */
function unavailable(): string[] {
  return offByDefault()
    .flatMap(({ group, version, resources }) => resources.map((resource) => `${group}/${version}/${resource}`))
    .filter((key) => !ENDED.has(key));
}

const ENDED = new Set([
  'admissionregistration.k8s.io/v1beta1/validatingadmissionpolicies',
  'admissionregistration.k8s.io/v1beta1/validatingadmissionpolicybindings',
  'authentication.k8s.io/v1beta1/selfsubjectreviews',
]);

/** The resources of v1 in the versions that have the same fields. */
function twins(): ResourceInfo[] {
  return offByDefault().flatMap(({ group, version }) =>
    builtinResources()
      .filter((info) => info.group === group && info.version === 'v1' && isTwin(group, version, info.kind))
      .map((info) => twinInfo(info, version)),
  );
}

function twinInfo(info: ResourceInfo, version: string): ResourceInfo {
  const rename = (type: string): string => twinType(type, info.group, version);
  const { listType, responses, subresources } = info;
  return {
    ...info,
    version,
    type: rename(info.type),
    ...(listType && { listType: rename(listType) }),
    ...(responses && { responses: Object.fromEntries(Object.entries(responses).map(([verb, type]) => [verb, rename(type)])) }),
    ...(subresources && {
      subresources: subresources.map((sub) => ({
        ...sub,
        type: rename(sub.type),
        ...(sub.request && { request: rename(sub.request) }),
        ...(sub.response && { response: rename(sub.response) }),
      })),
    }),
  };
}

function groupsOf(served: readonly ResourceInfo[]): GroupInfo[] {
  return apiGroups().flatMap(({ group, versions: byDefault }) => {
    const later = offByDefault().flatMap((off) => (off.group === group ? [off.version] : []));
    const versions = [...byDefault, ...later.sort(byMaturity)].filter((version) =>
      served.some((info) => info.group === group && info.version === version),
    );
    return versions.length === 0 ? [] : [{ group, versions, preferred: versions[0]! }];
  });
}

/** Beta before alpha, newer before older. */
const byMaturity = (a: string, b: string): number => (a < b ? 1 : -1);

/** Since when clients are told to leave a version, and when it ends. */
const DEPRECATED: Readonly<Record<string, { readonly since: string; readonly gone: string; readonly replaced?: true }>> = {
  'admissionregistration.k8s.io/v1alpha1': { since: '1.35', gone: '1.38' },
  'networking.k8s.io/v1beta1': { since: '1.34', gone: '1.37' },
  'resource.k8s.io/v1beta2': { since: '1.36', gone: '1.39' },
  'storage.k8s.io/v1beta1': { since: '1.34', gone: '1.37', replaced: true },
};

/** The warning of every request for a deprecated version of a resource. */
export function versionWarning({ group, version, kind }: ResourceInfo): string | undefined {
  const known = DEPRECATED[`${group}/${version}`];
  if (known === undefined) return undefined;
  const use = known.replaced ? `; use ${group}/v1 ${kind}` : '';
  return `${group}/${version} ${kind} is deprecated in v${known.since}+, unavailable in v${known.gone}+${use}`;
}
