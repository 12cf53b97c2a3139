/**
 * What the levels of pod security forbid. Mirrors `k8s.io/pod-security-admission/policy`: a check says what is forbidden, and who does it.
 * Checks of the level `restricted` come after those of `baseline`, some in their place.
 */
import { quoteGo } from '../../../machinery/api/field-error.ts';
import type * as core from '../../../machinery/api/types/core.v1.ts';

export interface PodShape {
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: core.PodSpec;
}

export interface Violation {
  readonly reason: string;
  readonly detail: string;
}

export type Check = (pod: PodShape) => Violation | undefined;

export const quoteAll = (texts: Iterable<string>): string => [...texts].map(quoteGo).join(', ');
const unique = (texts: readonly string[]): string[] => [...new Set(texts)].sort();
const counted = (word: string, count: number): string => (count === 1 ? word : `${word}s`);

/** In the order in which offenders are named. */
export const containersOf = ({ spec }: PodShape): readonly core.Container[] => [
  ...(spec.initContainers ?? []),
  ...(spec.containers ?? []),
  ...((spec.ephemeralContainers ?? []) as unknown as core.Container[]),
];

const names = (containers: readonly core.Container[]): string[] => containers.map((container) => container.name);
/** `container "a"`, `containers "a", "b"` */
export const called = (containers: readonly core.Container[]): string =>
  `${counted('container', containers.length)} ${quoteAll(names(containers))}`;
/** `pod and container "a"` */
export const settersOf = (podDoes: boolean, containers: readonly core.Container[]): string =>
  [...(podDoes ? ['pod'] : []), ...(containers.length > 0 ? [called(containers)] : [])].join(' and ');

/** A check of a value that the pod and its containers may set: what is `bad` is named with who set it. */
function settingCheck<T>(
  read: (context: core.PodSecurityContext | core.SecurityContext) => T | undefined,
  bad: (value: T) => boolean,
  say: (setters: string, values: T[]) => Violation,
): Check {
  return (pod) => {
    const isBad = (context: core.PodSecurityContext | core.SecurityContext | undefined): boolean => {
      const value = context && read(context);
      return value !== undefined && bad(value);
    };
    const podDoes = isBad(pod.spec.securityContext);
    const containers = containersOf(pod).filter((container) => isBad(container.securityContext));
    if (!podDoes && containers.length === 0) return undefined;
    const contexts = [...(podDoes ? [pod.spec.securityContext!] : []), ...containers.map((container) => container.securityContext!)];
    return say(
      settersOf(podDoes, containers),
      contexts.map((context) => read(context)!),
    );
  };
}

function containerCheck(bad: (container: core.Container) => boolean, say: (containers: core.Container[]) => Violation): Check {
  return (pod) => {
    const containers = containersOf(pod).filter(bad);
    return containers.length === 0 ? undefined : say(containers);
  };
}

const appArmor = settingCheck(
  (context) => context.appArmorProfile?.type,
  (type) => type !== 'RuntimeDefault' && type !== 'Localhost',
  (setters, types) => ({
    reason: counted('forbidden AppArmor profile', unique(types).length),
    detail: `${setters} must not set AppArmor profile type to ${quoteAll(unique(types))}`,
  }),
);

const DEFAULT_CAPABILITIES = new Set(
  'AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD NET_BIND_SERVICE SETFCAP SETGID SETPCAP SETUID SYS_CHROOT'.split(' '),
);

export function addedBeyond(allowed: ReadonlySet<string>, pod: PodShape): string | undefined {
  const beyond = (container: core.Container): string[] =>
    (container.securityContext?.capabilities?.add ?? []).filter((name) => !allowed.has(name));
  const containers = containersOf(pod).filter((container) => beyond(container).length > 0);
  if (containers.length === 0) return undefined;
  return `${called(containers)} must not include ${quoteAll(unique(containers.flatMap(beyond)))} in securityContext.capabilities.add`;
}

const capabilities: Check = (pod) => {
  const detail = addedBeyond(DEFAULT_CAPABILITIES, pod);
  return detail === undefined ? undefined : { reason: 'non-default capabilities', detail };
};

const hostNamespaces: Check = ({ spec }) => {
  const shared = (['hostNetwork', 'hostPID', 'hostIPC'] as const).filter((member) => spec[member] === true);
  return shared.length === 0 ? undefined : { reason: 'host namespaces', detail: shared.map((member) => `${member}=true`).join(', ') };
};

const hostPath: Check = ({ spec }) => {
  const volumes = (spec.volumes ?? []).filter((volume) => volume.hostPath).map((volume) => volume.name);
  return volumes.length === 0
    ? undefined
    : { reason: 'hostPath volumes', detail: `${counted('volume', volumes.length)} ${quoteAll(volumes)}` };
};

