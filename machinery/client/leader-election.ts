/**
 * One acts, the others wait: leadership through a Lease. Mirrors client-go `tools/leaderelection`: same fields, same defaults (15 s lease, 10 s renew
 * deadline, 2 s retry), release on a tidy end.
 *
 * Three additions. Leadership lost is stood for again (see `lead`). A holder on this machine whose process is gone is not waited for: after a crash the next process acts at once. And leadership is
 * measured on the monotonic clock from before the last successful renewal was sent, so that a process that was stopped for a minute knows at once
 * that it is no longer leader (see `fence`).
 *
 * Invariant: `held()` is true for at most the renew deadline after a renewal, which is shorter than the lease others wait for.
 */
import { setMaxListeners } from 'node:events';
import { hostname } from 'node:os';
import { isReason } from '../api/status.ts';
import { formatMicroTime } from '../api/time.ts';
import type { Lease } from '../api/types/coordination.k8s.io.v1.ts';
import type { Clock } from '../process/clock.ts';
import { asyncFailpoint } from '../process/failpoints.ts';
import type { Logger } from '../process/logger.ts';
import { mutant } from '../process/mutants.ts';
import type { Random } from '../process/random.ts';
import { Backoff } from './backoff.ts';
import type { Client } from './client.ts';
import { leases } from './resource-type.ts';

export interface LeaderElectionConfig {
  readonly client: Client;
  readonly namespace: string;
  /** Of the Lease: `kube-controller-manager`. */
  readonly name: string;
  /** Default: of this process, see `processIdentity`. */
  readonly identity?: string;
  readonly leaseDurationMs?: number;
  readonly renewDeadlineMs?: number;
  readonly retryPeriodMs?: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** Is the process with this number alive on this machine? Default: asks the system. */
  readonly isAlive?: (pid: number) => boolean;
}

export interface Leadership {
  /** Aborted when leadership is lost or the process must stop. */
  readonly signal: AbortSignal;
  /** False from the moment another may lead. */
  held(): boolean;
}

/** Less than what lies between the renew deadline and the end of the lease, by the defaults. */
const LOST_DRAIN_MS = 3_000;

/** Leadership ended against our will: whoever has it now must not meet us. */
export class LeaseLostError extends Error {}

/**
 * Waits to become leader, does `work`, and gives the lease back when that ends or the signal aborts. When leadership is lost meanwhile, `work` is told to
 * end and, once it has, we stand for election again: an API server that was away for a while costs nobody a restart. Work that does not end in time
 * could meet its successor: then it rejects with LeaseLostError, and the process must end.
 */
export async function lead(config: LeaderElectionConfig, work: (leadership: Leadership) => Promise<void>): Promise<void> {
  const election = new Election(config);
  while (await election.acquire()) {
    const lost = await term(config, election, work);
    if (lost === undefined) return;
    config.logger.error({ err: lost, lease: config.name }, 'lost leadership, standing for election again');
  }
}

/** One time of being leader. Returns why it was lost, or undefined when the work ended by itself or by the signal. */
async function term(config: LeaderElectionConfig, election: Election, work: (leadership: Leadership) => Promise<void>): Promise<unknown> {
  const ended = new AbortController();
  const signal = AbortSignal.any([config.signal, ended.signal]);
  setMaxListeners(0, signal); // all the work of the process listens to it
  const renewing = election.renewUntil(signal).then(
    () => undefined,
    (error: unknown) => {
      ended.abort(error);
      return error;
    },
  );
  const working = work({ signal, held: () => election.held() }).finally(() => ended.abort(new Error('the work of the leader has ended')));
  const settled = working.then(
    () => undefined,
    () => undefined,
  );
  const lost = await renewing;
  if (lost === undefined) {
    await working.finally(() => election.release());
    return undefined;
  }
  const stuck = config.clock.sleep(LOST_DRAIN_MS).then(() => true);
  if (await Promise.race([settled, stuck])) throw new LeaseLostError(`leader election lost: ${config.name}`, { cause: lost });
  return lost;
}

