/**
 * CustomResourceDefinition: a kind of one's own. Mirrors apiextensions-apiserver `pkg/registry/customresourcedefinition`; serving what is defined
 * is not done here.
 */
import type { CustomResourceDefinition } from '../../../machinery/api/types/apiextensions.k8s.io.v1.ts';
import { defineKind } from '../define.ts';
import { keepStatus, statusView } from '../status.ts';

function applyDefaults(object: CustomResourceDefinition): void {
  const { spec } = object;
  if (!spec?.names) return;
  const { names } = spec;
  if (!names.singular) names.singular = (names.kind ?? '').toLowerCase();
  if (!names.listKind && names.kind) names.listKind = `${names.kind}List`;
  spec.conversion ??= { strategy: 'None' };
  const service = spec.conversion.webhook?.clientConfig?.service;
  if (service) service.port ??= 443;
  // The storage version is a stored version from the first.
  object.status ??= {} as NonNullable<CustomResourceDefinition['status']>;
  if ((object.status.storedVersions?.length ?? 0) === 0) {
    object.status.storedVersions = (spec.versions ?? []).filter((v) => v.storage).map((v) => v.name);
  }
}

export const customresourcedefinition = defineKind<CustomResourceDefinition>({
  group: 'apiextensions.k8s.io',
  resource: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  generation: 'spec',
  unconditionalUpdate: false,
  strategy: {
    default: applyDefaults,
    prepareForCreate: (object) => {
      object.status = { storedVersions: (object.spec?.versions ?? []).filter((v) => v.storage).map((v) => v.name) } as NonNullable<
        CustomResourceDefinition['status']
      >;
    },
    prepareForUpdate: keepStatus,
  },
  status: statusView({ keepMetadata: true }),
});
