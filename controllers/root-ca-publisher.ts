/** Every namespace has the ConfigMap `kube-root-ca.crt` with the cluster's CA. Mirrors upstream `pkg/controller/certificates/rootcacertpublisher`. */
import { deepEqual } from '../machinery/api/equality.ts';
import type { ConfigMap, Namespace } from '../machinery/api/types/core.v1.ts';
import { configmaps, namespaces } from '../machinery/client/resource-type.ts';
import type { PlannedController, Watch } from '../machinery/loop/controller.ts';
import { NOTHING, type Plan } from '../machinery/loop/plan.ts';
import { watchFor } from '../machinery/loop/watches.ts';

const NAME = 'kube-root-ca.crt';
const DESCRIPTION = 'kubernetes.io/description';
const DESCRIPTION_TEXT =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. ' +
  'No other usage is guaranteed across distributions of Kubernetes clusters.';

export interface ObservedRootCa {
  readonly namespace: Namespace;
  readonly configmap: ConfigMap | undefined;
  readonly rootCa: string;
}

const configmapWatch: Watch<ConfigMap> = {
  type: configmaps,
  *keysOf({ object, old }) {
    const configmap = object ?? old;
    if (configmap?.metadata.name === NAME) yield configmap.metadata.namespace ?? '';
  },
};

/** `rootCa`: PEM certificates that the API server's certificate can be verified with. */
export function rootCaPublisher(rootCa: string): PlannedController<ObservedRootCa> {
  return {
    name: 'root-ca-certificate-publisher',
    component: 'root-ca-cert-publisher',
    watches: [watchFor(namespaces), configmapWatch],
    observe(key, view) {
      const namespace = view.of(namespaces).get(key);
      return namespace && { namespace, configmap: view.of(configmaps).get(`${key}/${NAME}`), rootCa };
    },
    compare: compareRootCa,
  };
}

export function compareRootCa({ namespace, configmap, rootCa }: ObservedRootCa): Plan {
  if (namespace.metadata.deletionTimestamp !== undefined || namespace.status?.phase === 'Terminating') return NOTHING;
  const data = { 'ca.crt': rootCa };
  const described = configmap?.metadata.annotations?.[DESCRIPTION] === DESCRIPTION_TEXT;
  if (configmap !== undefined && described && deepEqual(configmap.data ?? {}, data)) return NOTHING;
  if (configmap !== undefined) {
    const annotations = { ...configmap.metadata.annotations, [DESCRIPTION]: DESCRIPTION_TEXT };
    const object: ConfigMap = { ...configmap, metadata: { ...configmap.metadata, annotations }, data };
    return { actions: [{ do: 'update', type: configmaps, object }] };
  }
  const metadata = { name: NAME, namespace: namespace.metadata.name ?? '', annotations: { [DESCRIPTION]: DESCRIPTION_TEXT } };
  const object: ConfigMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data };
  return { actions: [{ do: 'create', type: configmaps, object, tolerate: ['AlreadyExists', 'NotFound', 'NamespaceTerminating'] }] };
}
