/**
 * What happens to the API server under test. A fault may need to be prepared when the process starts (failpoints, a tracer); it strikes under traffic,
 * and leaves the server dead or alive. `why` says when a fault cannot be made here.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { Random } from '../../machinery/process/random.ts';
import { sleep } from '../../scripts/chaos/history.ts';
import { syncedIn, syncedLength } from './journal.ts';
import type { Network } from './network.ts';
import { cutPower, type Flushed } from './power-cut.ts';
import type { Server, Start } from './server.ts';

export interface Fault {
  readonly name: string;
  /** How the process is started whose life this fault ends or disturbs. */
  start?(random: Random, server: Server): Start;
  /** Strikes; returns what it did. Called after a second of traffic. */
  strike(server: Server, random: Random, directory: string): Promise<string>;
  /** Of nothing that could be cut back to what was flushed. */
  readonly lives?: true;
  /** The server may answer 500 and log that it ends. */
  readonly writeFails?: true;
  /** It fails the group that somebody waits for: who does must be answered 500. (A tracer may also hit a flush that nobody waits for.) */
  readonly isTold?: true;
  /** Needs history to be let go. */
  readonly compacting?: true;
  readonly skipped?: string;
}

/** How long an armed fault may take to be reached before the cycle counts as void. */
const REACH_MS = 8_000;

const kill: Fault = {
  name: 'kill',
  strike: async (server, random) => {
    await sleep(random.integer(400));
    await server.kill();
    return 'killed';
  },
};

const flushedIn =
  (directory: string): Flushed =>
  (file) =>
    syncedLength(syncedIn(directory), file);

const powerCut: Fault = {
  name: 'power-cut',
  strike: async (server, random, directory) => {
    await sleep(random.integer(400));
    await server.kill();
    return `power cut: ${cutPower(server.store, flushedIn(directory), random)}`;
  },
};

/** Frozen and thawed. */
const stop = (seconds: number): Fault => ({
  name: `stop-${seconds}s`,
  lives: true,
  strike: async (server) => {
    server.signal('SIGSTOP');
    await sleep(seconds * 1000);
    server.signal('SIGCONT');
    return `frozen for ${seconds} s`;
  },
});

async function awaitEnd(server: Server): Promise<string> {
  if (await server.ended(REACH_MS)) return `ended by ${server.end}`;
  await server.kill();
  return 'not reached';
}

/** Failpoints of the API server and how often traffic passes them in a second, so that they act after one to two seconds. 0: at once, which may be at the start. */
const POINTS: readonly { readonly name: string; readonly rate: number; readonly compacting?: true }[] = [
  { name: 'store.before-batch', rate: 120 },
  { name: 'store.after-batch', rate: 120 },
  { name: 'store.before-publish', rate: 120 },
  { name: 'store.before-ack', rate: 120 },
  { name: 'watch.mid-fanout', rate: 200 },
  { name: 'watch.before-bookmark', rate: 5 },
  { name: 'watch.after-state', rate: 2 },
  { name: 'watch.before-live', rate: 25 },
  { name: 'list.between-pages', rate: 10 },
  { name: 'mark.before-note', rate: 120 },
  { name: 'mark.after-note', rate: 120 },
  { name: 'compact.before-commit', rate: 3, compacting: true },
  { name: 'compact.after-commit', rate: 3, compacting: true },
  { name: 'compact.mid-slices', rate: 3, compacting: true },
  { name: 'recovery.mid', rate: 0 },
];

const crashes: readonly Fault[] = POINTS.map(({ name, rate, compacting }) => ({
  name: `crash:${name}`,
  ...(compacting && { compacting }),
  start: (random) => ({ failpoints: `${name}=${rate + random.integer(rate + 1)}+1*crash` }),
  strike: awaitEnd,
}));

const failing = (name: string, point: string, text: string): Fault => ({
  name,
  writeFails: true,
  isTold: true,
  start: (random) => ({ failpoints: `${point}=${120 + random.integer(120)}+1*error(${text})` }),
  strike: awaitEnd,
});

const slowFsync: Fault = {
  name: 'slow-fsync',
  lives: true,
  start: (random) => ({ failpoints: `store.after-batch=${120 + random.integer(60)}+2*sleep(2000)` }),
  strike: async () => {
    await sleep(5_000);
    return 'two flushes took 2 s each';
  },
};