const hostPortsOf = ({ ports = [] }: core.Container): string[] =>
  ports.filter((port) => port.hostPort).map((port) => String(port.hostPort));

const hostPorts = containerCheck(
  (container) => hostPortsOf(container).length > 0,
  (containers) => {
    const ports = unique(containers.flatMap(hostPortsOf));
    const word = counted('hostPort', ports.length);
    return { reason: word, detail: `${called(containers)} ${containers.length === 1 ? 'uses' : 'use'} ${word} ${ports.join(', ')}` };
  },
);

function handlerHostsOf({ livenessProbe, readinessProbe, startupProbe, lifecycle }: core.Container): string[] {
  return [livenessProbe, readinessProbe, startupProbe, lifecycle?.postStart, lifecycle?.preStop].flatMap((handler) =>
    [handler?.httpGet?.host, handler?.tcpSocket?.host].filter((host) => host !== undefined && host !== ''),
  ) as string[];
}

const handlerHosts = containerCheck(
  (container) => handlerHostsOf(container).length > 0,
  (containers) => {
    const hosts = unique(containers.flatMap(handlerHostsOf));
    const word = counted('probe or lifecycle host', hosts.length);
    return { reason: word, detail: `${called(containers)} ${containers.length === 1 ? 'uses' : 'use'} ${word} ${quoteAll(hosts)}` };
  },
);

const privileged = containerCheck(
  (container) => container.securityContext?.privileged === true,
  (containers) => ({ reason: 'privileged', detail: `${called(containers)} must not set securityContext.privileged=true` }),
);

const procMountOf = (container: core.Container): string => container.securityContext?.procMount ?? 'Default';

const procMount = containerCheck(
  (container) => procMountOf(container) !== 'Default',
  (containers) => ({
    reason: 'procMount',
    detail: `${called(containers)} must not set securityContext.procMount to ${quoteAll(unique(containers.map(procMountOf)))}`,
  }),
);

const SELINUX_TYPES = new Set(['', 'container_t', 'container_init_t', 'container_kvm_t', 'container_engine_t']);

const seLinux = settingCheck(
  (context) => context.seLinuxOptions,
  ({ type = '', user, role }) => !SELINUX_TYPES.has(type) || Boolean(user) || Boolean(role),
  (setters, options) => {
    const types = unique(options.map(({ type = '' }) => type).filter((type) => !SELINUX_TYPES.has(type)));
    const data = [
      ...(types.length > 0 ? [`${counted('type', types.length)} ${quoteAll(types)}`] : []),
      ...(options.some(({ user }) => user) ? ['user may not be set'] : []),
      ...(options.some(({ role }) => role) ? ['role may not be set'] : []),
    ];
    return { reason: 'seLinuxOptions', detail: `${setters} set forbidden securityContext.seLinuxOptions: ${data.join('; ')}` };
  },
);

export const isSeccompAllowed = (type: string): boolean => type === 'RuntimeDefault' || type === 'Localhost';

export const seccomp = settingCheck(
  (context) => context.seccompProfile?.type as string | undefined,
  (type) => !isSeccompAllowed(type),
  (setters, types) => ({
    reason: 'seccompProfile',
    detail: `${setters} must not set securityContext.seccompProfile.type to ${quoteAll(unique(types))}`,
  }),
);

const SYSCTLS = new Set([
  'kernel.shm_rmid_forced',
  ...'ip_local_port_range tcp_syncookies ping_group_range ip_unprivileged_port_start ip_local_reserved_ports'
    .split(' ')
    .map((name) => `net.ipv4.${name}`),
  ...'keepalive_time fin_timeout keepalive_intvl keepalive_probes rmem wmem'.split(' ').map((name) => `net.ipv4.tcp_${name}`),
]);

const sysctls: Check = ({ spec }) => {
  const forbidden = (spec.securityContext?.sysctls ?? []).map((sysctl) => sysctl.name).filter((name) => !SYSCTLS.has(name));
  return forbidden.length === 0 ? undefined : { reason: 'forbidden sysctls', detail: forbidden.join(', ') };
};

const hostProcess = settingCheck(
  (context) => context.windowsOptions?.hostProcess,
  (value) => value,
  (setters) => ({ reason: 'hostProcess', detail: `${setters} must not set securityContext.windowsOptions.hostProcess=true` }),
);

/** By the order of upstream's identifiers. */
export const BASELINE = {
  appArmor,
  capabilities,
  hostNamespaces,
  hostPath,
  hostPorts,
  handlerHosts,
  privileged,
  procMount,
  seLinux,
  seccomp,
  sysctls,
  hostProcess,
} satisfies Record<string, Check>;
