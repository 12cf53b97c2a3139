/**
 * What each way of writing throws away, so that nobody comes to own it: `status` when the main resource is written, `spec` and parts of the
 * metadata when the status is. Mirrors the `GetResetFields` of upstream's strategies (`pkg/registry/<group>/<kind>/strategy.go`).
 */
import { EMPTY_SET, type FieldSet, setOfPaths } from './field-set.ts';

const STATUS = setOfPaths(['f:status']);
const SPEC = setOfPaths(['f:spec']);
const SPEC_AND_METADATA = setOfPaths(['f:spec'], ['f:metadata']);

/** Where it is more or less than `status` in the main resource and `spec` in its status. Key: `group/resource` or `group/resource/subresource`. */
const SPECIAL: Readonly<Record<string, FieldSet>> = {
  '/namespaces/finalize': STATUS,
  'authentication.k8s.io/tokenreviews': EMPTY_SET,
  'authorization.k8s.io/subjectaccessreviews': EMPTY_SET,
  'authorization.k8s.io/localsubjectaccessreviews': EMPTY_SET,
  'authorization.k8s.io/selfsubjectaccessreviews': EMPTY_SET,
  '/pods/status': setOfPaths(['f:spec'], ['f:metadata', 'f:deletionTimestamp'], ['f:metadata', 'f:ownerReferences']),
  'apps/deployments/status': setOfPaths(['f:spec'], ['f:metadata', 'f:labels']),
  'storage.k8s.io/volumeattachments/status': SPEC_AND_METADATA,
  'networking.k8s.io/servicecidrs/status': SPEC_AND_METADATA,
  'resource.k8s.io/resourceclaims/status': SPEC_AND_METADATA,
  'resource.k8s.io/devicetaintrules/status': SPEC_AND_METADATA,
  'resource.k8s.io/resourcepoolstatusrequests/status': SPEC_AND_METADATA,
  'scheduling.k8s.io/podgroups/status': SPEC_AND_METADATA,
  'storagemigration.k8s.io/storageversionmigrations/status': SPEC_AND_METADATA,
  'internal.apiserver.k8s.io/storageversions/status': SPEC_AND_METADATA,
  'certificates.k8s.io/podcertificaterequests': EMPTY_SET,
  'admissionregistration.k8s.io/validatingadmissionpolicies/status': SPEC_AND_METADATA,
  'apiextensions.k8s.io/customresourcedefinitions/status': SPEC_AND_METADATA,
  'apiregistration.k8s.io/apiservices/status': SPEC_AND_METADATA,
  'flowcontrol.apiserver.k8s.io/flowschemas/status': SPEC_AND_METADATA,
  'flowcontrol.apiserver.k8s.io/prioritylevelconfigurations/status': SPEC_AND_METADATA,
  'certificates.k8s.io/certificatesigningrequests': setOfPaths(['f:spec'], ['f:status']),
  'certificates.k8s.io/certificatesigningrequests/status': setOfPaths(['f:spec'], ['f:status', 'f:conditions']),
  'certificates.k8s.io/certificatesigningrequests/approval': setOfPaths(['f:spec'], ['f:status', 'f:certificate']),
};

/** `subresource` is '' for the main resource. */
export function resetFields(group: string, resource: string, subresource: string): FieldSet {
  const special = SPECIAL[`${group}/${resource}${subresource === '' ? '' : `/${subresource}`}`];
  if (special !== undefined) return special;
  if (subresource === 'status') return SPEC;
  return subresource === '' ? STATUS : EMPTY_SET;
}
