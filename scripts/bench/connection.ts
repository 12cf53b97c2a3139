/**
 * One HTTP/1.1 connection over TLS that costs its process as little as possible: a request is bytes that were made beforehand, of an answer only
 * its code and its end are looked at. A load generator on the machine of its server must not be what is measured.
 */
import { connect, type TLSSocket } from 'node:tls';

export interface Target {
  readonly host: string;
  readonly port: number;
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

export interface Connection {
  /** Settles with the answer's code once all of it has come. One request at a time. */
  send(request: Buffer): Promise<number>;
  /** Shown all that comes. */
  onBytes?: (bytes: Buffer) => void;
  /** Bytes of answers so far. */
  readonly received: number;
  close(): void;
}

const HEAD_END = Buffer.from('\r\n\r\n');
const LAST_CHUNK = Buffer.from('0\r\n\r\n');

export function requestBytes(method: string, path: string, body?: string, contentType = 'application/json'): Buffer {
  const bodyHead = body === undefined ? '' : `content-type: ${contentType}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`;
  return Buffer.from(
    `${method} ${path} HTTP/1.1\r\nhost: localhost\r\nuser-agent: bench/1\r\naccept: application/json\r\n${bodyHead}\r\n${body ?? ''}`,
  );
}

export async function open(target: Target): Promise<Connection> {
  const socket = connect({ ...target, servername: 'localhost', ALPNProtocols: ['http/1.1'] });
  await new Promise<void>((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject));
  socket.setNoDelay(true);
  return new Answers(socket);
}

class Answers implements Connection {
  readonly #socket: TLSSocket;
  received = 0;
  onBytes?: (bytes: Buffer) => void;
  #head: Buffer = Buffer.alloc(0);
  #code = 0;
  /** Bytes of the body still to come; undefined while the head is read, -1 when it comes in chunks. */
  #left: number | undefined;
  #tail: Buffer = Buffer.alloc(0);
  #done: ((code: number) => void) | undefined;
  #failed: ((error: Error) => void) | undefined;

  constructor(socket: TLSSocket) {
    this.#socket = socket;
    socket.on('data', (bytes: Buffer) => this.#take(bytes));
    const fail = (error?: Error): void => this.#failed?.(error ?? new Error('the connection was closed'));
    socket.on('error', fail).on('close', () => fail());
  }

  send(request: Buffer): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#done = resolve;
      this.#failed = reject;
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#failed = undefined;
    this.#socket.destroy();
  }

  #take(bytes: Buffer): void {
    this.received += bytes.length;
    this.onBytes?.(bytes);
    if (this.#left === undefined) {
      const all = this.#head.length === 0 ? bytes : Buffer.concat([this.#head, bytes]);
      const end = all.indexOf(HEAD_END);
      if (end < 0) {
        this.#head = all;
        return;
      }
      this.#head = Buffer.alloc(0);
      const head = all.toString('latin1', 0, end).toLowerCase();
      this.#code = Number(head.slice(9, 12));
      const length = head.indexOf('\r\ncontent-length: ');
      this.#left = length < 0 ? -1 : Number.parseInt(head.slice(length + 18), 10);
      this.#body(all.subarray(end + 4));
    } else this.#body(bytes);
  }

  #body(bytes: Buffer): void {
    if (this.#left! >= 0) {
      this.#left! -= bytes.length;
      if (this.#left === 0) this.#finish();
      return;
    }
    this.#tail =
      bytes.length >= LAST_CHUNK.length
        ? bytes.subarray(-LAST_CHUNK.length)
        : Buffer.concat([this.#tail, bytes]).subarray(-LAST_CHUNK.length);
    if (this.#tail.equals(LAST_CHUNK)) this.#finish();
  }

  #finish(): void {
    this.#left = undefined;
    this.#tail = Buffer.alloc(0);
    this.#done?.(this.#code);
  }
}
