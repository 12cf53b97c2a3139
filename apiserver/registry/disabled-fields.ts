/**
 * Fields of pods behind gates that are off: taken and owned, but never stored, in pods and in whatever makes pods. Mirrors kubernetes `pkg/api/pod`
 * DropDisabledPodFields and DropDisabledTemplateFields.
 *
 * Invariant: every write that can change the spec of a pod or a template drops them, so that none is ever stored.
 */
import type { KubeObject } from '../../machinery/api/object.ts';
import type { PodSpec, PodTemplateSpec } from '../../machinery/api/types/core.v1.ts';
import { dropStatus, keepStatus } from './status.ts';
import { containersOf } from './validation/pod-annotations.ts';

export function dropDisabledFields(spec: PodSpec | undefined): void {
  if (!spec) return;
  delete spec.schedulingGroup;
  for (const { container } of containersOf(spec, '')) {
    const { lifecycle } = container;
    if (lifecycle?.stopSignal === undefined) continue;
    delete lifecycle.stopSignal;
    if (!lifecycle.postStart && !lifecycle.preStop) delete container.lifecycle;
  }
  for (const volume of spec.volumes ?? []) {
    for (const source of volume.projected?.sources ?? []) {
      delete source.clusterTrustBundle;
      delete source.podCertificate;
    }
  }
}

interface Prepared<T> {
  prepareForCreate(object: T): void;
  prepareForUpdate(object: T, old: T): void;
}

/** How writes of a workload are prepared that has nothing but its status and its template to mind. */
export function preparedTemplate<T extends KubeObject>(templateOf: (object: T) => PodTemplateSpec | undefined): Prepared<T> {
  const drop = (object: T): void => dropDisabledFields(templateOf(object)?.spec);
  return {
    prepareForCreate: (object) => {
      dropStatus(object);
      drop(object);
    },
    prepareForUpdate: (object, old) => {
      keepStatus(object, old);
      drop(object);
    },
  };
}
