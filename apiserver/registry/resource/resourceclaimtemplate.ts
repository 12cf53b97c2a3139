/**
 * ResourceClaimTemplate: claims made for each pod. Mirrors kubernetes `pkg/registry/resource/resourceclaimtemplate`.
 */
import type { FieldError } from '../../../machinery/api/field-error.ts';
import type { ResourceClaimTemplate } from '../../../machinery/api/types/resource.k8s.io.v1.ts';
import { defineKind } from '../define.ts';
import { annotationErrors, labelErrors } from '../validation/metadata.ts';
import { immutableField } from '../validation/numbers.ts';
import { adminAccessErrors, claimSpecErrors } from './claim-spec.ts';
import { defaultClaimSpec } from './device-defaults.ts';

export const resourceclaimtemplate = defineKind<ResourceClaimTemplate>({
  group: 'resource.k8s.io',
  resource: 'resourceclaimtemplates',
  kind: 'ResourceClaimTemplate',
  deleteAnswer: 'object',
  strategy: {
    default: ({ spec }) => defaultClaimSpec(spec?.spec),
    validate: ({ metadata, spec }, context) => {
      const errors = adminAccessErrors(spec?.spec, metadata.namespace ?? '', context);
      annotationErrors(spec?.metadata?.annotations, 'spec.metadata.annotations', errors);
      labelErrors(spec?.metadata?.labels, 'spec.metadata.labels', errors);
      claimSpecErrors(spec?.spec, 'spec.spec', errors);
      return errors;
    },
    validateUpdate: (object, old) => {
      const errors: FieldError[] = [];
      immutableField(object.spec, old.spec, 'spec', errors);
      return errors;
    },
  },
});
