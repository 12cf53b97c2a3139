/**
 * PodTemplate: a template kept on its own. Mirrors kubernetes `pkg/registry/core/podtemplate`.
 */
import type { FieldError } from '../../../machinery/api/field-error.ts';
import type { PodTemplate } from '../../../machinery/api/types/core.v1.ts';
import { defaultPodTemplate } from '../defaults/pod-spec.ts';
import { defineKind } from '../define.ts';
import { dropDisabledFields } from '../disabled-fields.ts';
import { containerImages, containerNames, labelsCell } from '../tables/cells.ts';
import { podTemplateErrors } from '../validation/pod-template.ts';
import { templateWarnings } from '../validation/pod-warnings.ts';

export const podtemplate = defineKind<PodTemplate>({
  resource: 'podtemplates',
  kind: 'PodTemplate',
  generation: 'spec',
  deleteAnswer: 'object',
  strategy: {
    default: (object) => {
      object.template ??= {};
      defaultPodTemplate(object.template);
    },
    prepareForCreate: ({ template }) => dropDisabledFields(template?.spec),
    prepareForUpdate: ({ template }) => dropDisabledFields(template?.spec),
    validate: (object) => {
      const errors: FieldError[] = [];
      podTemplateErrors(object.template ?? {}, 'template', errors);
      return errors;
    },
    validateUpdate: (object, old) => {
      const errors: FieldError[] = [];
      podTemplateErrors(object.template ?? {}, 'template', errors, old.template);
      return errors;
    },
    warnings: (object, old) => templateWarnings(object, old, object.template, 'template'),
  },
  cells: ({ metadata, template }) => [
    metadata.name,
    containerNames(template?.spec?.containers),
    containerImages(template?.spec?.containers),
    labelsCell(template?.metadata?.labels),
  ],
});
