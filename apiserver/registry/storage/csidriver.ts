/**
 * CSIDriver: what a storage driver can do. Mirrors kubernetes `pkg/registry/storage/csidriver`.
 */
import type { CSIDriver } from '../../../machinery/api/types/storage.k8s.io.v1.ts';
import { defineKind } from '../define.ts';
import { ageCell } from '../tables/cells.ts';

function applyDefaults(object: CSIDriver): void {
  object.spec ??= {};
  const { spec } = object;
  spec.attachRequired ??= true;
  spec.podInfoOnMount ??= false;
  spec.storageCapacity ??= false;
  spec.fsGroupPolicy ??= 'ReadWriteOnceWithFSType';
  if ((spec.volumeLifecycleModes?.length ?? 0) === 0) spec.volumeLifecycleModes = ['Persistent'];
  spec.requiresRepublish ??= false;
  spec.seLinuxMount ??= false;
}

export const csidriver = defineKind<CSIDriver>({
  group: 'storage.k8s.io',
  resource: 'csidrivers',
  kind: 'CSIDriver',
  generation: 'deferred',
  unconditionalUpdate: false,
  deleteAnswer: 'object',
  strategy: {
    default: applyDefaults,
    warnings: ({ spec }) =>
      (spec.tokenRequests?.length ?? 0) > 0 && spec.serviceAccountTokenInSecrets === undefined
        ? [
            'spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes',
          ]
        : [],
  },
  cells: ({ metadata, spec }, now) => [
    metadata.name,
    spec.attachRequired !== false,
    spec.podInfoOnMount === true,
    spec.storageCapacity === true,
    (spec.tokenRequests ?? []).map((request) => request.audience ?? '').join(',') || '<unset>',
    spec.requiresRepublish === true,
    (spec.volumeLifecycleModes ?? []).join(',') || '<none>',
    ageCell(metadata.creationTimestamp, now),
  ],
});
