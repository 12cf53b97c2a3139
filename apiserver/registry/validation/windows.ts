/**
 * What a pod may not say once it names its operating system, and the options of Windows. Mirrors kubernetes `core/validation` validateOS,
 * validateLinux, validateWindows, validateWindowsHostProcessPod and validateWindowsSecurityContextOptions.
 */
import { type FieldError, forbiddenField, invalidValue, notSupported, required } from '../../../machinery/api/field-error.ts';
import { dnsSubdomain } from '../../../machinery/api/names.ts';
import type * as core from '../../../machinery/api/types/core.v1.ts';
import { containersOf } from './pod-annotations.ts';

const SYSTEMS = ['linux', 'windows'];

export function osErrors(spec: core.PodSpec, path: string, errors: FieldError[]): void {
  const name: string = spec.os!.name ?? '';
  if (name === '') errors.push(required(`${path}.os.name`, 'cannot be empty'));
  else if (!SYSTEMS.includes(name)) errors.push(notSupported(`${path}.os`, name, SYSTEMS));
  else if (name === 'linux') linuxErrors(spec, path, errors);
  else windowsErrors(spec, path, errors);
}

function linuxErrors(spec: core.PodSpec, path: string, errors: FieldError[]): void {
  const contexts = [
    { context: spec.securityContext, path: `${path}.securityContext` },
    ...[...containersOf(spec, path)].map(({ container, path: at }) => ({
      context: container.securityContext,
      path: `${at}.securityContext`,
    })),
  ];
  for (const { context, path: at } of contexts) {
    if (context?.windowsOptions) errors.push(forbiddenField(`${at}.windowsOptions`, 'windows options cannot be set for a linux pod'));
  }
}

type Members = Readonly<Record<string, unknown>>;

/** In the order in which upstream asks: members of the pod's security context, and of the pod itself, which stand in one struct there. */
const POD_MEMBERS = [
  'securityContext.appArmorProfile',
  'securityContext.seLinuxOptions',
  'hostUsers',
  'hostPID',
  'hostIPC',
  'securityContext.seccompProfile',
  'securityContext.fsGroup',
  'securityContext.fsGroupChangePolicy',
  'securityContext.sysctls',
  'shareProcessNamespace',
  'securityContext.runAsUser',
  'securityContext.runAsGroup',
  'securityContext.supplementalGroups',
  'securityContext.supplementalGroupsPolicy',
  'securityContext.seLinuxChangePolicy',
];
const CONTAINER_MEMBERS = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'capabilities',
  'readOnlyRootFilesystem',
  'privileged',
  'allowPrivilegeEscalation',
  'procMount',
  'runAsUser',
  'runAsGroup',
];
/** Values in Go, so that false and none say nothing. */
const PLAIN_BOOLEANS = new Set(['hostPID', 'hostIPC']);

function windowsErrors(spec: core.PodSpec, path: string, errors: FieldError[]): void {
  const detail = 'cannot be set for a windows pod';
  for (const name of POD_MEMBERS) {
    const owner = (name.startsWith('securityContext.') ? (spec.securityContext ?? {}) : spec) as Members;
    const value = owner[name.slice(name.indexOf('.') + 1)];
    const set = PLAIN_BOOLEANS.has(name) ? value === true : value !== undefined && !(Array.isArray(value) && value.length === 0);
    if (set) errors.push(forbiddenField(`${path}.${name}`, detail));
  }
  for (const { container, path: at } of containersOf(spec, path)) {
    const context = (container.securityContext ?? {}) as Members;
    for (const name of CONTAINER_MEMBERS)
      if (context[name] !== undefined) errors.push(forbiddenField(`${at}.securityContext.${name}`, detail));
  }
}

