/**
 * The network between some clients and the server: a proxy that forwards bytes, holds them back in one or both directions, lets them trickle, or breaks
 * every connection. It understands nothing of what passes.
 */
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

interface Link {
  readonly from: Socket;
  readonly to: Socket;
  readonly answers: boolean;
  held: Buffer[];
}

const TRICKLE_MS = 50;

export class Network {
  readonly #server: Server;
  readonly #links = new Set<Link>();
  #holdsRequests = false;
  #holdsAnswers = false;

  static async between(serverPort: number): Promise<Network> {
    const network = new Network(serverPort);
    network.#server.listen(0, '127.0.0.1');
    await once(network.#server, 'listening');
    return network;
  }

  private constructor(serverPort: number) {
    this.#server = createServer((client) => {
      const server = connect(serverPort, '127.0.0.1');
      this.#join(client, server, false);
      this.#join(server, client, true);
    });
  }

  get port(): number {
    return (this.#server.address() as { port: number }).port;
  }

  /** Nothing arrives any more, in both directions or only answers; it does once `release` is called. */
  hold(what: 'all' | 'answers'): void {
    this.#holdsAnswers = true;
    this.#holdsRequests = what === 'all';
  }

  release(): void {
    this.#holdsAnswers = false;
    this.#holdsRequests = false;
    for (const link of this.#links) for (const chunk of link.held.splice(0)) link.to.write(chunk);
  }

  /** What is held arrives bit by bit for so long. */
  async trickle(bytesPerSecond: number, ms: number): Promise<void> {
    this.hold('all');
    const share = Math.ceil((bytesPerSecond * TRICKLE_MS) / 1000);
    for (let passed = 0; passed < ms; passed += TRICKLE_MS) {
      await new Promise((resolve) => setTimeout(resolve, TRICKLE_MS));
      for (const link of this.#links) {
        const [first] = link.held;
        if (first === undefined) continue;
        link.to.write(first.subarray(0, share));
        if (first.length > share) link.held[0] = first.subarray(share);
        else link.held.shift();
      }
    }
    this.release();
  }

  /** Breaks all connections; what was held is lost. */
  reset(): void {
    for (const { from, to } of this.#links) {
      from.resetAndDestroy();
      to.resetAndDestroy();
    }
    this.#links.clear();
    this.release();
  }

  async close(): Promise<void> {
    this.reset();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #join(from: Socket, to: Socket, answers: boolean): void {
    const link: Link = { from, to, answers, held: [] };
    this.#links.add(link);
    from.on('data', (chunk) => {
      if (answers ? this.#holdsAnswers : this.#holdsRequests) link.held.push(chunk);
      else to.write(chunk);
    });
    from.on('error', () => to.destroy());
    from.on('close', () => {
      this.#links.delete(link);
      to.destroy();
    });
  }
}
