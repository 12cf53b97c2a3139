/**
 * DeviceClass: a kind of device to ask for. Mirrors kubernetes `pkg/registry/resource/deviceclass`.
 */
import { type FieldError, invalidValue } from '../../../machinery/api/field-error.ts';
import type { DeviceClass } from '../../../machinery/api/types/resource.k8s.io.v1.ts';
import { defineKind } from '../define.ts';
import { listErrors } from '../validation/lists.ts';
import { isExtended } from '../validation/resources.ts';
import { configurationErrors, deviceSelectorsErrors } from './claim-spec.ts';

const MAX_CONFIGURATIONS = 32;

function validate({ spec }: DeviceClass): FieldError[] {
  const errors: FieldError[] = [];
  deviceSelectorsErrors(spec?.selectors, 'spec.selectors', errors);
  listErrors(spec?.config, { max: MAX_CONFIGURATIONS, each: configurationErrors }, 'spec.config', errors);
  const name = spec?.extendedResourceName;
  if (name !== undefined && !isExtended(name)) {
    errors.push(invalidValue('spec.extendedResourceName', name, 'must be a valid extended resource name'));
  }
  return errors;
}

export const deviceclass = defineKind<DeviceClass>({
  group: 'resource.k8s.io',
  resource: 'deviceclasses',
  kind: 'DeviceClass',
  generation: 'spec',
  deleteAnswer: 'object',
  strategy: { validate, validateUpdate: validate },
});
