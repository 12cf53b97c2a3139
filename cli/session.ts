/**
 * One call of the command line: where it writes, which cluster and namespace it speaks to. Everything costly (kubeconfig, connection, discovery) is made
 * at the first use, so that `flyball config` or a typing mistake costs nothing.
 */
import type { Client } from '../machinery/client/client.ts';
import type { Clock } from '../machinery/process/clock.ts';
import type { Random } from '../machinery/process/random.ts';
import { Api } from './api.ts';
import { connect, type Target } from './connection.ts';
import type { Mapper } from './discovery/mapper.ts';
import type { Flags } from './flags.ts';
import type { Surroundings } from './options.ts';

export interface SessionDeps {
  readonly clock: Clock;
  readonly random: Random;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  readonly surroundings: Surroundings;
  readonly writeOut: (text: string | Buffer) => void;
  readonly writeErr: (text: string) => void;
  readonly readStdin: () => Promise<string>;
  /** Standard output is a terminal: colours and rewritten lines are welcome. */
  readonly isTerminal: boolean;
}

export class Session {
  readonly deps: SessionDeps;
  readonly flags: Flags;
  /** The full name of the verb, such as `flyball rollout status`. */
  readonly verb: string;
  #target: Target | undefined;
  #api: Api | undefined;
  #mapper: Promise<Mapper> | undefined;
  #stdin: Promise<string> | undefined;
  readonly #warned = new Set<string>();
  constructor(deps: SessionDeps, flags: Flags, verb: string) {
    this.deps = deps;
    this.flags = flags;
    this.verb = verb;
  }

  get clock(): Clock {
    return this.deps.clock;
  }
  get signal(): AbortSignal {
    return this.deps.signal;
  }
  now(): Date {
    return this.deps.clock.now();
  }

  out(text: string | Buffer): void {
    this.deps.writeOut(text);
  }
  line(text: string): void {
    this.deps.writeOut(`${text}\n`);
  }
  err(text: string): void {
    this.deps.writeErr(`${text}\n`);
  }
  /** As the server's warnings are shown; each text once. */
  warn(text: string): void {
    if (this.#warned.has(text)) return;
    this.#warned.add(text);
    this.err(`Warning: ${text}`);
  }
  get warnings(): number {
    return this.#warned.size;
  }

  stdin(): Promise<string> {
    this.#stdin ??= this.deps.readStdin();
    return this.#stdin;
  }

  target(): Target {
    this.#target ??= connect(this.flags, this.deps.surroundings, (text) => this.warn(text));
    return this.#target;
  }
  /** For error messages; never fails. */
  get server(): string {
    return this.#target?.server ?? '';
  }
  get client(): Client {
    return this.target().client;
  }
  get api(): Api {
    this.#api ??= new Api(this.client);
    return this.#api;
  }

  /** The namespace to act in, and whether the caller named it. */
  namespace(): { readonly name: string; readonly explicit: boolean } {
    const explicit = this.flags.string('namespace');
    return explicit !== '' ? { name: explicit, explicit: true } : { name: this.target().namespace || 'default', explicit: false };
  }

  mapper(): Promise<Mapper> {
    this.#mapper ??= (async () => {
      const [{ discover }, { Mapper }] = await Promise.all([import('./discovery/discovery.ts'), import('./discovery/mapper.ts')]);
      return new Mapper(await discover(this.api), (text) => this.warn(text));
    })();
    return this.#mapper;
  }

  async close(): Promise<void> {
    await this.#target?.client.close();
  }
}
