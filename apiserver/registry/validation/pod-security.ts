/**
 * Security contexts and DNS of a pod. Mirrors kubernetes `core/validation` validatePodSpecSecurityContext, ValidateSecurityContext and validatePodDNSConfig.
 */
import { duplicate, type FieldError, invalidValue, notSupported, required, tooLong } from '../../../machinery/api/field-error.ts';
import { regexDetail } from '../../../machinery/api/names.ts';
import type * as core from '../../../machinery/api/types/core.v1.ts';
import { ipErrors } from './ip.ts';
import { localDescendingPathErrors } from './paths.ts';
import { windowsOptionErrors } from './windows.ts';

const MAX_ID = 2147483647;
const PROFILE_TYPES = ['Localhost', 'RuntimeDefault', 'Unconfined'];

function idErrors(id: number | undefined, path: string, errors: FieldError[]): void {
  if (id !== undefined && (id < 0 || id > MAX_ID)) errors.push(invalidValue(path, id, `must be between 0 and ${MAX_ID}, inclusive`));
}

export function podSecurityContextErrors(spec: core.PodSpec, specPath: string, errors: FieldError[]): void {
  const context = spec.securityContext;
  if (context === undefined) return;
  const path = `${specPath}.securityContext`;
  idErrors(context.fsGroup, `${path}.fsGroup`, errors);
  idErrors(context.runAsUser, `${path}.runAsUser`, errors);
  idErrors(context.runAsGroup, `${path}.runAsGroup`, errors);
  context.supplementalGroups?.forEach((id, i) => {
    idErrors(id, `${path}.supplementalGroups[${i}]`, errors);
  });
  if (spec.shareProcessNamespace === true && spec.hostPID === true) {
    errors.push(invalidValue(`${path}.shareProcessNamespace`, true, 'ShareProcessNamespace and HostPID cannot both be enabled'));
  }
  if (context.sysctls) sysctlErrors(spec, `${path}.sysctls`, errors);
  choice(context.fsGroupChangePolicy, ['Always', 'OnRootMismatch'], `${path}.fsGroupChangePolicy`, errors);
  seccompErrors(context.seccompProfile, `${path}.seccompProfile`, errors);
  windowsOptionErrors(context.windowsOptions, `${path}.windowsOptions`, errors);
  appArmorProfileErrors(context.appArmorProfile, `${path}.appArmorProfile`, errors);
  choice(context.supplementalGroupsPolicy, ['Merge', 'Strict'], `${path}.supplementalGroupsPolicy`, errors);
  choice(context.seLinuxChangePolicy, ['Recursive'], `${path}.seLinuxChangePolicy`, errors);
}

function choice(value: string | undefined, supported: readonly string[], path: string, errors: FieldError[]): void {
  if (value !== undefined && !supported.includes(value)) errors.push(notSupported(path, value, supported));
}

const SYSCTL = '([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const sysctlRegex = new RegExp(`^${SYSCTL}$`);
const SYSCTL_MAX = 253;

function sysctlErrors(spec: core.PodSpec, path: string, errors: FieldError[]): void {
  const seen = new Set<string>();
  spec.securityContext!.sysctls!.forEach((sysctl, i) => {
    const at = `${path}[${i}].name`;
    const name = sysctl.name ?? '';
    if (name === '') errors.push(required(at));
    else if (name.length > SYSCTL_MAX || !sysctlRegex.test(name)) {
      errors.push(invalidValue(at, name, `must have at most ${SYSCTL_MAX} characters and match regex ^${SYSCTL}$`));
    } else if (seen.has(name)) errors.push(duplicate(at, name));
    const dotted = name.replaceAll('/', '.');
    if (spec.hostNetwork === true && dotted.startsWith('net.')) {
      errors.push(invalidValue(at, name, "may not be specified when 'hostNetwork' is true"));
    } else if (spec.hostIPC === true && isIpcSysctl(dotted)) {
      errors.push(invalidValue(at, name, "may not be specified when 'hostIPC' is true"));
    }
    seen.add(name);
  });
}

const isIpcSysctl = (name: string): boolean => name === 'kernel.sem' || /^(kernel\.(shm|msg)|fs\.mqueue\.)/.test(name);

function seccompErrors(profile: core.SeccompProfile | undefined, path: string, errors: FieldError[]): void {
  if (!profile) return;
  const type: string = profile.type ?? '';
  if (type === '') errors.push(required(`${path}.type`, 'type is required when seccompProfile is set'));
  else if (!PROFILE_TYPES.includes(type)) errors.push(notSupported(`${path}.type`, type, PROFILE_TYPES));
  const file = profile.localhostProfile;
  if (type === 'Localhost') {
    if (file === undefined) errors.push(required(`${path}.localhostProfile`, 'must be set when seccomp type is Localhost'));
    else localDescendingPathErrors(file, `${path}.localhostProfile`, errors);
  } else if (file !== undefined) {
    const shown = { Type: type, LocalhostProfile: file };
    errors.push(invalidValue(`${path}.localhostProfile`, shown, 'can only be set when seccomp type is Localhost'));
  }
}

const MAX_PROFILE_PATH = 4095;

export function appArmorProfileErrors(profile: core.AppArmorProfile | undefined, path: string, errors: FieldError[]): void {
  if (!profile) return;
  const type: string = profile.type ?? '';
  const file = profile.localhostProfile;
  const at = `${path}.localhostProfile`;
  if (type === 'Localhost') {
    const missing = 'must be set when AppArmor type is Localhost';
    if (file === undefined) errors.push(required(at, missing));
    else {
      if (file.trim() !== file) errors.push(invalidValue(at, file, 'must not be padded with whitespace'));
      else if (file === '') errors.push(required(at, missing));
      if (Buffer.byteLength(file) > MAX_PROFILE_PATH) errors.push(tooLong(at, MAX_PROFILE_PATH));
    }
  } else if (type === 'RuntimeDefault' || type === 'Unconfined') {
    if (file !== undefined) errors.push(invalidValue(at, file, 'can only be set when AppArmor type is Localhost'));
  } else if (type === '') errors.push(required(`${path}.type`, 'type is required when appArmorProfile is set'));
  else errors.push(notSupported(`${path}.type`, type, PROFILE_TYPES));
}

