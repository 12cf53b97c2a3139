/**
 * A slice of `npm run robustness`: the API server alone, killed, cut off from power, with failing disks, a broken network and crashes at named places, under traffic; nothing
 * that was acknowledged or shown is lost, and no watch has a gap. The store alone is attacked in store/.
 */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { test } from 'node:test';
import { systemRandom } from '../../machinery/process/random.ts';
import { faultNamed } from './faults.ts';
import { violationsOf } from './judge.ts';
import { recheck, runBatches, summary } from './run.ts';

const SLICE = [
  {
    compacting: false,
    faults: ['kill', 'slow-disk-then-power-cut', 'crash:store.after-batch', 'fsync-EIO', 'network:lost-answers', 'crash:watch.mid-fanout'],
  },
  { compacting: true, faults: ['power-cut', 'crash:compact.after-commit', 'write-ENOSPC', 'crash:store.before-ack', 'stop-1s'] },
];

const seedOf = (): number => Number(process.env['FLYBALL_SEED'] ?? systemRandom.integer(1_000_000));

for (const { compacting, faults } of SLICE) {
  test(`nothing is lost and no watch has a gap through ${faults.join(', ')}${compacting ? ', while history is let go' : ''}`, async (t) => {
    const seed = seedOf();
    t.diagnostic(`seed ${seed}`);
    const verdict = await runBatches({
      batches: [{ compacting, faults: faults.map(faultNamed) }],
      seed,
      keep: true,
      patience: 1,
      tell: (line) => t.diagnostic(line),
    });
    const again = `npm run robustness -- --faults ${faults.join(',')}${compacting ? ' --compacting' : ''} --seed ${seed}`;
    assert.deepEqual(violationsOf(verdict.findings), [], `${summary(verdict)}\nrepeat it with: ${again}`);
    const [directory] = verdict.kept as [string];
    const rechecked = recheck(directory);
    assert.deepEqual(rechecked, verdict.findings.slice(-rechecked.length), 'the evidence alone leads to the same verdict');
    rmSync(directory, { recursive: true });
  });
}