/** Either all containers of a pod are processes of the host, or none is. */
export function hostProcessErrors(spec: core.PodSpec, path: string, errors: FieldError[]): void {
  const ofPod = spec.securityContext?.windowsOptions?.hostProcess;
  let count = 0;
  let processes = 0;
  for (const { container, path: at } of containersOf(spec, path)) {
    count++;
    const own = container.securityContext?.windowsOptions?.hostProcess;
    if (ofPod !== undefined && own !== undefined && ofPod !== own) {
      const detail = `pod hostProcess value must be identical if both are specified, was ${ofPod}`;
      errors.push(invalidValue(`${at}.securityContext.windowsOptions.hostProcess`, own, detail));
    }
    if (own ?? ofPod ?? false) processes++;
  }
  if (processes === 0) return;
  if (processes !== count)
    errors.push(invalidValue(path, '', 'If pod contains any hostProcess containers then all containers must be HostProcess containers'));
  if (spec.hostNetwork !== true)
    errors.push(invalidValue(`${path}.hostNetwork`, false, 'hostNetwork must be true if pod contains any hostProcess containers'));
}

const MAX_CREDENTIAL_SPEC_KIB = 64;

export function windowsOptionErrors(options: core.WindowsSecurityContextOptions | undefined, path: string, errors: FieldError[]): void {
  if (!options) return;
  const { gmsaCredentialSpecName: name, gmsaCredentialSpec: credential, runAsUserName: user } = options;
  if (name !== undefined)
    for (const detail of dnsSubdomain(name)) errors.push(invalidValue(`${path}.gmsaCredentialSpecName`, name, detail));
  if (credential === '') errors.push(invalidValue(`${path}.gmsaCredentialSpec`, '', 'gmsaCredentialSpec cannot be an empty string'));
  else if (credential !== undefined && Buffer.byteLength(credential) > MAX_CREDENTIAL_SPEC_KIB * 1024) {
    const detail = `gmsaCredentialSpec size must be under ${MAX_CREDENTIAL_SPEC_KIB} KiB`;
    errors.push(invalidValue(`${path}.gmsaCredentialSpec`, credential, detail));
  }
  if (user !== undefined) for (const detail of userNameDetails(user)) errors.push(invalidValue(`${path}.runAsUserName`, user, detail));
}

const MAX_DOMAIN = 256;
const MAX_USER = 104;
const NET_BIOS = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/;
const DNS_LABEL = '[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?';
const DNS_DOMAIN = new RegExp(`^${DNS_LABEL}(?:\\.${DNS_LABEL})*$`);
const CONTROL = /[\x00-\x1f\x7f]/;

/** `DOMAIN\user` or `user`. */
function userNameDetails(text: string): string[] {
  if (text === '') return ['runAsUserName cannot be an empty string'];
  if (CONTROL.test(text)) return ['runAsUserName cannot contain control characters'];
  const parts = text.split('\\');
  if (parts.length > 2) return ['runAsUserName cannot contain more than one backslash'];
  const user = parts.at(-1)!;
  const domain = parts.length === 2 ? parts[0]! : undefined;
  const details: string[] = [];
  if (domain !== undefined && Buffer.byteLength(domain) >= MAX_DOMAIN)
    details.push(`runAsUserName's Domain length must be under ${MAX_DOMAIN} characters`);
  if (domain !== undefined && !NET_BIOS.test(domain) && !DNS_DOMAIN.test(domain))
    details.push("runAsUserName's Domain doesn't match the NetBios nor the DNS format");
  if (user === '') details.push("runAsUserName's User cannot be empty");
  else if (Buffer.byteLength(user) > MAX_USER) details.push(`runAsUserName's User length must not be longer than ${MAX_USER} characters`);
  if (/^[. ]+$/.test(user)) details.push("runAsUserName's User cannot contain only periods or spaces");
  if (/["/\\:;|=,+*?<>@[\]]/.test(user)) {
    details.push('runAsUserName\'s User cannot contain the following characters: "/\\:;|=,+*?<>@[]');
  }
  return details;
}
