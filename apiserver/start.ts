/**
 * Starts an API server: store, registry, watch hub, certificates, HTTP. The one place where its parts are put together.
 *
 * Invariant: it answers only after the store is recovered and the bootstrap objects are durable; when the store fails, it ends.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { ComponentDeps, RunningComponent } from '../machinery/process/component.ts';
import { writeKubeconfig } from '../machinery/process/kubeconfig-file.ts';
import type { Logger } from '../machinery/process/logger.ts';
import { createMetrics } from '../machinery/process/metrics.ts';
import { ensurePki, issueClientCertificate, type Pki } from '../machinery/process/pki.ts';
import { apiSocketOf } from '../machinery/process/socket-path.ts';
import type { Auditor } from './audit/auditor.ts';
import { startAudit } from './audit/start.ts';
import { bootstrap, runSystemNamespaces } from './bootstrap.ts';
import { createNonResourceRoutes } from './discovery/routes.ts';
import { type ServedApi, servedApi } from './discovery/served-api.ts';
import type { Api } from './handlers/api.ts';
import { createKubeletDialer } from './handlers/kubelet.ts';
import { createObjectCache, createObjectReader } from './handlers/objects.ts';
import { createCatalog } from './handlers/served.ts';
import { createInFlight } from './http/in-flight.ts';
import { authorizerFor } from './http/public-info.ts';
import { createRequestMetrics } from './http/request-metrics.ts';
import { createServiceAccountTokens } from './http/service-account-tokens.ts';
import { runFlowObjects } from './loops/flow-objects.ts';
import {
  advertisedAddress,
  type KubernetesServiceOptions,
  reconcileKubernetesService,
  runKubernetesService,
} from './loops/kubernetes-service.ts';
import { ensureServiceRange, followServices, runServiceAddresses } from './loops/service-addresses.ts';
import { createOpenApi } from './openapi/serve.ts';
import { type ApiServerOptions, parsePortRange } from './options.ts';
import { createRegistry } from './registry/registry.ts';
import { createApiServer } from './server.ts';
import { runCompactor } from './storage/compactor.ts';
import { type Store, StoreFull } from './storage/interface.ts';
import { openLevelStore } from './storage/level/store.ts';
import { createMemoryStore } from './storage/memory/store.ts';
import { quotaBytesOf, storeMetrics, warnOfPressure } from './storage/pressure.ts';
import { createWatchHub } from './watch/hub.ts';

export async function startApiServer(options: ApiServerOptions, deps: ComponentDeps): Promise<RunningComponent> {
  const dataDir = resolve(options.dataDir);
  const portRange = parsePortRange(options.serviceNodePortRange);
  const served = servedApi(options.runtimeConfig);
  if (served.missing.length > 0) deps.logger.warn({ resources: served.missing }, 'asked for and not served: nothing is known of them here');
  authorizerFor(options.authorizationMode);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const store = await openStore(options, dataDir);
  try {
    return await serve({ options, deps, dataDir, store, portRange, served });
  } catch (error) {
    await store.close();
    throw error;
  }
}

function openStore(options: ApiServerOptions, dataDir: string): Promise<Store> | Store {
  const limits = { quotaBytes: quotaBytesOf(options.quotaBackendBytes) };
  return options.storage === 'memory' ? createMemoryStore(limits) : openLevelStore(join(dataDir, 'store'), limits);
}

interface Setup {
  readonly options: ApiServerOptions;
  readonly deps: ComponentDeps;
  readonly dataDir: string;
  readonly store: Store;
  readonly portRange: readonly [number, number];
  readonly served: ServedApi;
}

async function serve(setup: Setup): Promise<RunningComponent> {
  const { options, deps, dataDir } = setup;
  const serviceIp = firstAddress(options.serviceClusterIpRange);
  const pki = await ensurePki(dataDir, {
    hosts: [options.bindAddress, options.advertiseAddress ?? '', ...options.certHosts],
    serviceIp,
    clock: deps.clock,
  });
  const api = makeApi(setup, pki);
  const metrics = createMetrics();
  storeMetrics(setup.store, metrics);
  const audit = await startAudit(options, { clock: deps.clock, logger: deps.logger, metrics });
  let address = '';
  let ready = false;
  const stopping = new AbortController();
  const routes = createNonResourceRoutes({
    catalog: api.catalog,
    checks: {
      livez: [{ name: 'etcd', check: () => undefined }],
      readyz: [
        { name: 'etcd', check: () => undefined },
        { name: 'poststarthook/bootstrap-controller', check: () => (ready ? undefined : 'not finished') },
        { name: 'shutdown', check: () => (stopping.signal.aborted ? 'process is shutting down' : undefined) },
      ],
    },
    metrics,
    tokens: api.tokens,
    openApi: createOpenApi(api.catalog),
    store: setup.store,
    address: () => address,
  });
  const server = createApiServer({
    api,
    routes,
    inFlight: createInFlight({ mutating: options.maxMutatingRequestsInflight, readOnly: options.maxRequestsInflight }, metrics),
    metrics: createRequestMetrics(metrics, deps.clock, api.catalog),
    tls: { cert: pki.apiserver.cert, key: pki.apiserver.key, ca: pki.ca.cert },
    anonymousAuth: options.anonymousAuth,
    requestTimeoutMs: options.requestTimeoutMs,
    audit,
  });
  const { securePort } = options;
  // clients may know the port already: whoever gets through finds the namespaces. A free port is told to nobody before they are there.
  const fill = async (port: number): Promise<KubernetesServiceOptions> => {
    const service = serviceOptions(options, serviceIp, port);
    await unlessFull(deps.logger, () => bootstrap(api));
    await unlessFull(deps.logger, () => reconcileKubernetesService(api, service, true));
    await unlessFull(deps.logger, () => ensureServiceRange(api, options.serviceClusterIpRange));
    await unlessFull(deps.logger, () => followServices(api));
    return service;
  };
  let service = securePort === 0 ? undefined : await fill(securePort);
  const port = await listen(server, options);
  address = `${options.bindAddress}:${port}`;
  const unixSocket = apiSocketOf(dataDir);
  if (unixSocket !== undefined) {
    rmSync(unixSocket, { force: true });
    await server.listenSocket(unixSocket);
  }
  service ??= await fill(port);
  await writeKubeconfigs({ setup, pki, url: urlOf(options.bindAddress, port), unixSocket });
  ready = true;
  deps.logger.info({ address: urlOf(options.bindAddress, port), dataDir }, 'serving');
  return running(setup, api, { server, url: urlOf(options.bindAddress, port), unixSocket, audit, service, stopping });
}

/** A server whose store is full must start, or nothing could be deleted. The loops that keep what is missing make up for it once there is room. */
async function unlessFull(logger: Logger, step: () => Promise<unknown>): Promise<void> {
  try {
    await step();
  } catch (err) {
    if (!(err instanceof StoreFull)) throw err;
    logger.error({ err }, 'the store is full: not all that belongs to a start could be written');
  }
}

