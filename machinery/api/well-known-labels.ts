/**
 * Labels, annotations and taints that more than one part reads or writes. Mirrors upstream `k8s.io/api/core/v1` (well_known_labels.go,
 * well_known_taints.go, annotation_key_constants.go) and `deployment_util.go`. One that a single file knows stays in that file.
 */

// Nodes
export const HOSTNAME = 'kubernetes.io/hostname';
export const OS = 'kubernetes.io/os';
export const ARCH = 'kubernetes.io/arch';
export const OLD_OS = 'beta.kubernetes.io/os';
export const OLD_ARCH = 'beta.kubernetes.io/arch';
export const ZONE = 'topology.kubernetes.io/zone';
export const REGION = 'topology.kubernetes.io/region';

// Taints
export const NOT_READY = 'node.kubernetes.io/not-ready';
export const UNREACHABLE = 'node.kubernetes.io/unreachable';
export const UNSCHEDULABLE = 'node.kubernetes.io/unschedulable';

// Pods and their controllers
export const POD_TEMPLATE_HASH = 'pod-template-hash';
export const POD_DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost';
export const MIRROR = 'kubernetes.io/config.mirror';
export const REVISION = 'deployment.kubernetes.io/revision';
export const REVISION_HISTORY = 'deployment.kubernetes.io/revision-history';
export const DESIRED_REPLICAS = 'deployment.kubernetes.io/desired-replicas';
export const MAX_REPLICAS = 'deployment.kubernetes.io/max-replicas';

// Services
export const SERVICE_NAME = 'kubernetes.io/service-name';
export const IS_DEFAULT_INGRESS_CLASS = 'ingressclass.kubernetes.io/is-default-class';

// Volumes
export const STORAGE_CLASS = 'volume.beta.kubernetes.io/storage-class';
export const BIND_COMPLETED = 'pv.kubernetes.io/bind-completed';

// What `kubectl apply` remembers
export const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