/** Each group waits for the disk, and the power goes while it waits: what was shown or acknowledged too early is lost. */
const slowDiskAndPowerCut: Fault = {
  ...powerCut,
  name: 'slow-disk-then-power-cut',
  start: () => ({ failpoints: 'store.before-batch=sleep(30)' }),
};

const broken = (name: string, how: (network: Network, random: Random) => Promise<string>): Fault => ({
  name: `network:${name}`,
  lives: true,
  strike: (server, random) => how(server.network, random),
});

/** Of the clients that come over TCP, which is every second one. */
const networks: readonly Fault[] = [
  broken('blackhole', async (network) => {
    network.hold('all');
    await sleep(3_000);
    network.release();
    return 'nothing arrived for 3 s';
  }),
  // writes happen, and nobody is told
  broken('lost-answers', async (network, random) => {
    for (let i = 0; i < 5; i++) {
      network.hold('answers');
      await sleep(50 + random.integer(200));
      network.reset();
      await sleep(random.integer(200));
    }
    return 'answers were lost five times';
  }),
  broken('reset', async (network, random) => {
    for (let i = 0; i < 10; i++) {
      network.reset();
      await sleep(random.integer(300));
    }
    return 'all connections broke ten times';
  }),
  broken('trickle', async (network) => {
    await network.trickle(1_000, 3_000);
    return '1 KB/s for 3 s';
  }),
];

/** Real system calls that fail, by a tracer. They are counted by thread: the fourth is soon enough. */
function traced(name: string, inject: string, onLogs: boolean): Fault {
  const call = inject.slice(0, inject.indexOf(':'));
  const skipped = straceProblem();
  return {
    name,
    writeFails: true,
    ...(skipped !== undefined && { skipped }),
    start: (random, server) => {
      const logs = onLogs
        ? Array.from({ length: 200 }, (_, i) => ['-P', join(server.store, 'db', `${String(i + 1).padStart(6, '0')}.log`)])
        : [];
      const when = `when=${40 + random.integer(40)}+`;
      return {
        under: [
          'strace',
          '-f',
          '--seccomp-bpf',
          '-qqq',
          '-o',
          '/dev/null',
          ...logs.flat(),
          '-e',
          `trace=${call}`,
          '-e',
          `inject=${inject}:${when}`,
        ],
      };
    },
    strike: awaitEnd,
  };
}

/** After a failed flush nothing is known of what the disk has: what was not flushed goes, too. */
function andPowerCut(fault: Fault): Fault {
  return {
    ...fault,
    name: `${fault.name}-then-power-cut`,
    strike: async (server, random, directory) => {
      const end = await fault.strike(server, random, directory);
      return `${end}; power cut: ${cutPower(server.store, flushedIn(directory), random)}`;
    },
  };
}

let straceAnswer: { readonly problem: string | undefined } | undefined;
function straceProblem(): string | undefined {
  straceAnswer ??= {
    problem:
      spawnSync('strace', ['-f', '--seccomp-bpf', '-qqq', '-o', '/dev/null', '-e', 'trace=fdatasync', 'true']).status === 0
        ? undefined
        : 'strace is missing or may not trace',
  };
  return straceAnswer.problem;
}

export function allFaults(): readonly Fault[] {
  return [
    kill,
    powerCut,
    ...crashes,
    failing('write-EIO', 'store.before-batch', 'IO error: Input/output error'),
    failing('write-ENOSPC', 'store.before-batch', 'IO error: No space left on device'),
    failing('fsync-EIO', 'store.after-batch', 'IO error: Input/output error'),
    slowFsync,
    slowDiskAndPowerCut,
    ...networks,
    traced('strace:fdatasync-EIO', 'fdatasync:error=EIO', false),
    andPowerCut(traced('strace:fdatasync-EIO', 'fdatasync:error=EIO', false)),
    traced('strace:write-ENOSPC', 'write:error=ENOSPC', true),
    stop(1),
    stop(5),
    stop(16),
    stop(60),
  ];
}

export function faultNamed(name: string): Fault {
  const fault = allFaults().find((each) => each.name === name);
  if (fault === undefined)
    throw new Error(
      `there is no fault "${name}"; there are ${allFaults()
        .map((each) => each.name)
        .join(', ')}`,
    );
  return fault;
}