function makeApi(setup: Setup, pki: Pki): Api {
  const { deps, store, options, portRange } = setup;
  const cache = createObjectCache();
  const reader = createObjectReader(store, cache);
  const registry = createRegistry({ store, serviceClusterIpRange: options.serviceClusterIpRange, serviceNodePortRange: portRange });
  return {
    clock: deps.clock,
    random: deps.random,
    logger: deps.logger,
    store,
    registry,
    catalog: createCatalog(registry, setup.served),
    cache,
    reader,
    hub: createWatchHub({
      store,
      clock: deps.clock,
      parse: cache.read,
      onError: (err) => deps.logger.error({ err }, 'a watch could not be served'),
    }),
    tokens: createServiceAccountTokens({ clock: deps.clock, random: deps.random, reader, privateKey: pki.serviceAccountKey }),
    kubelet: createKubeletDialer({ ca: pki.ca.cert, cert: pki.apiserverKubeletClient.cert, key: pki.apiserverKubeletClient.key }),
    authorizer: authorizerFor(options.authorizationMode),
  };
}

async function listen(server: ReturnType<typeof createApiServer>, options: ApiServerOptions): Promise<number> {
  try {
    return await server.listen(options.bindAddress, options.securePort);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw new Error(
      `port ${options.securePort} on ${options.bindAddress} is in use by another process; choose another with --secure-port`,
      { cause: error },
    );
  }
}

const urlOf = (host: string, port: number): string =>
  `https://${host === '0.0.0.0' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host}:${port}`;

/** 10.96.0.0/16 → 10.96.0.1. */
function firstAddress(range: string): string {
  const parts = range.split('/')[0]!.split('.');
  return [...parts.slice(0, 3), String(Number(parts[3]) + 1)].join('.');
}

