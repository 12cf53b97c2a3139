/**
 * What the level `restricted` demands beyond `baseline`. Mirrors `k8s.io/pod-security-admission/policy`. Some demands make no sense of Windows pods.
 */
import {
  addedBeyond,
  BASELINE,
  type Check,
  called,
  containersOf,
  isSeccompAllowed,
  quoteAll,
  seccomp,
  settersOf,
} from './pod-security-checks.ts';

const notOnWindows =
  (check: Check): Check =>
  (pod) =>
    pod.spec.os?.name === 'windows' ? undefined : check(pod);

const escalation = notOnWindows((pod) => {
  const containers = containersOf(pod).filter((container) => container.securityContext?.allowPrivilegeEscalation !== false);
  if (containers.length === 0) return undefined;
  const detail = `${called(containers)} must set securityContext.allowPrivilegeEscalation=false`;
  return { reason: 'allowPrivilegeEscalation != false', detail };
});

const MAY_ADD = new Set(['NET_BIND_SERVICE']);

const capabilities = notOnWindows((pod) => {
  const keeping = containersOf(pod).filter((container) => !container.securityContext?.capabilities?.drop?.includes('ALL'));
  const dropAll = keeping.length === 0 ? undefined : `${called(keeping)} must set securityContext.capabilities.drop=["ALL"]`;
  const details = [dropAll, addedBeyond(MAY_ADD, pod)].filter((detail) => detail !== undefined);
  return details.length === 0 ? undefined : { reason: 'unrestricted capabilities', detail: details.join('; ') };
});

const VOLUME_TYPES = new Set([
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'image',
  'persistentVolumeClaim',
  'projected',
  'secret',
]);

const volumes: Check = ({ spec }) => {
  const bad = (spec.volumes ?? []).flatMap((volume) => {
    const type = Object.entries(volume).find(([member, value]) => member !== 'name' && value !== undefined)?.[0];
    return type === undefined || VOLUME_TYPES.has(type) ? [] : [{ name: volume.name, type }];
  });
  if (bad.length === 0) return undefined;
  const types = [...new Set(bad.map(({ type }) => type))].sort();
  const who = `${bad.length === 1 ? 'volume' : 'volumes'} ${quoteAll(bad.map(({ name }) => name))} ${bad.length === 1 ? 'uses' : 'use'}`;
  return {
    reason: 'restricted volume types',
    detail: `${who} restricted volume ${types.length === 1 ? 'type' : 'types'} ${quoteAll(types)}`,
  };
};

const nonRoot: Check = (pod) => {
  const own = pod.spec.securityContext?.runAsNonRoot;
  const containers = containersOf(pod);
  const refusing = containers.filter((container) => container.securityContext?.runAsNonRoot === false);
  const reason = 'runAsNonRoot != true';
  if (own === false || refusing.length > 0) {
    return { reason, detail: `${settersOf(own === false, refusing)} must not set securityContext.runAsNonRoot=false` };
  }
  const silent = own === true ? [] : containers.filter((container) => container.securityContext?.runAsNonRoot === undefined);
  return silent.length === 0 ? undefined : { reason, detail: `pod or ${called(silent)} must set securityContext.runAsNonRoot=true` };
};

const rootUser: Check = (pod) => {
  const podDoes = pod.spec.securityContext?.runAsUser === 0;
  const containers = containersOf(pod).filter((container) => container.securityContext?.runAsUser === 0);
  if (!podDoes && containers.length === 0) return undefined;
  return { reason: 'runAsUser=0', detail: `${settersOf(podDoes, containers)} must not set runAsUser=0` };
};

const profile = notOnWindows((pod) => {
  const wrong = seccomp(pod);
  const own = pod.spec.securityContext?.seccompProfile?.type;
  if (wrong !== undefined || (own !== undefined && isSeccompAllowed(own))) return wrong;
  const silent = containersOf(pod).filter((container) => container.securityContext?.seccompProfile?.type === undefined);
  if (silent.length === 0) return undefined;
  const detail = `pod or ${called(silent)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`;
  return { reason: 'seccompProfile', detail };
});

const { capabilities: _, hostPath: __, seccomp: ___, ...kept } = BASELINE;

/** The checks of each level, in the order in which violations are told. */
export const LEVEL_CHECKS: Readonly<Record<string, readonly Check[]>> = {
  privileged: [],
  baseline: Object.values(BASELINE),
  restricted: [...Object.values(kept), escalation, capabilities, volumes, nonRoot, rootUser, profile],
};
