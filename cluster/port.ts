/** The port of the API server, looked at before anything is started. */
import { createServer } from 'node:net';

/** Any that is free now. */
export const freePort = (host: string): Promise<number> => listenOnce(host, 0);

/** Rejects, in words for whoever chose the port, when nobody can listen on it. */
export async function mustBeFree(host: string, port: number): Promise<void> {
  try {
    await listenOnce(host, port);
  } catch (error) {
    throw new Error(reasonOf((error as NodeJS.ErrnoException).code, host, port) ?? (error as Error).message, { cause: error });
  }
}

function reasonOf(code: string | undefined, host: string, port: number): string | undefined {
  if (code === 'EADDRINUSE') return `port ${port} on ${host} is in use by another process; choose another with --secure-port`;
  if (code === 'EACCES') return `no permission to listen on port ${port}; choose one above 1023 with --secure-port`;
  if (code === 'EADDRNOTAVAIL') return `${host} is no address of this machine; choose another with --bind-address`;
  return undefined;
}

function listenOnce(host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(port, host, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
