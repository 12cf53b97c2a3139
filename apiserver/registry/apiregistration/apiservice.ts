/**
 * APIService: a group version, served here or elsewhere. Mirrors kube-aggregator `pkg/registry/apiservice`.
 */
import { type FieldError, invalidValue, required } from '../../../machinery/api/field-error.ts';
import { formatTime } from '../../../machinery/api/time.ts';
import type { APIService } from '../../../machinery/api/types/apiregistration.k8s.io.v1.ts';
import { defineKind } from '../define.ts';
import { keepStatus, statusView } from '../status.ts';
import { ageCell } from '../tables/cells.ts';
import { nameIsPathSegment } from '../validation/names.ts';

function validate({ metadata, spec }: APIService): FieldError[] {
  const errors: FieldError[] = [];
  const expected = `${spec?.version ?? ''}.${spec?.group ?? ''}`;
  if (metadata.name !== expected) {
    errors.push(invalidValue('metadata.name', metadata.name, `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(expected)}`));
  }
  if (!spec?.version) errors.push(required('spec.version'));
  return errors;
}

function availableCell({ status }: APIService): string {
  const condition = status?.conditions?.find((c) => c.type === 'Available');
  if (condition === undefined) return 'Unknown';
  return condition.status === 'True' || !condition.reason ? condition.status : `${condition.status} (${condition.reason})`;
}

export const apiservice = defineKind<APIService>({
  group: 'apiregistration.k8s.io',
  resource: 'apiservices',
  kind: 'APIService',
  nameRule: nameIsPathSegment,
  strategy: {
    default: ({ spec }) => {
      if (spec?.service) spec.service.port ??= 443;
    },
    prepareForCreate: (object, context) => {
      if (object.spec?.service) {
        delete object.status;
        return;
      }
      const message = 'Local APIServices are always available';
      object.status = {
        conditions: [{ type: 'Available', status: 'True', lastTransitionTime: formatTime(context.now), reason: 'Local', message }],
      };
    },
    prepareForUpdate: keepStatus,
    validate,
    validateUpdate: validate,
  },
  status: statusView(),
  cells: (object, now) => [
    object.metadata.name,
    object.spec?.service ? `${object.spec.service.namespace ?? ''}/${object.spec.service.name ?? ''}` : 'Local',
    availableCell(object),
    ageCell(object.metadata.creationTimestamp, now),
  ],
});
