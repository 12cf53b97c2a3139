/** The other objects that scheduling rules read, from the informers of this process. */
import { deepEqual } from '../machinery/api/equality.ts';
import type { StatefulSet } from '../machinery/api/types/apps.v1.ts';
import type { ReplicationController } from '../machinery/api/types/core.v1.ts';
import type { ResourceClaim } from '../machinery/api/types/resource.k8s.io.v1.ts';
import type { StorageClass } from '../machinery/api/types/storage.k8s.io.v1.ts';
import type { InformerFactory } from '../machinery/client/informer.ts';
import {
  namespaces,
  persistentvolumeclaims,
  persistentvolumes,
  type ResourceType,
  replicasets,
  services,
} from '../machinery/client/resource-type.ts';
import type { Lookup } from './framework/snapshot.ts';
import type { ClusterEvent } from './queue/cluster-event.ts';

const statefulsets: ResourceType<StatefulSet> = {
  group: 'apps',
  version: 'v1',
  resource: 'statefulsets',
  kind: 'StatefulSet',
  namespaced: true,
};
const replicationcontrollers: ResourceType<ReplicationController> = {
  group: '',
  version: 'v1',
  resource: 'replicationcontrollers',
  kind: 'ReplicationController',
  namespaced: true,
};
const storageclasses: ResourceType<StorageClass> = {
  group: 'storage.k8s.io',
  version: 'v1',
  resource: 'storageclasses',
  kind: 'StorageClass',
  namespaced: false,
};

const resourceclaims: ResourceType<ResourceClaim> = {
  group: 'resource.k8s.io',
  version: 'v1',
  resource: 'resourceclaims',
  kind: 'ResourceClaim',
  namespaced: true,
};

/** `wake` is told of changes that may let a waiting pod in. */
export function createLookup(informers: InformerFactory, wake: (event: ClusterEvent) => void): Lookup {
  const namespace = informers.for(namespaces);
  const service = informers.for(services);
  const replicaSet = informers.for(replicasets);
  const statefulSet = informers.for(statefulsets);
  const controller = informers.for(replicationcontrollers);
  const claim = informers.for(persistentvolumeclaims);
  const volume = informers.for(persistentvolumes);
  const storageClass = informers.for(storageclasses);
  const resourceClaim = informers.for(resourceclaims);
  resourceClaim.addHandler(() => wake({ kind: 'resource-claim' }));
  claim.addHandler(() => wake({ kind: 'claim' }));
  volume.addHandler(() => wake({ kind: 'volume' }));
  storageClass.addHandler(() => wake({ kind: 'storage-class' }));
  namespace.addHandler(({ object, old }) => {
    if (!deepEqual(object?.metadata.labels, old?.metadata.labels)) wake({ kind: 'namespace' });
  });
  return {
    namespaceLabels: (name) => namespace.get(name)?.metadata.labels,
    services: (name) => service.list(name),
    replicaSet: (ns, name) => replicaSet.get(`${ns}/${name}`),
    statefulSet: (ns, name) => statefulSet.get(`${ns}/${name}`),
    replicationController: (ns, name) => controller.get(`${ns}/${name}`),
    claim: (ns, name) => claim.get(`${ns}/${name}`),
    volume: (name) => volume.get(name),
    volumes: () => volume.list(),
    resourceClaim: (ns, name) => resourceClaim.get(`${ns}/${name}`),
    storageClass: (name) => storageClass.get(name),
  };
}
