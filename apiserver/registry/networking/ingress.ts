/**
 * Ingress: HTTP from outside to services. Mirrors kubernetes `pkg/registry/networking/ingress`.
 */

import type { Ingress, IngressClass } from '../../../machinery/api/types/networking.k8s.io.v1.ts';
import { IS_DEFAULT_INGRESS_CLASS } from '../../../machinery/api/well-known-labels.ts';
import { defineKind } from '../define.ts';
import type { StrategyContext } from '../resource.ts';
import { dropStatus, keepStatus, statusView } from '../status.ts';
import { ageCell, loadBalancerAddresses } from '../tables/cells.ts';
import { canonicalIpWarning } from '../validation/ip.ts';
import { CLASS_ANNOTATION, ingressCreateErrors, ingressStatusErrors, ingressUpdateErrors } from './ingress-validation.ts';

/** An ingress without a class gets the default one (DefaultIngressClass); of several the youngest. */
function admit(object: Ingress, context: StrategyContext): void {
  if (object.spec?.ingressClassName !== undefined || object.metadata.annotations?.[CLASS_ANNOTATION] !== undefined) return;
  const defaults = context.reader
    .list<IngressClass>('networking.k8s.io', 'ingressclasses')
    .filter((c) => c.metadata.annotations?.[IS_DEFAULT_INGRESS_CLASS] === 'true');
  const [chosen] = [...defaults].sort(
    (a, b) => Date.parse(b.metadata.creationTimestamp ?? '') - Date.parse(a.metadata.creationTimestamp ?? ''),
  );
  if (chosen?.metadata.name) object.spec = { ...object.spec, ingressClassName: chosen.metadata.name };
}

const SHOWN_HOSTS = 3;

/** As upstream counts: once three hosts are shown, what is left is all rules but three, those without a host included. */
function hostsCell({ spec }: Ingress): string {
  const hosts: string[] = [];
  const rules = spec?.rules ?? [];
  let more = false;
  for (const { host } of rules) {
    if (hosts.length === SHOWN_HOSTS) more = true;
    else if (host) hosts.push(host);
  }
  if (hosts.length === 0) return '*';
  return more ? `${hosts.join(',')} + ${rules.length - SHOWN_HOSTS} more...` : hosts.join(',');
}

const addressCell = ({ status }: Ingress): string => loadBalancerAddresses(status?.loadBalancer?.ingress).join(',');

function statusWarnings({ status }: Ingress): string[] {
  return (status?.loadBalancer?.ingress ?? []).flatMap(
    ({ ip }, i) => (ip && canonicalIpWarning(ip, `status.loadBalancer.ingress[${i}]`)) || [],
  );
}

export const ingress = defineKind<Ingress>({
  group: 'networking.k8s.io',
  resource: 'ingresses',
  kind: 'Ingress',
  generation: 'spec',
  strategy: {
    admit,
    prepareForCreate: dropStatus,
    prepareForUpdate: keepStatus,
    validate: ingressCreateErrors,
    validateUpdate: ingressUpdateErrors,
    warnings: (object, old) =>
      old !== undefined || object.spec?.ingressClassName !== undefined || object.metadata.annotations?.[CLASS_ANNOTATION] === undefined
        ? []
        : [`annotation "${CLASS_ANNOTATION}" is deprecated, please use 'spec.ingressClassName' instead`],
  },
  status: statusView({
    validate: (object, old, context) => {
      for (const text of statusWarnings(object)) context.warn(text);
      return ingressStatusErrors(object, old);
    },
  }),
  cells: (object, now) => [
    object.metadata.name,
    object.spec?.ingressClassName ?? '<none>',
    hostsCell(object),
    addressCell(object),
    (object.spec?.tls?.length ?? 0) > 0 ? '80, 443' : '80',
    ageCell(object.metadata.creationTimestamp, now),
  ],
});
