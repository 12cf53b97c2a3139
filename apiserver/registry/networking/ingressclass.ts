/**
 * IngressClass: who serves an ingress. Mirrors kubernetes `pkg/registry/networking/ingressclass`.
 */
import type { IngressClass } from '../../../machinery/api/types/networking.k8s.io.v1.ts';
import { defineKind } from '../define.ts';
import { ageCell } from '../tables/cells.ts';

const IS_DEFAULT = 'ingressclass.kubernetes.io/is-default-class';

function parametersCell({ spec }: IngressClass): string {
  const parameters = spec?.parameters;
  if (!parameters) return '<none>';
  const kind = parameters.apiGroup ? `${parameters.kind}.${parameters.apiGroup}` : parameters.kind;
  return `${kind}/${parameters.name}`;
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
  },
  cells: (object, now) => [
    `${object.metadata.name}${object.metadata.annotations?.[IS_DEFAULT] === 'true' ? ' (default)' : ''}`,
    object.spec?.controller ?? '',
    parametersCell(object),
    ageCell(object.metadata.creationTimestamp, now),
  ],
});
