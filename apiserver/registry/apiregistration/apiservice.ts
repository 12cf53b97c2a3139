/**
 * APIService: a group version, served here or elsewhere. Mirrors kube-aggregator `pkg/registry/apiservice`.
 */
import { type FieldError, invalidValue, notSupported, required } from '../../../machinery/api/field-error.ts';
import { dns1035Label, dnsSubdomain, nameIsPathSegment, portNumber } from '../../../machinery/api/names.ts';
import { formatTime } from '../../../machinery/api/time.ts';
import type { APIService, APIServiceSpec, ServiceReference } from '../../../machinery/api/types/apiregistration.k8s.io.v1.ts';
import { defineKind } from '../define.ts';
import { keepStatus, statusView } from '../status.ts';
import { ageCell } from '../tables/cells.ts';

const STATUSES = ['True', 'False', 'Unknown'];

function validate({ metadata, spec }: APIService): FieldError[] {
  const errors: FieldError[] = [];
  const expected = `${spec?.version ?? ''}.${spec?.group ?? ''}`;
  if (metadata.name !== expected) {
    errors.push(invalidValue('metadata.name', metadata.name, `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(expected)}`));
  }
  const {
    group = '',
    version = '',
    groupPriorityMinimum = 0,
    versionPriority = 0,
    service,
    caBundle = '',
  }: Partial<APIServiceSpec> = spec ?? {};
  if (group === '' && version !== 'v1')
    errors.push(required('spec.group', "only v1 may have an empty group and it's better be legacy kube"));
  if (group !== '') for (const detail of dnsSubdomain(group)) errors.push(invalidValue('spec.group', group, detail));
  for (const detail of dns1035Label(version)) errors.push(invalidValue('spec.version', version, detail));
  priorityErrors(groupPriorityMinimum, 20000, 'spec.groupPriorityMinimum', errors);
  priorityErrors(versionPriority, 1000, 'spec.versionPriority', errors);
  const insecure = spec?.insecureSkipTLSVerify === true;
  if (service) {
    serviceErrors(service, 'spec.service', errors);
    if (insecure && caBundle) errors.push(invalidValue('spec.insecureSkipTLSVerify', true, 'may not be true if caBundle is present'));
    return errors;
  }
  if (caBundle) {
    const size = Buffer.from(caBundle, 'base64').length;
    errors.push(invalidValue('spec.caBundle', `${size} bytes`, 'local APIServices may not have a caBundle'));
  }
  if (insecure) errors.push(invalidValue('spec.insecureSkipTLSVerify', true, 'local APIServices may not have insecureSkipTLSVerify'));
  return errors;
}

function priorityErrors(priority: number, max: number, path: string, errors: FieldError[]): void {
  if (priority <= 0 || priority > max) errors.push(invalidValue(path, priority, `must be positive and less than ${max}`));
}

function serviceErrors(service: ServiceReference, path: string, errors: FieldError[]): void {
  if (!service.namespace) errors.push(required(`${path}.namespace`));
  if (!service.name) errors.push(required(`${path}.name`));
  const port = service.port ?? 0;
  for (const detail of portNumber(port)) errors.push(invalidValue(`${path}.port`, port, `port is not valid: ${detail}`));
}

function statusErrors({ status }: APIService): FieldError[] {
  const errors: FieldError[] = [];
  status?.conditions?.forEach((condition, i) => {
    const value: string = condition.status ?? '';
    if (!STATUSES.includes(value)) errors.push(notSupported(`status.conditions[${i}].status`, value, STATUSES));
  });
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
  status: statusView({ keepMetadata: true, validate: statusErrors }),
  cells: (object, now) => [
    object.metadata.name,
    object.spec?.service ? `${object.spec.service.namespace ?? ''}/${object.spec.service.name ?? ''}` : 'Local',
    availableCell(object),
    ageCell(object.metadata.creationTimestamp, now),
  ],
});
