/**
 * Warnings about volumes: plugins that are gone, projections without sources or with paths that overlap. Mirrors kubernetes `pkg/api/pod/warnings.go`.
 */
import type * as core from '../../../machinery/api/types/core.v1.ts';

/** In the order in which upstream asks; `storageos` is printed with its old spelling. */
const GONE: readonly (readonly [keyof core.Volume, string, string])[] = [
  ['photonPersistentDisk', 'photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['gitRepo', 'gitRepo', 'deprecated in v1.11, and disabled by default in v1.33+'],
  ['scaleIO', 'scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['flocker', 'flocker', 'deprecated in v1.22, non-functional in v1.25+'],
  ['storageos', 'storageOS', 'deprecated in v1.22, non-functional in v1.25+'],
  ['quobyte', 'quobyte', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['rbd', 'rbd', 'deprecated in v1.28, non-functional in v1.31+'],
  ['cephfs', 'cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
];

export function volumeWarnings(volumes: readonly core.Volume[], path: string, warnings: string[]): void {
  volumes.forEach((volume, i) => {
    for (const [member, name, text] of GONE) if (volume[member]) warnings.push(`${path}[${i}].${name}: ${text}`);
    if (volume.projected) projectedWarnings(volume, warnings);
  });
}

interface FileOf {
  readonly path: string;
  readonly source: string;
}

function projectedWarnings(volume: core.Volume, warnings: string[]): void {
  const title = `volume ${JSON.stringify(volume.name)} (Projected)`;
  const sources = volume.projected!.sources ?? [];
  const files: FileOf[] = [];
  for (const source of sources) {
    if (Object.values(source).every((member) => member === undefined || member === null)) {
      warnings.push(`${title} has no sources provided`);
      continue;
    }
    for (const file of filesOf(source)) {
      const clash = files.find((known) => known.path === file.path && known.source !== file.source);
      if (clash !== undefined) {
        warnings.push(
          `${title}: overlapping paths: ${JSON.stringify(file.path)} (${file.source}) with ${JSON.stringify(clash.path)} (${clash.source})`,
        );
      }
      files.push(file);
    }
  }
}

function filesOf(source: core.VolumeProjection): FileOf[] {
  const named = (items: readonly core.KeyToPath[] | undefined, label: string): FileOf[] =>
    (items ?? []).map((item) => ({ path: item.path, source: label }));
  return [
    ...named(source.secret?.items, `Secret ${JSON.stringify(source.secret?.name ?? '')}`),
    ...(source.downwardAPI?.items ?? []).map((item) => ({ path: item.path, source: 'DownwardAPI' })),
    ...named(source.configMap?.items, `ConfigMap ${JSON.stringify(source.configMap?.name ?? '')}`),
    ...(source.serviceAccountToken ? [{ path: source.serviceAccountToken.path, source: 'ServiceAccountToken' }] : []),
  ];
}
