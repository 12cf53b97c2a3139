/**
 * The kubelet's HTTPS port: container logs for the API server, the list of pods, health. Mirrors upstream `kubelet/server/server.go`.
 *
 * Invariant: only a client certificate of the cluster's CA that belongs to the API server or an administrator is served.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Pod } from '../../machinery/api/types/core.v1.ts';
import type { Clock } from '../../machinery/process/clock.ts';
import type { Logger } from '../../machinery/process/logger.ts';
import type { ContainerLogs } from '../runtime/interface.ts';
import { formatLine, type LogQuery, parseLogQuery, selectLines } from './log-query.ts';

export interface KubeletServerDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  readonly host: string;
  /** 10250, or 0 for any free port. */
  readonly port: number;
  readonly tls: { readonly cert: string; readonly key: string; readonly ca: string };
  /** The pod of that name on any node of this process. */
  readonly findPod: (namespace: string, name: string) => Pod | undefined;
  readonly pods: () => readonly Pod[];
  readonly logs: (pod: Pod, container: string, previous: boolean) => ContainerLogs | undefined;
}

export interface KubeletServer {
  readonly port: number;
  close(): Promise<void>;
}

/** How often a follower looks again when no line is due earlier. */
const FOLLOW_MS = 100;

export async function startKubeletServer(deps: KubeletServerDeps): Promise<KubeletServer> {
  const server = createServer(
    { cert: deps.tls.cert, key: deps.tls.key, ca: deps.tls.ca, requestCert: true, rejectUnauthorized: true, minVersion: 'TLSv1.2' },
    (request, response) => {
      answer(deps, request, response).catch((error: unknown) => {
        if (!deps.signal.aborted && !response.destroyed) deps.logger.warn({ err: error }, 'kubelet request failed');
        if (!response.headersSent) response.writeHead(500);
        response.end();
      });
    },
  );
  await listen(server, deps);
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listen(server: Server, deps: KubeletServerDeps): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(deps.port, deps.host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

async function answer(deps: KubeletServerDeps, request: IncomingMessage, response: ServerResponse): Promise<void> {
  request.resume();
  const text = (code: number, body: string): void => {
    response.writeHead(code, { 'Content-Type': 'text/plain; charset=utf-8' });
    response.end(body);
  };
  if (!isAllowed(request.socket as TLSSocket)) return text(403, 'Forbidden\n');
  const url = new URL(request.url ?? '/', 'https://kubelet');
  if (request.method !== 'GET') return text(405, 'Method Not Allowed\n');
  if (url.pathname === '/healthz') return text(200, 'ok');
  if (url.pathname === '/pods') {
    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify({ kind: 'PodList', apiVersion: 'v1', metadata: {}, items: deps.pods() }));
    return;
  }
  const match = /^\/containerLogs\/([^/]+)\/([^/]+)\/([^/]+)$/.exec(url.pathname);
  if (!match) return text(404, '404 page not found\n');
  const [namespace, name, container] = match.slice(1).map(decodeURIComponent) as [string, string, string];
  await answerLogs(deps, { namespace, name, container, query: url.searchParams }, response);
}

function isAllowed(socket: TLSSocket): boolean {
  const { O: organizations, CN: name } = (socket.getPeerCertificate().subject ?? {}) as unknown as { O?: string | string[]; CN?: string };
  return name === 'kube-apiserver-kubelet-client' || [organizations].flat().includes('system:masters');
}

interface LogRequest {
  readonly namespace: string;
  readonly name: string;
  readonly container: string;
  readonly query: URLSearchParams;
}

async function answerLogs(deps: KubeletServerDeps, request: LogRequest, response: ServerResponse): Promise<void> {
  const { namespace, name, container } = request;
  const refuse = (code: number, body: string): void => {
    response.writeHead(code, { 'Content-Type': 'text/plain; charset=utf-8' });
    response.end(body);
  };
  const query = parseLogQuery(request.query, deps.clock.now());
  if ('problem' in query) return refuse(422, `${query.problem}\n`);
  const pod = deps.findPod(namespace, name);
  if (!pod) return refuse(404, `pod "${name}" does not exist\n`);
  const known = [...(pod.spec.initContainers ?? []), ...pod.spec.containers, ...(pod.spec.ephemeralContainers ?? [])];
  if (!known.some((other) => other.name === container))
    return refuse(404, `container "${container}" not found in pod "${name}_${namespace}"\n`);
  const first = deps.logs(pod, container, query.previous);
  if (!first && query.previous) return refuse(400, `previous terminated container "${container}" in pod "${name}" not found`);
  if (!first || (first.lines.length === 0 && !first.ended && first.nextAtMs === undefined && !hasRun(pod, container))) {
    return refuse(400, `container "${container}" in pod "${name}" is waiting to start: ${waitingReason(pod, container)}`);
  }
  response.writeHead(200, { 'Content-Type': 'text/plain' });
  await sendLogs(deps, { pod, container, query, first }, response);
}

const statusOf = (pod: Pod, container: string) =>
  [pod.status?.initContainerStatuses, pod.status?.containerStatuses, pod.status?.ephemeralContainerStatuses]
    .flatMap((statuses) => statuses ?? [])
    .find((status) => status.name === container);
const hasRun = (pod: Pod, container: string): boolean => {
  const state = statusOf(pod, container);
  return state?.state?.running !== undefined || state?.state?.terminated !== undefined || state?.lastState?.terminated !== undefined;
};
function waitingReason(pod: Pod, container: string): string {
  const waiting = statusOf(pod, container)?.state?.waiting;
  if (!waiting?.reason) return 'ContainerCreating';
  return waiting.reason === 'ErrImagePull' || waiting.reason === 'ImagePullBackOff' ? 'trying and failing to pull image' : waiting.reason;
}

interface LogJob {
  readonly pod: Pod;
  readonly container: string;
  readonly query: LogQuery;
  readonly first: ContainerLogs;
}

async function sendLogs(deps: KubeletServerDeps, job: LogJob, response: ServerResponse): Promise<void> {
  const { query, pod, container } = job;
  let left = query.limitBytes ?? Number.POSITIVE_INFINITY;
  const send = async (text: string): Promise<void> => {
    const bytes = Buffer.from(text);
    const part = bytes.length > left ? bytes.subarray(0, left) : bytes;
    left -= part.length;
    if (part.length > 0 && !response.write(part))
      await new Promise<void>((resolve) => response.once('drain', resolve).once('close', resolve));
  };
  let current = job.first;
  await send(
    selectLines(current.lines, query)
      .map((line) => formatLine(line, query))
      .join(''),
  );
  while (query.follow && !current.ended && left > 0 && !response.destroyed && !deps.signal.aborted) {
    const seen = current.lines.at(-1)?.atMs ?? Number.NEGATIVE_INFINITY;
    const seenCount = current.lines.filter((line) => line.atMs === seen).length;
    const next = current.nextAtMs === undefined ? FOLLOW_MS : current.nextAtMs - deps.clock.now().getTime();
    await deps.clock.sleep(Math.min(FOLLOW_MS, Math.max(1, next)), deps.signal).catch(() => undefined);
    const later = deps.logs(pod, container, false);
    if (!later) break;
    let atSeen = 0;
    const fresh = later.lines.filter((line) => line.atMs > seen || (line.atMs === seen && ++atSeen > seenCount));
    await send(
      selectLines(fresh, { ...query, tailLines: undefined })
        .map((line) => formatLine(line, query))
        .join(''),
    );
    current = later;
  }
  response.end();
}
