/** O2: many clients that read large lists a kilobyte a second, as stored and as Tables. */
import type { TLSSocket } from 'node:tls';
import { getRequest, unreading } from './clients.ts';
import { fill, pause } from './flood.ts';
import type { FloodedServer } from './server.ts';

export interface SlowListLoad {
  readonly clients: number;
  readonly objects: number;
  readonly objectBytes: number;
  readonly ms: number;
}

export interface SlowListOutcome {
  readonly rssMb: { readonly before: number; readonly most: number };
  readonly delayMaxMs: number;
  /** Clients whose connection the server ended before they had it all. */
  readonly cutOff: number;
}

const FORMS = ['', 'Accept: application/json;as=Table;v=v1;g=meta.k8s.io\r\n'];
const READ_BYTES = 1024;

export async function runSlowLists(server: FloodedServer, load: SlowListLoad): Promise<SlowListOutcome> {
  await fill(server, load);
  await server.figures(true);
  const before = server.rssMb();
  let most = before;
  const sampling = setInterval(() => {
    most = Math.max(most, server.rssMb());
  }, 50);
  const sockets: TLSSocket[] = [];
  for (let i = 0; i < load.clients; i++) {
    const socket = await unreading(server.credentials, getRequest('/api/v1/configmaps', FORMS[i % FORMS.length]));
    if (socket !== undefined) sockets.push(socket);
  }
  const reading = setInterval(() => {
    for (const socket of sockets) socket.read(READ_BYTES);
  }, 1_000);
  await pause(load.ms);
  clearInterval(reading);
  clearInterval(sampling);
  const { delayMaxMs } = await server.figures();
  let cutOff = sockets.filter(({ destroyed }) => destroyed).length;
  for (const socket of sockets) {
    socket.once('close', () => cutOff++).resume();
  }
  await pause(2_000);
  for (const socket of sockets) socket.removeAllListeners('close').destroy();
  return { rssMb: { before, most }, delayMaxMs, cutOff };
}
