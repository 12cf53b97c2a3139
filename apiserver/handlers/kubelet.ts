/**
 * Requests that the kubelet of a pod's node answers: logs, and (not yet) exec, attach, port-forward. Mirrors kubernetes
 * `pkg/registry/core/pod/strategy.go` LogLocation and `pkg/kubelet/client`.
 *
 * Invariant: the kubelet is verified by our CA and asked with the client certificate `apiserver-kubelet-client`; nothing of the caller's
 * credentials goes on.
 */
import type { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import { badRequest, internalError, notFound, StatusError } from '../../machinery/api/status.ts';
import type { Container, Node, Pod } from '../../machinery/api/types/core.v1.ts';
import type { EndpointSlice } from '../../machinery/api/types/discovery.k8s.io.v1.ts';
import type { RequestContext } from '../http/context.ts';
import type { Answer } from './answer.ts';
import type { Api } from './api.ts';
import { checkLogOptions } from './log-options.ts';
import { groupResource, storedVersion } from './persist.ts';
import type { ServedResource } from './served.ts';

export interface KubeletAddress {
  readonly host: string;
  readonly port: number;
  /** What the certificate must be for, or else for the host: one kubelet process may run several nodes behind one address. */
  readonly nodeName: string;
}

export interface KubeletDialer {
  /** A GET whose answer streams. Rejects when the kubelet cannot be reached. */
  get(address: KubeletAddress, path: string, signal: AbortSignal): Promise<IncomingMessage>;
}

export function createKubeletDialer(tls: { readonly ca: string; readonly cert: string; readonly key: string }): KubeletDialer {
  return {
    get: (address, path, signal) =>
      new Promise((resolve, reject) => {
        const outgoing = httpsRequest(
          {
            host: address.host,
            port: address.port,
            path,
            method: 'GET',
            ...tls,
            servername: address.nodeName,
            checkServerIdentity: (name: string, cert: PeerCertificate) =>
              checkServerIdentity(name, cert) && checkServerIdentity(address.host, cert),
            signal,
          },
          resolve,
        );
        outgoing.on('error', reject);
        outgoing.end();
      }),
  };
}

const LOG_PARAMETERS = ['follow', 'previous', 'timestamps', 'sinceSeconds', 'sinceTime', 'tailLines', 'limitBytes', 'stream'];

export async function podLog(api: Api, context: RequestContext, served: ServedResource): Promise<Answer> {
  const { namespace, name, query } = context.info;
  checkLogOptions(query, name);
  const pod = api.cache.read(storedVersion(api.store, served, namespace, name)) as unknown as Pod;
  const container = containerOf(pod, query.get('container') ?? '');
  const node = pod.spec?.nodeName ?? '';
  if (node === '') return { type: 'raw', code: 204, contentType: 'text/plain', body: '' };
  const address = addressOf(api, node);
  const parameters = new URLSearchParams();
  for (const key of LOG_PARAMETERS) if (query.has(key)) parameters.set(key, query.get(key)!);
  const suffix = parameters.size > 0 ? `?${parameters}` : '';
  const path = `/containerLogs/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}/${encodeURIComponent(container)}${suffix}`;
  let answer: IncomingMessage;
  try {
    answer = await api.kubelet.get(address, path, context.signal);
  } catch (error) {
    throw internalError(`Get "https://${address.host}:${address.port}${path}": ${(error as Error).message}`, { cause: error });
  }
  return relay(context, answer);
}

async function relay(context: RequestContext, answer: IncomingMessage): Promise<Answer> {
  if ((answer.statusCode ?? 500) >= 400) {
    const chunks: Buffer[] = [];
    for await (const chunk of answer) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString('utf8').trim();
    if (answer.statusCode === 400) throw badRequest(text);
    throw internalError(text === '' ? `the kubelet answered ${answer.statusCode}` : text);
  }
  const { reply } = context;
  reply.hijack();
  reply.raw.writeHead(200, { 'content-type': 'text/plain', 'cache-control': 'no-cache, private' });
  answer.on('error', () => reply.raw.end());
  context.cleanups.push(() => answer.destroy());
  answer.pipe(reply.raw as unknown as NodeJS.WritableStream);
  return { type: 'sent' };
}

/** The container asked for, or the only one. */
function containerOf(pod: Pod, asked: string): string {
  const names = (list: readonly Container[] | undefined): string[] => (list ?? []).map((c) => c.name ?? '');
  const init = names(pod.spec?.initContainers);
  const main = names(pod.spec?.containers);
  const ephemeral = names(pod.spec?.ephemeralContainers as readonly Container[] | undefined);
  const name = pod.metadata.name ?? '';
  if (asked === '') {
    if (main.length === 1 && init.length === 0 && ephemeral.length === 0) return main[0]!;
    if (main.length === 1 && init.length === 0) return main[0]!;
    throw badRequest(`a container name must be specified for pod ${name}, choose one of: [${[...init, ...main, ...ephemeral].join(' ')}]`);
  }
  if (![...init, ...main, ...ephemeral].includes(asked)) throw badRequest(`container ${asked} is not valid for pod ${name}`);
  return asked;
}

function addressOf(api: Api, nodeName: string): KubeletAddress {
  const node = api.reader.get<Node>('', 'nodes', '', nodeName);
  if (node === undefined)
    throw new StatusError({
      status: 'Failure',
      message: `nodes "${nodeName}" not found`,
      reason: 'NotFound',
      details: { name: nodeName, kind: 'nodes' },
      code: 404,
    });
  const addresses = node.status?.addresses ?? [];
  const found = addresses.find((a) => a.type === 'InternalIP') ?? addresses.find((a) => a.type === 'Hostname');
  const port = node.status?.daemonEndpoints?.kubeletEndpoint?.Port ?? 10250;
  return { host: found?.address ?? nodeName, port, nodeName };
}

/** Exec, attach, port-forward and proxy: checked as upstream checks them, then refused by name. */
export async function connectPod(api: Api, context: RequestContext, served: ServedResource): Promise<Answer> {
  const { namespace, subresource, query } = context.info;
  if (subresource === 'portforward') requirePorts(query.all('ports'));
  const name = subresource === 'proxy' ? proxiedName(served, context.info.name) : context.info.name;
  const object = api.cache.read(storedVersion(api.store, served, namespace, name));
  if (served.resource === 'pods') requireReachable(object as unknown as Pod, subresource, query.get('container') ?? '');
  else if (served.resource === 'services' && !hasEndpoints(api, namespace, name)) throw notFound(groupResource(served), name);
  throw badRequest(`${subresource} is not supported by this cluster's nodes`);
}

function requirePorts(ports: readonly string[]): void {
  for (const port of ports) {
    if (!/^[0-9]+$/.test(port))
      throw badRequest(`cannot convert to []int32: strconv.ParseUint: parsing ${JSON.stringify(port)}: invalid syntax`);
  }
}

/** `[scheme:]name[:port]`, as proxies name what they lead to. */
function proxiedName(served: ServedResource, text: string): string {
  const parts = text.split(':');
  const refused = (): StatusError => badRequest(`invalid ${served.info.singular} request ${JSON.stringify(text)}`);
  if (parts.length > 3) throw refused();
  if (parts.length < 3) return parts[0]!;
  if (parts[0] !== '' && parts[0] !== 'http' && parts[0] !== 'https') throw refused();
  return parts[1]!;
}

function requireReachable(pod: Pod, subresource: string, container: string): void {
  if (subresource === 'proxy') {
    if (!pod.status?.podIP) throw badRequest('address not allowed');
    return;
  }
  if (subresource === 'exec' || subresource === 'attach') containerOf(pod, container);
  if (!pod.spec?.nodeName) throw badRequest(`pod ${pod.metadata.name} does not have a host assigned`);
}

const hasEndpoints = (api: Api, namespace: string, service: string): boolean =>
  api.reader
    .list<EndpointSlice>('discovery.k8s.io', 'endpointslices', namespace)
    .some((slice) => slice.metadata.labels?.['kubernetes.io/service-name'] === service);
