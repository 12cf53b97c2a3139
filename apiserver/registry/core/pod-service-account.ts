/**
 * The service account of a new pod: which one it is, its pull secrets, and the volume with its token. Mirrors kubernetes
 * `plugin/pkg/admission/serviceaccount`.
 */
import type * as core from '../../../machinery/api/types/core.v1.ts';
import type { StrategyContext } from '../resource.ts';
import { refusePod } from './pod-refusal.ts';
import { limitEphemeral, limitSecrets, limitsSecrets } from './pod-secrets.ts';

const TOKEN_PATH = '/var/run/secrets/kubernetes.io/serviceaccount';
const TOKEN_VOLUME_PREFIX = 'kube-api-access-';
const TOKEN_SECONDS = 3607;

/** The default account of a new namespace is made by a controller, and waited for: this often, this long. */
const DEFAULT_ATTEMPTS = 10;
const RETRY_MS = 150;

async function accountOf(namespace: string, name: string, context: StrategyContext): Promise<core.ServiceAccount | undefined> {
  const attempts = name === 'default' ? DEFAULT_ATTEMPTS : 1;
  for (let attempt = 1; ; attempt++) {
    const account = context.reader.get<core.ServiceAccount>('', 'serviceaccounts', namespace, name);
    if (account !== undefined || attempt >= attempts) return account;
    await context.sleep(RETRY_MS);
  }
}

async function foundAccount(pod: core.Pod, name: string, context: StrategyContext): Promise<core.ServiceAccount> {
  const namespace = pod.metadata.namespace ?? '';
  const account = await accountOf(namespace, name, context);
  if (account !== undefined) return account;
  throw refusePod(pod, `error looking up service account ${namespace}/${name}: serviceaccount "${name}" not found`);
}

/** Containers that join a pod are held to the secrets of its account, too. */
export async function admitEphemeralSecrets(pod: core.Pod, context: StrategyContext): Promise<void> {
  const name = pod.spec.serviceAccountName ?? '';
  if (name === '') throw refusePod(pod, `no service account specified for pod ${pod.metadata.namespace}/${pod.metadata.name}`);
  const account = await foundAccount(pod, name, context);
  if (limitsSecrets(account)) limitEphemeral(pod, account);
}

export async function admitServiceAccount(pod: core.Pod, context: StrategyContext): Promise<void> {
  const { spec } = pod;
  const name = spec.serviceAccountName || 'default';
  spec.serviceAccountName = name;
  spec.serviceAccount = name;
  const account = await foundAccount(pod, name, context);
  if (spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true) mountToken(spec, context);
  if ((spec.imagePullSecrets?.length ?? 0) === 0 && account.imagePullSecrets) {
    spec.imagePullSecrets = account.imagePullSecrets.map((secret) => ({ ...secret }));
  }
  if (limitsSecrets(account)) limitSecrets(pod, account);
}

/** Into every container that has nothing mounted there; the volume is made only when one needs it. */
function mountToken(spec: core.PodSpec, context: StrategyContext): void {
  // admission comes before validation: a volume may still lack its name
  const present = spec.volumes?.find((v) => v.name?.startsWith(TOKEN_VOLUME_PREFIX));
  const name = present?.name ?? TOKEN_VOLUME_PREFIX + context.suffix(5);
  let mounted = false;
  for (const container of [...(spec.initContainers ?? []), ...(spec.containers ?? [])]) {
    if (container.volumeMounts?.some((m) => m.mountPath === TOKEN_PATH)) continue;
    container.volumeMounts = [...(container.volumeMounts ?? []), { name, readOnly: true, mountPath: TOKEN_PATH }];
    mounted = true;
  }
  if (mounted && present === undefined) spec.volumes = [...(spec.volumes ?? []), tokenVolume(name)];
}

function tokenVolume(name: string): core.Volume {
  return {
    name,
    projected: {
      sources: [
        { serviceAccountToken: { expirationSeconds: TOKEN_SECONDS, path: 'token' } },
        { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        { downwardAPI: { items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }] } },
      ],
      defaultMode: 420,
    },
  };
}
