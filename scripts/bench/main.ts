/**
 * `npm run bench`: the figures the README names, on a real cluster of processes, beside a calibration of the machine in the same run.
 * A table for people on stdout; `--json FILE` writes the same for machines. Never run as a test: figures of a noisy machine prove nothing alone.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { calibrate } from './calibration.ts';
import { applyReplicas, createPods, type Figure, idle, round, startBench } from './figures.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'flyball-bench-'));
const calibration = await calibrate();
const { cluster, client, readyMs } = await startBench(dataDir);
const figures: Figure[] = [
  { name: 'all processes ready from an empty directory', value: round(readyMs / 1000), unit: 's', target: 1.5, better: 'lower' },
];
try {
  await new Promise((resolve) => setTimeout(resolve, 10_000)); // what a start leaves to do is not idling
  figures.push(...(await idle(cluster)));
  figures.push(await applyReplicas(client, 100));
  figures.push(await createPods(cluster, calibration, 1));
  figures.push(await createPods(cluster, calibration, 64));
} finally {
  await client.close();
  await cluster.stopAll();
  rmSync(dataDir, { recursive: true, force: true });
}

function judged({ better, value }: Figure, target: number): string {
  const met = better === 'lower' ? value <= target : value >= target;
  return `${better === 'lower' ? 'at most' : 'at least'} ${target}${met ? '' : '  MISSED'}`;
}

function line(figure: Figure): string {
  const goal = figure.target === undefined ? '' : judged(figure, figure.target);
  const ratio = figure.ratio ? `  (${figure.ratio.value} × ${figure.ratio.to})` : '';
  return `${figure.name.padEnd(46)}${`${figure.value} ${figure.unit}`.padStart(18)}   ${goal}${ratio}`;
}

console.log(`calibration: ${calibration.httpGetsPerSecond} bare HTTP GETs/s, ${calibration.fdatasyncsPerSecond} fdatasyncs/s\n`);
for (const figure of figures) console.log(line(figure));
const jsonAt = process.argv.indexOf('--json');
if (jsonAt > 0) writeFileSync(process.argv[jsonAt + 1]!, `${JSON.stringify({ calibration, figures }, null, 2)}\n`);
