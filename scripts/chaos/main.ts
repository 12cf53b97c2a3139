/**
 * Kills and freezes the processes of a cluster under traffic and says what was violated:
 *
 *   npm run chaos                                   60 seconds, a new seed, 3 nodes
 *   npm run chaos -- --seconds 300 --nodes 5
 *   npm run chaos -- --seed 42                      the same faults and the same traffic again
 *   npm run chaos -- --only scheduler,controllers   faults hit these only; `kubelet` is all nodes, `node-1` is one
 *   npm run chaos -- --keep                         keep data, logs and histories even when all is well
 *   npm run chaos -- --json FILE                    the verdict for machines
 *
 * Ends with 1 on any violation, and names the directory with the data, the logs and the histories that prove it.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type Check, runChaos, type Verdict } from './run.ts';

/** Of one check; the histories have them all. */
const SHOWN = 5;

function wholeNumber(flag: string, text: string, least: number): number {
  if (!/^\d{1,9}$/.test(text) || Number(text) < least)
    throw new Error(`--${flag} needs a whole number from ${least} on, not ${JSON.stringify(text)}`);
  return Number(text);
}

function row({ name, judged, violations }: Check): string {
  const shown = violations.slice(0, SHOWN).map((violation) => `\n    ${violation}`);
  const more = violations.length > SHOWN ? `\n    and ${violations.length - SHOWN} more` : '';
  return `${violations.length === 0 ? 'ok  ' : 'FAIL'}  ${name.padEnd(36)}${String(violations.length).padStart(6)}   of ${judged}${shown.join('')}${more}`;
}

function table({ checks, figures, ok, seed, kept }: Verdict, asked: string): string {
  const again = ok ? '' : `; repeat it with: npm run chaos -- ${asked}`;
  return [
    '',
    Object.entries(figures)
      .map(([what, count]) => `${count} ${what}`)
      .join(', '),
    '',
    ...checks.map(row),
    '',
    `${ok ? 'nothing was violated' : 'VIOLATED'} (seed ${seed})${again}`,
    ...(kept ? [`data, logs and histories: ${kept}`] : []),
  ].join('\n');
}

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(Number(process.hrtime.bigint() % 1_000_000n)) },
    nodes: { type: 'string', default: '3' },
    only: { type: 'string', default: '' },
    keep: { type: 'boolean', default: false },
    json: { type: 'string' },
  },
});
const seed = wholeNumber('seed', values.seed, 0);
console.log(`seed ${seed}`);
const start = performance.now();
const verdict = await runChaos({
  seconds: wholeNumber('seconds', values.seconds, 1),
  seed,
  nodes: wholeNumber('nodes', values.nodes, 1),
  only: values.only.split(',').filter((name) => name !== ''),
  keep: values.keep,
  tell: (line) => console.log(`${((performance.now() - start) / 1000).toFixed(1).padStart(6)} s  ${line}`),
});
const only = values.only === '' ? '' : ` --only ${values.only}`;
console.log(table(verdict, `--seconds ${values.seconds} --seed ${seed} --nodes ${values.nodes}${only}`));
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(verdict, null, 2)}\n`);
process.exitCode = verdict.ok ? 0 : 1;
