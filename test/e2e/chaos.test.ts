/** A short chaos run with one fault of each kind: nothing is violated, and every check had something to judge. The long one is `npm run chaos`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeFault, type Fault } from '../../scripts/chaos/faults.ts';
import { runChaos } from '../../scripts/chaos/run.ts';

const everything = ['apiserver', 'controllers', 'scheduler', 'kubelet-node-1', 'kubelet-node-2'];
const FAULTS: readonly Fault[] = [
  { kind: 'kill', processes: ['controllers'], afterMs: 800, holdMs: 300, whileStarting: { kind: 'kill', afterMs: 200 } },
  { kind: 'kill', processes: ['apiserver'], afterMs: 400, holdMs: 200, whileStarting: { kind: 'freeze', afterMs: 150 } },
  { kind: 'freeze', processes: ['scheduler', 'kubelet-node-1'], afterMs: 300, holdMs: 800 },
  { kind: 'freeze', processes: ['apiserver', 'controllers'], afterMs: 400, holdMs: 1000 },
  { kind: 'freeze-kill', processes: ['kubelet-node-2', 'controllers'], afterMs: 400, holdMs: 300 },
  { kind: 'kill', processes: everything, afterMs: 500, holdMs: 200 },
];
/** Only a slow machine comes near. */
const SECONDS = 60;

test('killing and freezing under traffic violates nothing', async (t) => {
  const seed = Number(process.env.FLYBALL_SEED ?? Date.now() % 1e6);
  t.diagnostic(`seed ${seed}`);
  const told: string[] = [];
  const verdict = await runChaos({ seconds: SECONDS, seed, nodes: 2, only: [], faults: FAULTS, tell: (line) => told.push(line) });
  const violated = verdict.checks.filter(({ violations }) => violations.length > 0);
  assert.deepEqual(violated, [], `histories: ${verdict.kept}\n${told.join('\n')}`);
  t.diagnostic(JSON.stringify(verdict.figures));
  for (const fault of FAULTS) assert.ok(told.includes(describeFault(fault)), `not injected: ${describeFault(fault)}`);
  assert.ok(verdict.figures['writes acknowledged']! > 50, 'there was something to lose');
  assert.ok(
    verdict.checks.every(({ judged }) => !judged.startsWith('0 ')),
    'every check had something to judge',
  );
});
