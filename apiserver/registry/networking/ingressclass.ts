/**
 * IngressClass: who serves an ingress. Mirrors kubernetes `pkg/registry/networking/ingressclass`.
 */

import { type FieldError, forbiddenField, invalidValue, notSupported, required, tooLong } from '../../../machinery/api/field-error.ts';
import { dnsLabel } from '../../../machinery/api/names.ts';
import type { IngressClass } from '../../../machinery/api/types/networking.k8s.io.v1.ts';
import { IS_DEFAULT_INGRESS_CLASS } from '../../../machinery/api/well-known-labels.ts';
import { defineKind } from '../define.ts';
import { ageCell } from '../tables/cells.ts';
import { immutableField } from '../validation/numbers.ts';
import { domainPrefixedPathErrors } from '../validation/paths.ts';
import { localReferenceErrors } from '../validation/references.ts';

function parametersCell({ spec }: IngressClass): string {
  const parameters = spec?.parameters;
  if (!parameters) return '<none>';
  const kind = parameters.apiGroup ? `${parameters.kind}.${parameters.apiGroup}` : parameters.kind;
  return `${kind}/${parameters.name}`;
}

const MAX_CONTROLLER = 250;

function validate({ spec }: IngressClass): FieldError[] {
  const errors: FieldError[] = [];
  const controller = spec?.controller ?? '';
  if (Buffer.byteLength(controller) > MAX_CONTROLLER) errors.push(tooLong('spec.controller', MAX_CONTROLLER));
  domainPrefixedPathErrors(controller, 'spec.controller', errors);
  const parameters = spec?.parameters;
  if (!parameters) return errors;
  const path = 'spec.parameters';
  const { scope = '', namespace } = parameters;
  localReferenceErrors(parameters, path, errors);
  if (scope === 'Namespace') {
    if (namespace === undefined) errors.push(required(`${path}.namespace`, "`parameters.scope` is set to 'Namespace'"));
    else for (const detail of dnsLabel(namespace)) errors.push(invalidValue(`${path}.namespace`, namespace, detail));
  } else if (scope === 'Cluster') {
    if (namespace !== undefined) errors.push(forbiddenField(`${path}.namespace`, "`parameters.scope` is set to 'Cluster'"));
  } else errors.push(notSupported(`${path}.scope`, scope, ['Cluster', 'Namespace']));
  return errors;
}

function validateUpdate(object: IngressClass, old: IngressClass): FieldError[] {
  const errors: FieldError[] = [];
  immutableField(object.spec?.controller, old.spec?.controller, 'spec.controller', errors);
  return [...errors, ...validate(object)];
}

export const ingressclass = defineKind<IngressClass>({
  group: 'networking.k8s.io',
  resource: 'ingressclasses',
  kind: 'IngressClass',
  generation: 'spec',
  strategy: {
    default: ({ spec }) => {
      if (spec?.parameters) spec.parameters.scope ??= 'Cluster';
    },
    validate,
    validateUpdate,
  },
  cells: (object, now) => [
    `${object.metadata.name}${object.metadata.annotations?.[IS_DEFAULT_INGRESS_CLASS] === 'true' ? ' (default)' : ''}`,
    object.spec?.controller ?? '',
    parametersCell(object),
    ageCell(object.metadata.creationTimestamp, now),
  ],
});
