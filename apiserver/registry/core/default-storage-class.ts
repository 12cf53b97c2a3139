/**
 * A claim without a class gets the default one. Mirrors kubernetes `plugin/pkg/admission/storage/storageclass/setdefault`.
 */

import type { PersistentVolumeClaim } from '../../../machinery/api/types/core.v1.ts';
import type { StorageClass } from '../../../machinery/api/types/storage.k8s.io.v1.ts';
import { STORAGE_CLASS } from '../../../machinery/api/well-known-labels.ts';
import type { StrategyContext } from '../resource.ts';

const IS_DEFAULT = ['storageclass.kubernetes.io/is-default-class', 'storageclass.beta.kubernetes.io/is-default-class'];

export const isDefaultClass = (object: StorageClass): boolean => IS_DEFAULT.some((key) => object.metadata.annotations?.[key] === 'true');

/** Of several defaults the youngest counts, then the first by name. */
export function admitDefaultClass(claim: PersistentVolumeClaim, context: StrategyContext): void {
  if (claim.spec?.storageClassName !== undefined || claim.metadata.annotations?.[STORAGE_CLASS] !== undefined) return;
  const defaults = context.reader.list<StorageClass>('storage.k8s.io', 'storageclasses').filter(isDefaultClass);
  const [chosen] = [...defaults].sort(
    (a, b) =>
      Date.parse(b.metadata.creationTimestamp ?? '') - Date.parse(a.metadata.creationTimestamp ?? '') ||
      ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1),
  );
  if (chosen?.metadata.name) claim.spec = { ...claim.spec, storageClassName: chosen.metadata.name };
}
