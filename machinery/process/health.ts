/**
 * `/livez /readyz /healthz`, `/metrics` and `/debug/…` of a process. Mirrors apiserver `server/healthz`: each page is a list of named checks,
 * `/readyz/NAME` asks one, `?verbose` lists them, `?exclude=NAME` leaves one out.
 *
 * The API server answers the same pages through `healthAnswer` on its own listener; every other component calls `serveHealth`.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { failpointPasses } from './failpoints.ts';
import type { Metrics } from './metrics.ts';

export interface HealthCheck {
  readonly name: string;
  /** Undefined when healthy, else why not (shown to nobody but the log: the page says "reason withheld"). */
  check(): string | undefined | Promise<string | undefined>;
}

export interface HealthChecks {
  readonly livez?: readonly HealthCheck[];
  readonly readyz?: readonly HealthCheck[];
}

export interface HealthAnswer {
  readonly code: number;
  readonly body: string;
}

const PING: HealthCheck = { name: 'ping', check: () => undefined };

/** The answer to `path` (`/livez`, `/readyz/ping`…), or undefined when it is no health page. `/healthz` has the checks of `/livez`. */
export async function healthAnswer(checks: HealthChecks, path: string, query: URLSearchParams): Promise<HealthAnswer | undefined> {
  const match = /^\/(livez|readyz|healthz)(?:\/([^/]+))?$/.exec(path);
  if (!match) return undefined;
  const [, page, single] = match;
  const all = [PING, ...((page === 'readyz' ? checks.readyz : checks.livez) ?? [])];
  if (single === undefined) return rootAnswer(page!, all, query);
  const found = all.find((check) => check.name === single);
  if (!found) return undefined;
  const problem = await outcome(found);
  return problem === undefined ? { code: 200, body: 'ok' } : { code: 500, body: `internal server error: ${problem}\n` };
}

async function rootAnswer(page: string, all: readonly HealthCheck[], query: URLSearchParams): Promise<HealthAnswer> {
  const excluded = new Set(query.getAll('exclude').flatMap((names) => names.split(',')));
  let lines = '';
  let failed = false;
  for (const check of all) {
    if (excluded.delete(check.name)) {
      lines += `[+]${check.name} excluded: ok\n`;
      continue;
    }
    const problem = await outcome(check);
    failed ||= problem !== undefined;
    lines += problem === undefined ? `[+]${check.name} ok\n` : `[-]${check.name} failed: reason withheld\n`;
  }
  if (excluded.size > 0) {
    const names = [...excluded].map((name) => `"${name}"`).join(', ');
    lines += `warn: some health checks cannot be excluded: no matches for ${names}\n`;
  }
  if (failed) return { code: 500, body: `${lines}${page} check failed\n` };
  return { code: 200, body: query.has('verbose') ? `${lines}${page} check passed\n` : 'ok' };
}

async function outcome(check: HealthCheck): Promise<string | undefined> {
  try {
    return await check.check();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

export interface HealthOptions {
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly checks?: HealthChecks;
  readonly metrics?: Metrics;
  /** `/debug/NAME` answers what the function returns, as JSON (text when it returns a string). */
  readonly debug?: Readonly<Record<string, (query: URLSearchParams) => unknown>>;
}

export interface HealthServer {
  /** `http://127.0.0.1:40123`. */
  readonly address: string;
  close(): Promise<void>;
}

/** Starts listening; rejects when the port is taken. The server does not keep the process alive. */
export async function serveHealth(options: HealthOptions): Promise<HealthServer> {
  const server = createServer((request, response) => {
    answer(options, request, response).catch(() => {
      if (!response.headersSent) response.writeHead(500);
      response.end();
    });
  });
  server.unref();
  const host = options.host ?? '127.0.0.1';
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    address: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(options: HealthOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  request.resume();
  const [path = '', search = ''] = (request.url ?? '/').split('?', 2);
  const query = new URLSearchParams(search);
  const text = (code: number, body: string, type = 'text/plain; charset=utf-8'): void => {
    response.writeHead(code, { 'Content-Type': type, 'X-Content-Type-Options': 'nosniff' });
    response.end(body);
  };
  const health = await healthAnswer(options.checks ?? {}, path, query);
  if (health) return text(health.code, health.body);
  if (path === '/metrics' && options.metrics) return text(200, await options.metrics.text(), options.metrics.contentType);
  const debug = debugPage(options, path, query);
  if (debug === undefined) return text(404, '404 page not found\n');
  if (typeof debug === 'string') return text(200, debug);
  return text(200, `${JSON.stringify(debug, null, 2)}\n`, 'application/json');
}

function debugPage(options: HealthOptions, path: string, query: URLSearchParams): unknown {
  if (!path.startsWith('/debug/')) return undefined;
  const name = path.slice('/debug/'.length);
  if (name === 'failpoints') return failpointPasses();
  const pages = options.debug ?? {};
  return Object.hasOwn(pages, name) ? pages[name]!(query) : undefined;
}
