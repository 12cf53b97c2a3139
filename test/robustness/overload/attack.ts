/** All kinds of overload one after the other, each on a server of its own, in the sizes that are promised; what was violated, and the figures. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Finding } from '../judge.ts';
import { runDisconnects } from './disconnects.ts';
import { percentile, runFlood } from './flood.ts';
import { bundleFloodedServer, type FloodedServer, startFloodedServer } from './server.ts';
import { runSlowLists } from './slow-lists.ts';
import { runUnreadWatches } from './unread-watches.ts';

const MAX_MIB = 512;
/** Where there are thousands of TLS connections, or as many bodies and answers as are let in. */
const MAX_FLOOD_MIB = 1024;
const DELAY_MS = 100;
const RECOVERY_MS = 10_000;

type Attack = (server: FloodedServer) => Promise<{ readonly judged: string; readonly broken: readonly (readonly [boolean, string])[] }>;

const mib = (value: number): string => `${Math.round(value)} MiB`;

const ATTACKS: Readonly<Record<string, Attack>> = {
  'W11 a thousand watches that nobody reads': async (server) => {
    const load = { sockets: 500, sessions: 5, streamsPerSession: 100, events: 10_000, eventBytes: 2_000 };
    const { rssMb, delaysMs, stillOpen, shown, firstRevision } = await runUnreadWatches(server, load);
    const p99 = percentile(delaysMs, 0.99);
    return {
      judged: `${delaysMs.length} events, most ${mib(rssMb.most)}, afterwards ${mib(rssMb.after)}, the reader's p99 ${p99.toFixed(1)} ms`,
      broken: [
        [delaysMs.length !== load.events, `who reads saw ${delaysMs.length} of ${load.events} events`],
        [stillOpen > 0, `${stillOpen} were not cut off`],
        [shown.some((revisions) => revisions.some((revision, i) => revision !== firstRevision + 1 + i)), 'one was shown a gap'],
        [rssMb.most > MAX_MIB, `the server took ${mib(rssMb.most)}`],
        [p99 > DELAY_MS, `who reads waited ${p99.toFixed(1)} ms (p99, from the request of the write on)`],
      ],
    };
  },
  'W11 watches that nobody reads and that share nothing': async (server) => {
    const load = { sockets: 300, sessions: 3, streamsPerSession: 100, events: 6_000, eventBytes: 3_000, distinct: true };
    const { rssMb, delaysMs, stillOpen } = await runUnreadWatches(server, load);
    return {
      judged: `${delaysMs.length} events, most ${mib(rssMb.most)}`,
      broken: [
        [stillOpen > 0, `${stillOpen} were not cut off`],
        [rssMb.most > MAX_MIB, `the server took ${mib(rssMb.most)}`],
      ],
    };
  },
  'O1, O2 a flood of 5,000 clients': async (server) => {
    const outcome = await runFlood(server, { clients: 5_000, floodMs: 60_000, objects: 10_000, objectBytes: 2_000 });
    const { codes, leases, health, administrator, rssMb, recoveryMs, delayP99Ms, p99Ms } = outcome;
    const most = Math.max(...leases.ms);
    return {
      judged: `${[...codes].map(([code, count]) => `${count} times ${code}`).join(' and ')}; most ${mib(rssMb.most)}; slowest renewal ${most.toFixed(0)} ms; event loop p99 ${delayP99Ms.toFixed(0)} ms; GET p99 ${p99Ms.before.toFixed(1)} then ${p99Ms.after.toFixed(1)} ms after ${recoveryMs.toFixed(0)} ms`,
      broken: [
        [leases.refused.length > 0, `${leases.refused.length} renewals were refused`],
        [most > RECOVERY_MS, `a renewal took ${most.toFixed(0)} ms`],
        [health.refused.length > 0, `${health.refused.length} probes were refused`],
        [administrator.refused.length > 0, `an administrator was refused ${administrator.refused.length} times`],
        [rssMb.most > MAX_FLOOD_MIB, `the server took ${mib(rssMb.most)}`],
        [recoveryMs > RECOVERY_MS, `it had not recovered after ${recoveryMs.toFixed(0)} ms`],
      ],
    };
  },
  'O2 a hundred slow readers of large lists': async (server) => {
    const { rssMb, cutOff } = await runSlowLists(server, { clients: 100, objects: 10_000, objectBytes: 2_000, ms: 10_000 });
    return {
      judged: `most ${mib(rssMb.most)}, ${cutOff} cut off`,
      broken: [[rssMb.most > MAX_FLOOD_MIB, `the server took ${mib(rssMb.most)}`]],
    };
  },
  'O2 100,000 clients that go away': async (server) => {
    const { heapMb, resources, openWatches } = await runDisconnects(server, 10_000);
    return {
      judged: `heap ${mib(heapMb.before)} then ${mib(heapMb.after)}, ${resources.before} then ${resources.after} resources`,
      broken: [
        [openWatches > 0, `${openWatches} watches stayed`],
        [heapMb.after > heapMb.before + 20, `the heap grew from ${mib(heapMb.before)} to ${mib(heapMb.after)}`],
      ],
    };
  },
};

export async function attackByOverload(tell: (line: string) => void): Promise<Finding[]> {
  const bundle = await bundleFloodedServer();
  const findings: Finding[] = [];
  try {
    for (const [name, attack] of Object.entries(ATTACKS)) {
      const directory = mkdtempSync(join(tmpdir(), 'flyball-overload-'));
      const server = await startFloodedServer(bundle.path, directory);
      try {
        const { judged, broken } = await attack(server);
        findings.push({ name, judged, violations: broken.filter(([is]) => is).map(([, what]) => what) });
        tell(`${name}: ${judged}`);
      } finally {
        server.signal('SIGKILL');
        await server.ended;
        rmSync(directory, { recursive: true, force: true });
      }
    }
  } finally {
    bundle.remove();
  }
  return findings;
}
