/**
 * How often, and in which order, the update of a kind checks the object's metadata beside the checks that every update makes. Each pass of a
 * bad label is one more cause of the 422. Mirrors what upstream's `Validate<Kind>Update` and `ValidateUpdate` of the strategies call.
 */

/** `whole`: metadata as at creation. `change`: what must hold between the two versions. */
export type MetadataPass = 'whole' | 'change';

export interface MetadataPasses {
  readonly passes: readonly MetadataPass[];
  /** Names of finalizers must have a domain. */
  readonly kubeFinalizers: boolean;
}

const CHANGE: readonly MetadataPass[] = ['change'];
const WHOLE: readonly MetadataPass[] = ['whole'];
const CHANGE_WHOLE: readonly MetadataPass[] = ['change', 'whole'];
const WHOLE_CHANGE: readonly MetadataPass[] = ['whole', 'change'];

/** Kinds whose update makes other passes than one of `change`. Key: group/resource, and /view where one has passes of its own. */
const OTHERS = new Map<string, readonly MetadataPass[]>([
  ...entries(CHANGE_WHOLE, [
    '/configmaps',
    '/endpoints',
    '/pods',
    '/pods/ephemeralcontainers',
    '/pods/resize',
    '/secrets',
    '/serviceaccounts',
    'apps/controllerrevisions',
    'networking.k8s.io/ingresses',
    'networking.k8s.io/ingressclasses',
    'storage.k8s.io/volumeattributesclasses',
  ]),
  ...entries(WHOLE_CHANGE, [
    '/namespaces',
    '/nodes',
    '/replicationcontrollers',
    'apps/daemonsets',
    'apps/replicasets',
    'batch/jobs',
    'certificates.k8s.io/certificatesigningrequests',
    'certificates.k8s.io/certificatesigningrequests/status',
    'certificates.k8s.io/certificatesigningrequests/approval',
    'networking.k8s.io/ipaddresses',
    'node.k8s.io/runtimeclasses',
    'rbac.authorization.k8s.io/roles',
    'rbac.authorization.k8s.io/rolebindings',
    'rbac.authorization.k8s.io/clusterroles',
    'rbac.authorization.k8s.io/clusterrolebindings',
    'resource.k8s.io/deviceclasses',
    'resource.k8s.io/resourceclaims',
    'resource.k8s.io/resourceclaimtemplates',
    'storage.k8s.io/csistoragecapacities',
    'storage.k8s.io/storageclasses',
  ]),
  ...entries(WHOLE, [
    '/limitranges',
    'admissionregistration.k8s.io/mutatingadmissionpolicies',
    'admissionregistration.k8s.io/mutatingadmissionpolicybindings',
    'admissionregistration.k8s.io/mutatingwebhookconfigurations',
    'admissionregistration.k8s.io/validatingadmissionpolicies',
    'admissionregistration.k8s.io/validatingadmissionpolicybindings',
    'admissionregistration.k8s.io/validatingwebhookconfigurations',
    'discovery.k8s.io/endpointslices',
    'flowcontrol.apiserver.k8s.io/flowschemas',
    'flowcontrol.apiserver.k8s.io/prioritylevelconfigurations',
    'storage.k8s.io/csinodes',
    'storage.k8s.io/volumeattachments',
  ]),
  ...entries(['whole', 'whole'], ['/persistentvolumes']),
  ...entries(['whole', 'change', 'whole'], ['/persistentvolumeclaims']),
  ...entries(
    [],
    [
      // Events check metadata themselves, as their group asks.
      '/events',
      'admissionregistration.k8s.io/validatingadmissionpolicies/status',
      'batch/cronjobs/status',
      'flowcontrol.apiserver.k8s.io/flowschemas/status',
      'flowcontrol.apiserver.k8s.io/prioritylevelconfigurations/status',
      'policy/poddisruptionbudgets',
      'policy/poddisruptionbudgets/status',
    ],
  ),
]);

/** Groups whose kinds take any qualified name as a finalizer. */
const ANY_FINALIZER = new Set([
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'apiregistration.k8s.io',
  'coordination.k8s.io',
  'node.k8s.io',
]);

function entries(passes: readonly MetadataPass[], keys: readonly string[]): [string, readonly MetadataPass[]][] {
  return keys.map((key) => [key, passes]);
}

/** `view` is '' for the main resource. Views that are not named above make one pass of `change`. */
export function metadataPasses(group: string, resource: string, view: string): MetadataPasses {
  const key = `${group}/${resource}${view === '' ? '' : `/${view}`}`;
  return { passes: OTHERS.get(key) ?? CHANGE, kubeFinalizers: takesKubeFinalizersOnly(group) };
}

export const takesKubeFinalizersOnly = (group: string): boolean => !ANY_FINALIZER.has(group);