/** Identities of this process, so that several components in one process do not take each other for dead. */
const living = new Set<string>();

/** `<host>_<pid>_<suffix>`: unique per start, and tells others on this machine where to look whether we live. */
export function processIdentity(random: Random): string {
  return `${hostname()}_${process.pid}_${random.suffix(8)}`;
}

const second = (ms: number): number => Math.max(1, Math.round(ms / 1000));

class Election {
  readonly #config: LeaderElectionConfig;
  readonly #identity: string;
  readonly #durationMs: number;
  readonly #deadlineMs: number;
  readonly #retryMs: number;
  /** The lease as last seen, and when its renewTime was first seen with this value. */
  #seen: { lease: Lease; atMs: number } | undefined;
  #renewedMs = Number.NEGATIVE_INFINITY;

  constructor(config: LeaderElectionConfig) {
    this.#config = config;
    this.#identity = config.identity ?? processIdentity(config.random);
    this.#durationMs = config.leaseDurationMs ?? 15_000;
    this.#deadlineMs = config.renewDeadlineMs ?? 10_000;
    this.#retryMs = config.retryPeriodMs ?? 2_000;
    if (this.#durationMs <= this.#deadlineMs) throw new Error('leaseDuration must be greater than renewDeadline');
    if (this.#deadlineMs <= this.#retryMs * 1.2) throw new Error('renewDeadline must be greater than retryPeriod*JitterFactor');
  }

  held(): boolean {
    if (mutant('lease.wall-clock')) return this.#config.clock.now().getTime() - this.#renewedMs < this.#deadlineMs;
    return this.#config.clock.monotonicMs() - this.#renewedMs < this.#deadlineMs;
  }

  /** False when the signal came first. */
  async acquire(): Promise<boolean> {
    const { clock, signal, logger, name } = this.#config;
    living.add(this.#identity);
    const backoff = new Backoff(this.#config);
    logger.info({ lease: name, identity: this.#identity }, 'attempting to acquire leader lease');
    while (!signal.aborted) {
      let waitMs = this.#retryMs * (1 + 0.2 * this.#config.random.next());
      try {
        if (await within(this.#tryHold(), this.#deadlineMs, { clock, signal })) {
          logger.info({ lease: name, identity: this.#identity }, 'became leader');
          return true;
        }
        backoff.reset();
      } catch (error) {
        logger.debug({ err: error, lease: name }, 'could not acquire lease');
        waitMs = Math.min(backoff.next(error), this.#retryMs * 1.2);
      }
      await clock.sleep(waitMs, signal).catch(() => undefined);
    }
    living.delete(this.#identity);
    return false;
  }

  /** Settles at the abort; rejects when the lease could not be renewed in time or somebody else has it. */
  async renewUntil(signal: AbortSignal): Promise<void> {
    const { clock, logger, name } = this.#config;
    while (!signal.aborted) {
      await clock.sleep(this.#retryMs, signal).catch(() => undefined);
      if (signal.aborted) return;
      await asyncFailpoint('lease.before-renew');
      let lost: unknown;
      try {
        // a request that hangs must not keep us believing
        if (!(await within(this.#tryHold(), this.#renewedMs + this.#deadlineMs - clock.monotonicMs(), { clock, signal })))
          lost = new Error(`lease ${name} is held by ${this.#holder()}`);
      } catch (error) {
        if (signal.aborted) return;
        logger.warn({ err: error, lease: name }, 'could not renew lease');
        if (!this.held()) lost = error;
      }
      if (lost !== undefined) throw new LeaseLostError(`leader election lost: ${name}`, { cause: lost });
    }
  }

  /** Lets another take over at once. Does nothing when we do not hold it. */
  async release(): Promise<void> {
    living.delete(this.#identity);
    if (!this.held() || this.#holder() !== this.#identity || !this.#seen) return;
    this.#renewedMs = Number.NEGATIVE_INFINITY;
    const now = formatMicroTime(this.#config.clock.now());
    const { lease } = this.#seen;
    const released: Lease = {
      ...lease,
      spec: { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: now, acquireTime: now },
    };
    try {
      await within(this.#config.client.update(leases, released), this.#retryMs, { clock: this.#config.clock });
    } catch (error) {
      this.#config.logger.debug({ err: error }, 'could not release lease');
    }
  }

  #holder(): string {
    return this.#seen?.lease.spec?.holderIdentity ?? '';
  }

  /** Creates, renews or takes the lease. False when another holds it. */
  async #tryHold(): Promise<boolean> {
    const { client, clock, namespace, name } = this.#config;
    const sentMs = clock.monotonicMs();
    let lease = this.#holder() === this.#identity ? this.#seen!.lease : await this.#read();
    const now = formatMicroTime(clock.now());
    if (lease === undefined) {
      const spec = {
        holderIdentity: this.#identity,
        leaseDurationSeconds: second(this.#durationMs),
        acquireTime: now,
        renewTime: now,
        leaseTransitions: 0,
      };
      lease = await client.create(leases, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name, namespace }, spec });
      return this.#renewed(lease, sentMs);
    }
    const mine = lease.spec?.holderIdentity === this.#identity;
    if (!mine && !this.#isFree(lease)) return false;
    const spec = {
      ...lease.spec,
      holderIdentity: this.#identity,
      leaseDurationSeconds: second(this.#durationMs),
      renewTime: now,
      ...(!mine && { acquireTime: now, leaseTransitions: (lease.spec?.leaseTransitions ?? 0) + 1 }),
    };
    try {
      return this.#renewed(await client.update(leases, { ...lease, spec }), sentMs);
    } catch (error) {
      // somebody else wrote it: look before the next try
      if (isReason(error, 'Conflict', 'NotFound')) this.#seen = undefined;
      throw error;
    }
  }

  async #read(): Promise<Lease | undefined> {
    const { client, clock, namespace, name } = this.#config;
    try {
      const lease = await client.get(leases, { namespace, name });
      const before = this.#seen?.lease.spec;
      const same = before?.holderIdentity === lease.spec?.holderIdentity && before?.renewTime === lease.spec?.renewTime;
      this.#seen = { lease, atMs: same && this.#seen ? this.#seen.atMs : clock.monotonicMs() };
      return lease;
    } catch (error) {
      if (!isReason(error, 'NotFound')) throw error;
      this.#seen = undefined;
      return undefined;
    }
  }

  #renewed(lease: Lease, sentMs: number): true {
    this.#seen = { lease, atMs: sentMs };
    this.#renewedMs = mutant('lease.wall-clock') ? this.#config.clock.now().getTime() : sentMs;
    return true;
  }

  /** Nobody holds it; or its holder has not renewed it for its duration while we watched; or was a process of this machine that is gone. */
  #isFree(lease: Lease): boolean {
    const holder = lease.spec?.holderIdentity;
    if (!holder) return true;
    const durationMs = (lease.spec?.leaseDurationSeconds ?? 0) * 1000;
    if (this.#config.clock.monotonicMs() >= (this.#seen?.atMs ?? 0) + durationMs) return true;
    return this.#isDead(holder);
  }

  #isDead(holder: string): boolean {
    const match = /^(.+)_(\d+)_[^_]+$/.exec(holder);
    if (!match || match[1] !== hostname() || living.has(holder)) return false;
    const pid = Number(match[2]);
    return pid === process.pid || !(this.#config.isAlive ?? isAlive)(pid);
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/** Rejects when the promise has not settled in time, or at the abort. */
async function within<T>(
  promise: Promise<T>,
  ms: number,
  { clock, signal }: { readonly clock: Clock; readonly signal?: AbortSignal },
): Promise<T> {
  const settled = new AbortController();
  promise.catch(() => undefined);
  try {
    return await Promise.race([
      promise,
      clock.sleep(ms, signal ? AbortSignal.any([signal, settled.signal]) : settled.signal).then(() => {
        throw new Error(
          ms > 0 ? `no answer within ${Math.round(ms)} ms` : 'the time for a renewal had passed: this process did not run for a while',
        );
      }),
    ]);
  } finally {
    settled.abort(new Error('settled'));
  }
}
