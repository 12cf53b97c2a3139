/**
 * Pod: containers that run together on one node. Mirrors kubernetes `pkg/registry/core/pod`; what happens at creation is in `pod-create.ts`,
 * in updates in `pod-update.ts`, `pod-views.ts` and `pod-resize.ts`.
 */
import type { FieldError } from '../../../machinery/api/field-error.ts';
import { dnsLabel } from '../../../machinery/api/names.ts';
import type { Pod, PodSpec } from '../../../machinery/api/types/core.v1.ts';
import { defaultPod, defaultPodSpec } from '../defaults/pod-spec.ts';
import { defineKind } from '../define.ts';
import { podCells, podRowConditions } from '../tables/pod.ts';
import { podWarnings } from '../validation/pod-warnings.ts';
import { admitPod, admitTolerations } from './pod-admission.ts';
import { preparePodForCreate, validatePodCreate } from './pod-create.ts';
import { resizeView } from './pod-resize.ts';
import { admitEphemeralSecrets } from './pod-service-account.ts';
import { podStatusView } from './pod-status.ts';
import { preparePodForUpdate, validatePodUpdate } from './pod-update.ts';
import { ephemeralContainersView } from './pod-views.ts';

function applyDefaults(pod: Pod): void {
  pod.spec ??= {} as PodSpec;
  defaultPodSpec(pod.spec);
  defaultPod(pod.spec);
  const status = pod.status;
  if (!status) return;
  // podIP speaks for kubelets that do not know podIPs.
  if (status.podIP && status.podIP !== status.podIPs?.[0]?.ip) status.podIPs = [{ ip: status.podIP }];
  else if (!status.podIP && status.podIPs?.[0]?.ip) status.podIP = status.podIPs[0].ip;
}

/** How long a pod may take to stop; at once when nothing runs. */
function gracePeriod(pod: Pod, requested: number | undefined): number | undefined {
  const { phase } = pod.status ?? {};
  if (!pod.spec?.nodeName || phase === 'Succeeded' || phase === 'Failed') return 0;
  const seconds = requested ?? pod.spec.terminationGracePeriodSeconds ?? 0;
  return seconds < 0 ? 1 : seconds;
}

function warnings(pod: Pod, old: Pod | undefined): string[] {
  if (old !== undefined) return [];
  const details = dnsLabel(pod.metadata.name ?? '');
  const text = `metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [${details.join(' ')}]`;
  return [...(details.length > 0 ? [text] : []), ...podWarnings(pod.metadata, pod.spec, '')];
}

const text = (value: string | undefined): string => value ?? '';

export const pod = defineKind<Pod>({
  resource: 'pods',
  kind: 'Pod',
  generation: 'spec',
  deleteAnswer: 'object',
  fieldLabelError: 'notSupported',
  selectableFields: {
    'spec.nodeName': (object) => text(object.spec?.nodeName),
    'spec.restartPolicy': (object) => text(object.spec?.restartPolicy),
    'spec.schedulerName': (object) => text(object.spec?.schedulerName),
    'spec.serviceAccountName': (object) => text(object.spec?.serviceAccountName),
    'spec.hostNetwork': (object) => String(object.spec?.hostNetwork === true),
    'status.phase': (object) => text(object.status?.phase),
    'status.podIP': (object) => text(object.status?.podIPs?.[0]?.ip),
    'status.podIPs': (object) => text(object.status?.podIPs?.[0]?.ip),
    'status.nominatedNodeName': (object) => text(object.status?.nominatedNodeName),
  },
  strategy: {
    default: applyDefaults,
    admit: admitPod,
    prepareForCreate: preparePodForCreate,
    prepareForUpdate: (object, old) => {
      preparePodForUpdate(object, old);
      // the plugin looks at updates too: tolerations that are taken away come back
      if (object.spec) admitTolerations(object.spec);
    },
    validate: (object): FieldError[] => validatePodCreate(object),
    validateUpdate: validatePodUpdate,
    admitUpdate: async (object, _old, context) => {
      if (context.subresource === 'ephemeralcontainers') await admitEphemeralSecrets(object, context);
    },
    warnings,
  },
  status: podStatusView,
  views: { ephemeralcontainers: ephemeralContainersView, resize: resizeView },
  gracePeriod,
  cells: podCells,
  rowConditions: podRowConditions,
});
