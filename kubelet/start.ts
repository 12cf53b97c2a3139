/**
 * Starts the kubelet: one process that simulates one or many nodes. Mirrors upstream `cmd/kubelet/app/server.go`.
 */

import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { arch, hostname, networkInterfaces } from 'node:os';
import type { Node, Pod, Taint } from '../machinery/api/types/core.v1.ts';
import { ZONE } from '../machinery/api/well-known-labels.ts';
import type { Client } from '../machinery/client/client.ts';
import { createClient } from '../machinery/client/connect.ts';
import type { EventRecorder } from '../machinery/client/event-recorder.ts';
import { BY_NODE, type Informer } from '../machinery/client/informer.ts';
import { createInformerFactory } from '../machinery/client/informers.ts';
import { type ClientConfig, readKubeconfig } from '../machinery/client/kubeconfig.ts';
import { limitRate } from '../machinery/client/rate-limit.ts';
import { createRecorder } from '../machinery/client/recorder.ts';
import { nodes as nodeResource, pods as podResource } from '../machinery/client/resource-type.ts';
import type { ComponentDeps, StartComponent } from '../machinery/process/component.ts';
import { orFreePort } from '../machinery/process/free-port.ts';
import { type HealthOptions, type HealthServer, serveHealth } from '../machinery/process/health.ts';
import { createMetrics } from '../machinery/process/metrics.ts';
import { stoppedWith } from '../machinery/process/stopping.ts';
import { createAdoption } from './node/adoption.ts';
import { claimNode } from './node/heartbeat.ts';
import { KUBELET_VERSION, type NodeFacts } from './node/node-status.ts';
import { SimulatedNode } from './node/simulated-node.ts';
import type { KubeletOptions } from './options.ts';
import { type KubeletServer, startKubeletServer } from './server/server.ts';

export const startKubelet: StartComponent<KubeletOptions> = async (options, deps) => {
  const { signal, handle } = stoppedWith(deps.signal);
  const config = readKubeconfig(options.kubeconfig);
  const client = createClient({ kubeconfig: config, userAgent: `kubelet/${KUBELET_VERSION}`, clock: deps.clock });
  const kubelet = new Kubelet(options, { ...deps, signal }, client);
  const server = await kubelet.serveLogs(config);
  const health = await kubelet.serveHealth();
  const ready = kubelet.run(server?.port ?? 0);
  const done = (async () => {
    await ready.catch((error: unknown) => (signal.aborted ? undefined : Promise.reject(error)));
    if (!signal.aborted) await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    await kubelet.stop();
    await Promise.all([server?.close(), health.close()]);
    await client.close();
  })();
  ready.catch(() => undefined);
  return handle({ address: health.address, ready, done });
};

class Kubelet {
  readonly #options: KubeletOptions;
  readonly #deps: ComponentDeps;
  /** For everything but the heartbeats. */
  readonly #client: Client;
  readonly #heartbeatClient: Client;
  readonly #base: string;
  readonly #names: readonly string[];
  readonly #nodes = new Map<string, SimulatedNode>();
  readonly #recorder: EventRecorder;
  readonly #podInformer: Informer<Pod>;
  readonly #nodeInformer: Informer<Node>;
  readonly #informers;
  #ready = false;

  constructor(options: KubeletOptions, deps: ComponentDeps, client: Client) {
    this.#options = options;
    this.#deps = deps;
    this.#client = limitRate(client, options, deps);
    this.#heartbeatClient = client;
    const base = options.nodeName || hostname().toLowerCase();
    this.#base = base;
    this.#names =
      options.nodes === 1 ? [base] : Array.from({ length: options.nodes }, (_, index) => `${base}-${options.firstNode + index}`);
    this.#recorder = createRecorder(this.#client, { ...deps, component: 'kubelet' });
    this.#informers = createInformerFactory(this.#client, deps);
    // A kubelet of one node may see only what belongs to it; one of many nodes watches once for all of them.
    const single = options.nodes === 1 && !options.adoptNodes;
    this.#podInformer = this.#informers.for(podResource, { fieldSelector: single ? `spec.nodeName=${base}` : 'spec.nodeName!=' });
    this.#nodeInformer = this.#informers.for(nodeResource, single ? { fieldSelector: `metadata.name=${base}` } : {});
  }

