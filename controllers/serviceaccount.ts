/** Every namespace has a service account `default`. Mirrors upstream `pkg/controller/serviceaccount/serviceaccounts_controller.go`. */
import type { Namespace, ServiceAccount } from '../machinery/api/types/core.v1.ts';
import { namespaces, serviceaccounts } from '../machinery/client/resource-type.ts';
import type { PlannedController, Watch } from '../machinery/loop/controller.ts';
import { NOTHING, type Plan } from '../machinery/loop/plan.ts';
import { watchFor } from '../machinery/loop/watches.ts';

const NAME = 'default';

export interface ObservedAccounts {
  readonly namespace: Namespace;
  readonly account: ServiceAccount | undefined;
}

const accountWatch: Watch<ServiceAccount> = {
  type: serviceaccounts,
  *keysOf({ object, old }) {
    const account = object ?? old;
    if (account?.metadata.name === NAME) yield account.metadata.namespace ?? '';
  },
};

export function serviceaccountController(workers?: number): PlannedController<ObservedAccounts> {
  return {
    name: 'serviceaccount',
    component: 'serviceaccount-controller',
    ...(workers !== undefined && { workers }),
    watches: [watchFor(namespaces), accountWatch],
    observe(key, view) {
      const namespace = view.of(namespaces).get(key);
      return namespace && { namespace, account: view.of(serviceaccounts).get(`${key}/${NAME}`) };
    },
    compare: compareAccounts,
  };
}

export function compareAccounts({ namespace, account }: ObservedAccounts): Plan {
  if (account !== undefined || namespace.metadata.deletionTimestamp !== undefined || namespace.status?.phase === 'Terminating')
    return NOTHING;
  const object: ServiceAccount = {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: NAME, namespace: namespace.metadata.name ?? '' },
  };
  return { actions: [{ do: 'create', type: serviceaccounts, object, tolerate: ['AlreadyExists', 'NotFound', 'NamespaceTerminating'] }] };
}