interface KubeconfigSetup {
  readonly setup: Setup;
  readonly pki: Pki;
  readonly url: string;
  readonly unixSocket: string | undefined;
}

interface Identity {
  readonly user: string;
  readonly groups: readonly string[];
  /** Of a kubelet, which serves its logs with the same certificate. */
  readonly hosts?: readonly string[];
}

/** Who the bearer of an issued kubeconfig is; a name that is not of a component is a node's. Upstream's user and group names. */
const IDENTITIES: Readonly<Record<string, Identity>> = {
  admin: { user: 'kubernetes-admin', groups: ['system:masters'] },
  controllers: { user: 'system:kube-controller-manager', groups: [] },
  scheduler: { user: 'system:kube-scheduler', groups: [] },
};

const identityOf = (name: string): Identity =>
  Object.hasOwn(IDENTITIES, name)
    ? IDENTITIES[name]!
    : { user: `system:node:${name}`, groups: ['system:nodes'], hosts: [name, 'localhost', '127.0.0.1'] };

async function writeKubeconfigs({ setup, pki, url, unixSocket }: KubeconfigSetup): Promise<void> {
  const { options, dataDir, deps } = setup;
  const write = async (path: string, user: string, identity: Identity, server: string): Promise<void> => {
    const client = await issueClientCertificate(pki, identity, deps.clock);
    const local = server === url && unixSocket !== undefined;
    writeKubeconfig(path, { server, ca: pki.ca.cert, user, client, ...(local && { unixSocket }) });
  };
  if (options.writeKubeconfig !== undefined) await write(resolve(options.writeKubeconfig), 'admin', identityOf('admin'), url);
  if (options.issueKubeconfigs.length === 0) return;
  const directory = join(dataDir, 'kubeconfigs');
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  for (const name of options.issueKubeconfigs) {
    const identity = identityOf(name);
    const user = name === 'admin' ? name : identity.user;
    await write(join(directory, `${name}.kubeconfig`), user, identity, options.kubeconfigServer || url);
  }
}

function serviceOptions(options: ApiServerOptions, serviceIp: string, securePort: number): KubernetesServiceOptions {
  const address = advertisedAddress(options.advertiseAddress, options.bindAddress);
  return { serviceIp, securePort, address, reconciler: options.endpointReconcilerType, count: options.apiserverCount };
}

interface Serving {
  /** Aborted once the server is to end. */
  readonly stopping: AbortController;
  readonly service: KubernetesServiceOptions;
  readonly audit: Auditor | undefined;
  readonly server: ReturnType<typeof createApiServer>;
  readonly url: string;
  readonly unixSocket: string | undefined;
}

/** Those whose writes the store refused are answered before the process ends. */
const ANSWER_MS = 200;

function running(setup: Setup, api: Api, { server, url, unixSocket, audit, service, stopping: loops }: Serving): RunningComponent {
  const { deps, store, options } = setup;
  const { signal } = loops;
  const ended = [
    runKubernetesService(api, service, signal),
    runSystemNamespaces(api, signal),
    runFlowObjects(api, signal),
    runServiceAddresses(api, options.serviceClusterIpRange, signal),
    warnOfPressure(store, { clock: deps.clock, logger: deps.logger, signal }),
  ];
  if (options.compactionIntervalMs > 0) ended.push(runCompactor(store, options.compactionIntervalMs, { clock: deps.clock, signal }));
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopping ??= (async () => {
      loops.abort();
      await Promise.allSettled(ended);
      api.hub.close();
      await server.close();
      await audit?.close();
      if (unixSocket !== undefined) rmSync(unixSocket, { force: true });
      await store.close();
    })();
    return stopping;
  };
  const done = new Promise<void>((finish, fail) => {
    deps.signal.addEventListener('abort', () => stop().then(finish, fail), { once: true });
    if (deps.signal.aborted) stop().then(finish, fail);
    const failed = (error: Error): void => fail(new Error('the store failed; nothing can be written any more', { cause: error }));
    store.failed.then((error) => deps.clock.setTimer(ANSWER_MS, () => failed(error)), fail);
  });
  done.catch(() => undefined);
  return {
    address: url,
    ready: Promise.resolve(),
    done,
    stop: async () => {
      await stop();
    },
  };
}
