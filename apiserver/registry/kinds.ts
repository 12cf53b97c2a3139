/**
 * The kinds that have a file of their own. Adding a kind is adding its file and two lines here.
 */
import { mutatingadmissionpolicy } from './admissionregistration/mutatingadmissionpolicy.ts';
import { mutatingadmissionpolicybinding } from './admissionregistration/mutatingadmissionpolicybinding.ts';
import { mutatingwebhookconfiguration } from './admissionregistration/mutatingwebhookconfiguration.ts';
import { validatingadmissionpolicy } from './admissionregistration/validatingadmissionpolicy.ts';
import { validatingadmissionpolicybinding } from './admissionregistration/validatingadmissionpolicybinding.ts';
import { validatingwebhookconfiguration } from './admissionregistration/validatingwebhookconfiguration.ts';
import { customresourcedefinition } from './apiextensions/customresourcedefinition.ts';
import { apiservice } from './apiregistration/apiservice.ts';
import { controllerrevision } from './apps/controllerrevision.ts';
import { daemonset } from './apps/daemonset.ts';
import { deployment } from './apps/deployment.ts';
import { replicaset } from './apps/replicaset.ts';
import { statefulset } from './apps/statefulset.ts';
import { horizontalpodautoscaler } from './autoscaling/horizontalpodautoscaler.ts';
import { cronjob } from './batch/cronjob.ts';
import { job } from './batch/job.ts';
import { certificatesigningrequest } from './certificates/certificatesigningrequest.ts';
import { lease } from './coordination/lease.ts';
import { componentstatus } from './core/componentstatus.ts';
import { configmap } from './core/configmap.ts';
import { endpoints } from './core/endpoints.ts';
import { event } from './core/event.ts';
import { limitrange } from './core/limitrange.ts';
import { namespace } from './core/namespace.ts';
import { node } from './core/node.ts';
import { persistentvolume } from './core/persistentvolume.ts';
import { persistentvolumeclaim } from './core/persistentvolumeclaim.ts';
import { pod } from './core/pod.ts';
import { podtemplate } from './core/podtemplate.ts';
import { replicationcontroller } from './core/replicationcontroller.ts';
import { resourcequota } from './core/resourcequota.ts';
import { secret } from './core/secret.ts';
import { serviceKind } from './core/service.ts';
import { serviceaccount } from './core/serviceaccount.ts';
import { endpointslice } from './discovery/endpointslice.ts';
import { flowschema } from './flowcontrol/flowschema.ts';
import { prioritylevelconfiguration } from './flowcontrol/prioritylevelconfiguration.ts';
import { ingress } from './networking/ingress.ts';
import { ingressclass } from './networking/ingressclass.ts';
import { ipaddress } from './networking/ipaddress.ts';
import { networkpolicy } from './networking/networkpolicy.ts';
import { servicecidr } from './networking/servicecidr.ts';
import { runtimeclass } from './node/runtimeclass.ts';
import { poddisruptionbudget } from './policy/poddisruptionbudget.ts';
import { clusterrole } from './rbac/clusterrole.ts';
import { clusterrolebinding } from './rbac/clusterrolebinding.ts';
import { role } from './rbac/role.ts';
import { rolebinding } from './rbac/rolebinding.ts';
import { deviceclass } from './resource/deviceclass.ts';
import { resourceclaim } from './resource/resourceclaim.ts';
import { resourceclaimtemplate } from './resource/resourceclaimtemplate.ts';
import { resourceslice } from './resource/resourceslice.ts';
import type { RegistryDeps, ResourceDefinition } from './resource.ts';
import { priorityclass } from './scheduling/priorityclass.ts';
import { csidriver } from './storage/csidriver.ts';
import { csinode } from './storage/csinode.ts';
import { csistoragecapacity } from './storage/csistoragecapacity.ts';
import { storageclass } from './storage/storageclass.ts';
import { volumeattachment } from './storage/volumeattachment.ts';
import { volumeattributesclass } from './storage/volumeattributesclass.ts';

const KINDS: readonly ResourceDefinition[] = [
  mutatingadmissionpolicy,
  mutatingadmissionpolicybinding,
  mutatingwebhookconfiguration,
  validatingadmissionpolicy,
  validatingadmissionpolicybinding,
  validatingwebhookconfiguration,
  customresourcedefinition,
  apiservice,
  controllerrevision,
  daemonset,
  deployment,
  replicaset,
  statefulset,
  horizontalpodautoscaler,
  cronjob,
  job,
  certificatesigningrequest,
  lease,
  componentstatus,
  configmap,
  endpoints,
  event,
  limitrange,
  namespace,
  node,
  persistentvolume,
  persistentvolumeclaim,
  pod,
  podtemplate,
  replicationcontroller,
  resourcequota,
  secret,
  serviceaccount,
  endpointslice,
  flowschema,
  prioritylevelconfiguration,
  ingress,
  ingressclass,
  ipaddress,
  networkpolicy,
  servicecidr,
  runtimeclass,
  poddisruptionbudget,
  clusterrole,
  clusterrolebinding,
  role,
  rolebinding,
  deviceclass,
  resourceclaim,
  resourceclaimtemplate,
  resourceslice,
  priorityclass,
  csidriver,
  csinode,
  csistoragecapacity,
  storageclass,
  volumeattachment,
  volumeattributesclass,
];

export const builtinKinds = (deps: RegistryDeps): readonly ResourceDefinition[] => [...KINDS, serviceKind(deps)];
