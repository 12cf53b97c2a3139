/**
 * Kinds of versions whose types upstream still registers though it serves them no more. They matter in two places: a body of such a kind is
 * told about its version, not called unknown; and `--runtime-config` may name such a version, with nothing to serve.
 */

/** Kinds of versions that upstream still knows though it serves them no more: they are no unknown kinds, only the wrong version. */
const FORMER: Readonly<Record<string, readonly string[]>> = {
  'apps/v1beta1': ['ControllerRevision', 'Deployment', 'Scale', 'StatefulSet'],
  'apps/v1beta2': ['ControllerRevision', 'DaemonSet', 'Deployment', 'ReplicaSet', 'Scale', 'StatefulSet'],
  'authorization.k8s.io/v1beta1': ['LocalSubjectAccessReview', 'SelfSubjectAccessReview', 'SelfSubjectRulesReview', 'SubjectAccessReview'],
  'batch/v1beta1': ['CronJob'],
  'certificates.k8s.io/v1beta1': ['CertificateSigningRequest'],
  'coordination.k8s.io/v1beta1': ['Lease'],
  'discovery.k8s.io/v1beta1': ['EndpointSlice'],
  'events.k8s.io/v1beta1': ['Event'],
  'extensions/v1beta1': ['DaemonSet', 'Deployment', 'Ingress', 'NetworkPolicy', 'ReplicaSet', 'Scale'],
  'networking.k8s.io/v1beta1': ['IPAddress', 'Ingress', 'IngressClass', 'ServiceCIDR'],
  'node.k8s.io/v1alpha1': ['RuntimeClass'],
  'node.k8s.io/v1beta1': ['RuntimeClass'],
  'policy/v1beta1': ['Eviction', 'PodDisruptionBudget'],
  'rbac.authorization.k8s.io/v1alpha1': ['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'],
  'rbac.authorization.k8s.io/v1beta1': ['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'],
  'scheduling.k8s.io/v1alpha1': ['PriorityClass'],
  'scheduling.k8s.io/v1beta1': ['PriorityClass'],
  'storage.k8s.io/v1alpha1': ['CSIStorageCapacity', 'VolumeAttachment', 'VolumeAttributesClass'],
  'storage.k8s.io/v1beta1': ['CSIDriver', 'CSINode', 'CSIStorageCapacity', 'StorageClass', 'VolumeAttachment', 'VolumeAttributesClass'],
};

export const isFormerKind = (apiVersion: string, kind: string): boolean =>
  Object.hasOwn(FORMER, apiVersion) && FORMER[apiVersion]!.includes(kind);

/** `apps/v1beta1`, …: known by name, served no more. */
export const isFormerVersion = (apiVersion: string): boolean => Object.hasOwn(FORMER, apiVersion);
