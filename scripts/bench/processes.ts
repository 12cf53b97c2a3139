/** What the processes of a cluster take of the machine. Linux only: everything is read from /proc. */
import { readFileSync } from 'node:fs';
import type { Cluster } from '../../cluster/cluster.ts';

export interface Usage {
  readonly name: string;
  readonly rssMb: number;
  /** Shared pages are divided among those who share them: the sum is what the machine really gives. */
  readonly pssMb: number;
  readonly cpuSeconds: number;
}

const TICKS_PER_SECOND = 100;

export async function usages(cluster: Cluster): Promise<Usage[]> {
  const processes = await cluster.processes();
  return processes.flatMap(({ name, pid }) => (pid === undefined ? [] : [{ name, ...usageOf(pid) }]));
}

function usageOf(pid: number): Omit<Usage, 'name'> {
  const memory = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const mb = (what: string): number => Number(new RegExp(`^${what}:\\s+(\\d+)`, 'm').exec(memory)?.[1] ?? 0) / 1024;
  return { rssMb: mb('Rss'), pssMb: mb('Pss'), cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND };
}

export const sum = (all: readonly Usage[], what: 'rssMb' | 'pssMb' | 'cpuSeconds'): number =>
  all.reduce((total, usage) => total + usage[what], 0);

/** `cpu-s: apiserver 4.1, controllers 1.2`: what was used between two looks; the kubelets together. */
export function cpuBetween(before: readonly Usage[], after: readonly Usage[]): string {
  const used = new Map<string, number>();
  for (const { name, cpuSeconds } of after) {
    const kind = name.startsWith('kubelet') ? 'kubelet' : name;
    const since = before.find((usage) => usage.name === name)?.cpuSeconds ?? 0;
    used.set(kind, (used.get(kind) ?? 0) + cpuSeconds - since);
  }
  return `cpu-s: ${[...used].map(([name, seconds]) => `${name} ${seconds.toFixed(1)}`).join(', ')}`;
}
