/** Runs the load generator against an API server, and makes what its loads need to be there. */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { MeasuredServer } from './api-server.ts';
import { open, requestBytes } from './connection.ts';
import type { Counted, Order, Said } from './load.ts';

/** `begun` is called when what is counted begins. */
export function generate(order: Order, begun: () => void = () => undefined): Promise<Counted> {
  const child = fork(fileURLToPath(new URL('load.ts', import.meta.url)), [], { execArgv: ['--import', 'tsx'] });
  child.send(order);
  return new Promise((resolve, reject) => {
    child.on('message', (said: Said) => {
      if (said.type === 'warm') begun();
      else if (said.type === 'counted') resolve(said);
      else reject(new Error(said.why));
    });
    child.once('exit', (code) => reject(new Error(`the load generator ended with ${code}`)));
  });
}

/** What pods need to be taken, and no controller is there to make. */
export async function makeNamespaces({ target }: MeasuredServer): Promise<void> {
  const connection = await open(target);
  const make = (path: string, object: object): Promise<number> => connection.send(requestBytes('POST', path, JSON.stringify(object)));
  await make('/api/v1/namespaces', { metadata: { name: 'seed' } });
  for (const namespace of ['default', 'seed'])
    await make(`/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: 'default' } });
  connection.close();
}

/** Pods to read and change. */
export async function seed(server: MeasuredServer, objects: number): Promise<void> {
  await generate({ target: server.target, load: 'seed', clients: 64, warmUp: 0, durationMs: 3_600_000, run: 'seed', objects });
}