  /** Settles when every node is registered and its pods are known. */
  async run(port: number): Promise<void> {
    const { signal } = this.#deps;
    for (const name of this.#names) this.#addNode(name, port, true);
    this.#podInformer.addHandler(({ object, old }) => this.#dispatch(object, old));
    const adoption = this.#options.adoptNodes
      ? createAdoption({
          ...this.#deps,
          nodes: this.#nodeInformer,
          adopter: this.#base,
          claim: (name) => claimNode(this.#client, name, this.#base),
          adopt: (name) => this.#adopt(name, port),
          leave: (name) => this.#leave(name),
          own: (name) => this.#nodes.has(name),
        })
      : undefined;
    this.#informers.start(signal);
    await Promise.all([...this.#nodes.values()].map((node) => node.start()));
    await this.#informers.synced(signal);
    for (const node of this.#nodes.values()) node.workers.reconcileOrphans();
    adoption?.start();
    this.#ready = true;
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#nodes.values()].map((node) => node.stop()));
    await this.#recorder.flush();
    await this.#informers.done;
  }

  async serveLogs(config: ClientConfig): Promise<KubeletServer | undefined> {
    const { tlsCertFile, tlsPrivateKeyFile, clientCaFile, address, port } = this.#options;
    const read = (file: string): string | undefined => (file ? readFileSync(file, 'utf8') : undefined);
    const cert = read(tlsCertFile) ?? config.cert;
    const key = read(tlsPrivateKeyFile) ?? config.key;
    const ca = read(clientCaFile) ?? config.ca;
    if (!cert || !key || !ca || !mayServe(cert)) {
      this.#deps.logger.warn(
        'no certificate to serve container logs with: give --tls-cert-file, --tls-private-key-file and --client-ca-file',
      );
      return undefined;
    }
    const start = (wanted: number): Promise<KubeletServer> =>
      startKubeletServer({
        ...this.#deps,
        host: address,
        port: wanted,
        tls: { cert, key, ca },
        findPod: (namespace, name) => this.#podInformer.get(`${namespace}/${name}`),
        pods: () => [...this.#nodes.values()].flatMap((node) => node.pods),
        logs: (pod, container, previous) =>
          this.#nodes.get(pod.spec.nodeName ?? '')?.runtime.logs(pod.metadata.uid as string, container, previous),
      });
    return orFreePort(port, start);
  }

  async serveHealth(): Promise<HealthServer> {
    const metrics = createMetrics();
    metrics.gauge('kubelet_running_pods', 'Pods with a sandbox', {
      collect: (gauge) => gauge.set([...this.#nodes.values()].reduce((sum, node) => sum + [...node.runtime.pods()].length, 0)),
    });
    const page: Omit<HealthOptions, 'port'> = {
      host: this.#options.bindAddress,
      metrics,
      checks: { readyz: [{ name: 'nodes-registered', check: () => (this.#ready ? undefined : 'nodes are not registered yet') }] },
      debug: {
        pods: () =>
          [...this.#nodes.values()].map((node) => ({
            node: node.name,
            pods: [...node.runtime.pods()].map((pod) => ({ ...pod, containers: [...pod.containers.values()] })),
          })),
      },
    };
    return orFreePort(this.#options.healthzPort, (port) => serveHealth({ ...page, port }));
  }

  #addNode(name: string, port: number, register: boolean): SimulatedNode {
    const node = new SimulatedNode({
      ...this.#deps,
      options: this.#options,
      client: this.#client,
      heartbeatClient: this.#heartbeatClient,
      recorder: this.#recorder,
      facts: factsOf(this.#options, name, port),
      register,
      node: () => this.#nodeInformer.get(name),
    });
    this.#nodes.set(name, node);
    return node;
  }

  async #adopt(name: string, port: number): Promise<void> {
    const known = this.#nodeInformer.get(name);
    const options = this.#options;
    const facts = factsOf(options, name, port);
    const capacity = known?.status?.capacity && Object.keys(known.status.capacity).length > 0 ? known.status.capacity : facts.capacity;
    const node = new SimulatedNode({
      ...this.#deps,
      options,
      client: this.#client,
      heartbeatClient: this.#heartbeatClient,
      recorder: this.#recorder,
      facts: { ...facts, capacity, allocatable: known?.status?.allocatable ?? {}, labels: {}, adoptedBy: this.#base },
      register: false,
      node: () => this.#nodeInformer.get(name),
    });
    this.#nodes.set(name, node);
    await node.start();
    for (const pod of this.#podInformer.byIndex(BY_NODE, name)) node.podChanged(pod);
    node.workers.reconcileOrphans();
  }

  async #leave(name: string): Promise<void> {
    const node = this.#nodes.get(name);
    this.#nodes.delete(name);
    for (const pod of node?.runtime.pods() ?? []) node?.runtime.remove(pod.uid);
    await node?.stop();
  }

  #dispatch(object: Pod | undefined, old: Pod | undefined): void {
    if (old && old.metadata.uid !== object?.metadata.uid) this.#nodes.get(old.spec.nodeName ?? '')?.podGone(old);
    if (object) this.#nodes.get(object.spec.nodeName ?? '')?.podChanged(object);
  }
}

/** Whether a certificate is good for a server: an administrator's is for clients only. */
function mayServe(pem: string): boolean {
  const usages = new X509Certificate(pem).keyUsage as readonly string[] | undefined;
  return usages === undefined || usages.includes('1.3.6.1.5.5.7.3.1');
}

const isWildcard = (address: string): boolean => address === '0.0.0.0' || address === '::';

/** The address by which another machine (or container) reaches this one; the loopback when there is no other. */
function firstOwnAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.find((address) => address.family === 'IPv4' && !address.internal)?.address ?? '127.0.0.1';
}

function factsOf(options: KubeletOptions, name: string, port: number): NodeFacts {
  const ip = options.nodeIp || (isWildcard(options.address) ? firstOwnAddress() : options.address);
  return {
    name,
    labels: { ...zoneLabel(options, name), ...options.nodeLabels },
    taints: options.registerWithTaints.map(parseTaint),
    unschedulable: !options.registerSchedulable,
    ip,
    port,
    capacity: { ...options.capacity, pods: String(options.maxPods) },
    allocatable: options.allocatable,
    architecture: arch() === 'x64' ? 'amd64' : arch(),
    version: KUBELET_VERSION,
    providerId: options.providerId,
  };
}

function zoneLabel({ nodeZones }: KubeletOptions, name: string): Record<string, string> {
  const zones = nodeZones.filter((zone) => zone !== '');
  const zone = zones[Number(/(\d{1,9})$/.exec(name)?.[1] ?? 0) % zones.length];
  return zone === undefined ? {} : { [ZONE]: zone };
}

function parseTaint(text: string): Taint {
  const match = /^([^=:]+)(?:=([^:]*))?:(NoSchedule|PreferNoSchedule|NoExecute)$/.exec(text);
  if (!match) throw new Error(`--register-with-taints: "${text}" is not key=value:effect`);
  return { key: match[1] as string, ...(match[2] && { value: match[2] }), effect: match[3] as Taint['effect'] };
}
