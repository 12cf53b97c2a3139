/**
 * Warnings about volumes: plugins that are gone, claims of fractions of a byte, files whose paths overlap. Mirrors kubernetes `pkg/api/pod/warnings.go`.
 */
import type * as core from '../../../machinery/api/types/core.v1.ts';
import { fractionWarning } from './fractions.ts';

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
    const claim = volume.ephemeral?.volumeClaimTemplate?.spec;
    const at = `${path}[${i}].ephemeral.volumeClaimTemplate.spec.resources.requests[storage]`;
    const text = fractionWarning(claim?.resources?.requests?.['storage'], at);
    if (text !== undefined) warnings.push(text);
  });
  for (const volume of volumes) overlapWarnings(volume, warnings);
}

/** A file that a volume shows, and which of its sources has it. */
interface FileOf {
  readonly path: string;
  /** '' where the volume has one source. */
  readonly source: string;
}

function overlapWarnings(volume: core.Volume, warnings: string[]): void {
  const { configMap, secret, downwardAPI, projected } = volume;
  const warn = (what: string, files: readonly FileOf[]): void => {
    for (const text of overlaps(files)) warnings.push(`volume ${JSON.stringify(volume.name)} (${what}): overlapping paths: ${text}`);
  };
  if (configMap?.items) warn(`ConfigMap ${JSON.stringify(configMap.name ?? '')}`, filesIn(configMap.items));
  if (secret?.items) warn(`Secret ${JSON.stringify(secret.secretName ?? '')}`, filesIn(secret.items));
  if (downwardAPI?.items) warn('DownwardAPI', filesIn(downwardAPI.items));
  if (!projected) return;
  const files: FileOf[] = [];
  for (const source of projected.sources ?? []) {
    if (Object.values(source).every((member) => member === undefined || member === null))
      warnings.push(`volume ${JSON.stringify(volume.name)} (Projected) has no sources provided`);
    else files.push(...filesOf(source));
  }
  warn('Projected', files);
}

const filesIn = (items: readonly { path?: string }[] | undefined, source = ''): FileOf[] =>
  (items ?? []).map((item) => ({ path: (item.path ?? '').replace(/\/+$/, ''), source }));

function filesOf({ configMap, secret, downwardAPI, serviceAccountToken }: core.VolumeProjection): FileOf[] {
  if (configMap?.items) return filesIn(configMap.items, `ConfigMap ${JSON.stringify(configMap.name ?? '')}`);
  if (secret?.items) return filesIn(secret.items, `Secret ${JSON.stringify(secret.name ?? '')}`);
  if (downwardAPI?.items) return filesIn(downwardAPI.items, 'DownwardAPI');
  return serviceAccountToken ? filesIn([serviceAccountToken], 'ServiceAccountToken') : [];
}

const shown = ({ path, source }: FileOf): string => `${JSON.stringify(path)}${source === '' ? '' : ` (${source})`}`;

/** Each file with those before it that have its path, lie under it or contain it. */
function overlaps(files: readonly FileOf[]): string[] {
  return files.flatMap((file, i) =>
    file.path === ''
      ? []
      : files
          .slice(0, i)
          .filter(({ path }) => path !== '' && (`${path}/`.startsWith(`${file.path}/`) || `${file.path}/`.startsWith(`${path}/`)))
          .map((before) => `${shown(file)} with ${shown(before)}`),
  );
}