export function containerSecurityErrors(context: core.SecurityContext, hostUsers: boolean, path: string, errors: FieldError[]): void {
  idErrors(context.runAsUser, `${path}.runAsUser`, errors);
  idErrors(context.runAsGroup, `${path}.runAsGroup`, errors);
  const mount = context.procMount;
  if (mount !== undefined) {
    choice(mount, ['Default', 'Unmasked'], `${path}.procMount`, errors);
    if (hostUsers && mount === 'Unmasked')
      errors.push(invalidValue(`${path}.procMount`, mount, '`hostUsers` must be false to use `Unmasked`'));
  }
  seccompErrors(context.seccompProfile, `${path}.seccompProfile`, errors);
  if (context.allowPrivilegeEscalation === false) {
    if (context.privileged === true) {
      errors.push(invalidValue(path, goContext(context), 'cannot set `allowPrivilegeEscalation` to false and `privileged` to true'));
    }
    for (const capability of context.capabilities?.add ?? []) {
      if (capability !== 'CAP_SYS_ADMIN') continue;
      const detail = 'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN';
      errors.push(invalidValue(path, goContext(context), detail));
    }
  }
  windowsOptionErrors(context.windowsOptions, `${path}.windowsOptions`, errors);
  appArmorProfileErrors(context.appArmorProfile, `${path}.appArmorProfile`, errors);
}

/** As Go prints the struct. */
const goContext = (context: core.SecurityContext): object => ({
  Capabilities: goMembers(context.capabilities, ['add', 'drop']),
  Privileged: context.privileged ?? null,
  SELinuxOptions: goMembers(context.seLinuxOptions, ['user', 'role', 'type', 'level'], ''),
  WindowsOptions: goMembers(context.windowsOptions, ['gmsaCredentialSpecName', 'gmsaCredentialSpec', 'runAsUserName', 'hostProcess']),
  RunAsUser: context.runAsUser ?? null,
  RunAsGroup: context.runAsGroup ?? null,
  RunAsNonRoot: context.runAsNonRoot ?? null,
  ReadOnlyRootFilesystem: context.readOnlyRootFilesystem ?? null,
  AllowPrivilegeEscalation: context.allowPrivilegeEscalation ?? null,
  ProcMount: context.procMount ?? null,
  SeccompProfile: goMembers(context.seccompProfile, ['type', 'localhostProfile']),
  AppArmorProfile: goMembers(context.appArmorProfile, ['type', 'localhostProfile']),
});

const goName = (member: string): string =>
  member.startsWith('gmsa') ? `GMSA${member.slice(4)}` : member[0]!.toUpperCase() + member.slice(1);

function goMembers<T extends object>(value: T | undefined, members: readonly (string & keyof T)[], zero: unknown = null): object | null {
  return value === undefined ? null : Object.fromEntries(members.map((member) => [goName(member), value[member] ?? zero]));
}

const MAX_NAMESERVERS = 3;
const MAX_SEARCHES = 32;
const MAX_SEARCH_CHARACTERS = 2048;
const SEARCH = '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*';
const searchRegex = new RegExp(`^(?:${SEARCH})$`);
const searchDetail = regexDetail(
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character",
  SEARCH,
  'example.com',
);

export function dnsConfigErrors(
  config: core.PodDNSConfig | undefined,
  policy: string | undefined,
  path: string,
  errors: FieldError[],
): void {
  const nameservers = config?.nameservers ?? [];
  if (policy === 'None') {
    if (!config) {
      errors.push(required(path, 'must provide `dnsConfig` when `dnsPolicy` is None'));
      return;
    }
    if (nameservers.length === 0) {
      errors.push(required(`${path}.nameservers`, 'must provide at least one DNS nameserver when `dnsPolicy` is None'));
      return;
    }
  }
  if (!config) return;
  if (nameservers.length > MAX_NAMESERVERS) {
    errors.push(invalidValue(`${path}.nameservers`, nameservers, `must not have more than ${MAX_NAMESERVERS} nameservers`));
  }
  nameservers.forEach((ip, i) => {
    ipErrors(ip, `${path}.nameservers[${i}]`, errors);
  });
  const searches = config.searches ?? [];
  if (searches.length > MAX_SEARCHES) {
    errors.push(invalidValue(`${path}.searches`, searches, `must not have more than ${MAX_SEARCHES} search paths`));
  }
  if (searches.join(' ').length > MAX_SEARCH_CHARACTERS) {
    const detail = `must not have more than ${MAX_SEARCH_CHARACTERS} characters (including spaces) in the search list`;
    errors.push(invalidValue(`${path}.searches`, searches, detail));
  }
  searches.forEach((search, i) => {
    const name = search.endsWith('.') ? search.slice(0, -1) : search;
    if (search === '.') return;
    if (name.length > 253) errors.push(invalidValue(`${path}.searches[${i}]`, name, 'must be no more than 253 characters'));
    if (!searchRegex.test(name)) errors.push(invalidValue(`${path}.searches[${i}]`, name, searchDetail));
  });
  config.options?.forEach((option, i) => {
    if (!option.name) errors.push(required(`${path}.options[${i}]`, 'must not be empty'));
  });
}
