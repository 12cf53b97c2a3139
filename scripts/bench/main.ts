/**
 * `npm run bench`: how fast the API server and a whole cluster of processes are, beside what this machine can do at best, measured in the same run.
 *
 *   npm run bench                          everything; about half an hour
 *   npm run bench -- --quick               smaller sizes, shorter times: some minutes
 *   npm run bench -- --only start,replicas of: start, api, replicas, large, etcd
 *   npm run bench -- --json FILE           the same for machines
 *
 * Never run as a test: figures of a noisy machine prove nothing alone. docs/performance.md says what each figure is and how it grows.
 */
import { writeFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { apiFigures, apiStarts } from './api-figures.ts';
import { type Calibration, calibrate } from './calibration.ts';
import { replicas, type Size, startAndIdle } from './cluster-figures.ts';
import { etcdFigures } from './etcd.ts';
import { type Figure, line } from './figure.ts';

const { values } = parseArgs({
  options: { only: { type: 'string', default: '' }, quick: { type: 'boolean', default: false }, json: { type: 'string' } },
});
const { quick } = values;

const SIZES: readonly Size[] = [
  { nodes: 3, replicas: 100, targetSeconds: 0.5 },
  { nodes: 100, replicas: 1000, targetSeconds: 1.5 },
  { nodes: 1000, replicas: 10_000, targetSeconds: 8 },
];
/** In as many Deployments as a large cluster has, not in one. */
const LARGE: Size = { nodes: 5000, replicas: 100_000, deployments: 100, targetSeconds: 90, targetMb: 600 };

const seconds = quick ? 2 : 5;
const SECTIONS: Readonly<Record<string, (calibration: Calibration) => AsyncIterable<readonly Figure[]>>> = {
  async *start() {
    yield await startAndIdle(quick ? 5000 : 15_000);
    yield await apiStarts(quick ? 10_000 : 100_000);
  },
  async *api(calibration) {
    yield await apiFigures({ calibration, seconds, lists: quick ? [1000, 10_000] : [1000, 10_000, 100_000] });
  },
  async *replicas() {
    for (const size of quick ? SIZES.slice(0, 2) : SIZES) yield await replicas(size);
  },
  async *large() {
    if (!quick) yield await replicas(LARGE);
  },
  async *etcd() {
    yield await etcdFigures(seconds);
  },
};

const only = values.only.split(',').filter(Boolean);
const unknown = only.filter((name) => !Object.hasOwn(SECTIONS, name));
if (unknown.length > 0) throw new Error(`--only knows ${Object.keys(SECTIONS).join(', ')}, not ${unknown.join(', ')}`);

const load = loadavg()[0]!.toFixed(1);
const calibration = await calibrate();
console.log(`${availableParallelism()} processors, load ${load} before the start, Node ${process.version}`);
console.log(`calibration: ${calibration.httpGetsPerSecond} bare HTTP GETs/s, ${calibration.fdatasyncsPerSecond} fdatasyncs/s\n`);
const figures: Figure[] = [];
for (const [name, measure] of Object.entries(SECTIONS)) {
  if (only.length > 0 && !only.includes(name)) continue;
  for await (const found of measure(calibration)) {
    figures.push(...found);
    for (const figure of found) console.log(line(figure));
  }
}
if (values.json) writeFileSync(values.json, `${JSON.stringify({ load, node: process.version, calibration, figures }, null, 2)}\n`);
