/** Volumes of pods and templates, tolerations and spread constraints. Mirrors kubectl `pkg/describe` describeVolumes and its neighbours. */
import { formatSelector, selectorOf } from '../../machinery/api/selector.ts';
import type { Toleration, TopologySpreadConstraint, Volume } from '../../machinery/api/types/core.v1.ts';
import type { DescriptionWriter } from './writer.ts';

type Field = readonly [title: string, value: unknown];

export function describeVolumes(w: DescriptionWriter, volumes: readonly Volume[] | undefined, space: string): void {
  if (!volumes || volumes.length === 0) {
    w.line(0, `${space}Volumes:\t<none>`);
    return;
  }
  w.line(0, `${space}Volumes:`);
  for (const volume of volumes) {
    w.line(1, `${space === '' ? '' : ' '}${volume.name}:`);
    for (const [title, value] of fieldsOf(volume)) w.field(2, title, value);
  }
}

function fieldsOf(volume: Volume): Field[] {
  const { hostPath, emptyDir, secret, configMap, persistentVolumeClaim, projected } = volume;
  if (hostPath)
    return [
      ['Type', 'HostPath (bare host directory volume)'],
      ['Path', hostPath.path],
      ['HostPathType', hostPath.type ?? '<none>'],
    ];
  if (emptyDir)
    return [
      ['Type', "EmptyDir (a temporary directory that shares a pod's lifetime)"],
      ['Medium', emptyDir.medium ?? ''],
      ['SizeLimit', emptyDir.sizeLimit ?? '<unset>'],
    ];
  if (secret)
    return [
      ['Type', 'Secret (a volume populated by a Secret)'],
      ['SecretName', secret.secretName ?? ''],
      ['Optional', secret.optional === true],
    ];
  if (configMap)
    return [
      ['Type', 'ConfigMap (a volume populated by a ConfigMap)'],
      ['Name', configMap.name ?? ''],
      ['Optional', configMap.optional === true],
    ];
  if (persistentVolumeClaim) {
    const { claimName, readOnly = false } = persistentVolumeClaim;
    return [
      ['Type', 'PersistentVolumeClaim (a reference to a PersistentVolumeClaim in the same namespace)'],
      ['ClaimName', claimName],
      ['ReadOnly', readOnly],
    ];
  }
  if (projected)
    return [
      ['Type', 'Projected (a volume that contains injected data from multiple sources)'],
      ...(projected.sources ?? []).flatMap(projection),
    ];
  return lesserFieldsOf(volume);
}

function lesserFieldsOf({ downwardAPI, nfs, csi, ephemeral }: Volume): Field[] {
  if (downwardAPI)
    return [
      ['Type', 'DownwardAPI (a volume populated by information about the pod)'],
      ['Items', ''],
      ...(downwardAPI.items ?? []).map(
        (item): Field => [`  ${item.fieldRef?.fieldPath ?? item.resourceFieldRef?.resource ?? ''} -> ${item.path}`, ''],
      ),
    ];
  if (nfs)
    return [
      ['Type', 'NFS (an NFS mount that lasts the lifetime of a pod)'],
      ['Server', nfs.server],
      ['Path', nfs.path],
      ['ReadOnly', nfs.readOnly ?? false],
    ];
  if (csi)
    return [
      ['Type', 'CSI (a Container Storage Interface (CSI) volume source)'],
      ['Driver', csi.driver],
      ['FSType', csi.fsType ?? ''],
      ['ReadOnly', csi.readOnly ?? false],
    ];
  if (ephemeral) return [['Type', 'EphemeralVolume (an inline specification for a volume that gets created and deleted with the pod)']];
  return [['Type', '<unknown>']];
}

function projection(source: NonNullable<NonNullable<Volume['projected']>['sources']>[number]): Field[] {
  const { secret, downwardAPI, configMap, serviceAccountToken } = source;
  if (secret)
    return [
      ['SecretName', secret.name ?? ''],
      ['SecretOptionalName', secret.optional ?? '<nil>'],
    ];
  if (downwardAPI) return [['DownwardAPI', true]];
  if (configMap)
    return [
      ['ConfigMapName', configMap.name ?? ''],
      ['ConfigMapOptional', configMap.optional ?? '<nil>'],
    ];
  if (serviceAccountToken) return [['TokenExpirationSeconds', serviceAccountToken.expirationSeconds ?? 0]];
  return [];
}

export function describeTolerations(w: DescriptionWriter, title: string, tolerations: readonly Toleration[] | undefined): void {
  const sorted = [...(tolerations ?? [])].sort((a, b) => ((a.key ?? '') < (b.key ?? '') ? -1 : (a.key ?? '') > (b.key ?? '') ? 1 : 0));
  w.list(title, sorted.length === 0 ? ['<none>'] : sorted.map(tolerationText));
}

function tolerationText(toleration: Toleration): string {
  const { key = '', value = '', operator, tolerationSeconds } = toleration;
  const effect: string = toleration.effect ?? '';
  const subject = `${key}${value === '' ? '' : `=${value}`}${effect === '' ? '' : `:${effect}`}`;
  const exists = operator === 'Exists' && value === '' ? `${subject === '' ? '' : ' '}op=Exists` : '';
  return `${subject}${exists}${tolerationSeconds === undefined ? '' : ` for ${tolerationSeconds}s`}`;
}

export function describeSpread(w: DescriptionWriter, constraints: readonly TopologySpreadConstraint[] | undefined, space: string): void {
  if (!constraints || constraints.length === 0) return;
  const sorted = [...constraints].sort((a, b) => (a.topologyKey < b.topologyKey ? -1 : 1));
  const texts = sorted.map(
    (c) =>
      `${c.topologyKey}:${c.whenUnsatisfiable} when max skew ${c.maxSkew} is exceeded${c.labelSelector ? ` for selector ${formatSelector(selectorOf(c.labelSelector))}` : ''}`,
  );
  w.list(`${space}Topology Spread Constraints`, texts);
}
