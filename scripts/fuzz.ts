/**
 * Runs the fuzz properties for minutes, each round from a new seed:
 *
 *   npm run fuzz                          4 minutes
 *   npm run fuzz -- --minutes 10
 *   npm run fuzz -- --seed 42             one round from this seed, to repeat a failure
 *   npm run fuzz -- --only selector       properties whose name says so
 *
 * The properties run in a child process, so that one that never comes back is named and stopped. Every failure prints the seed and the smallest input found.
 */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { fuzzProperties } from '../test/fuzz/properties.ts';

interface Asked {
  readonly minutes: number;
  readonly seed: number | undefined;
  readonly only: string;
}

type Report =
  | { readonly type: 'started'; readonly name: string; readonly seed: number }
  | { readonly type: 'failed'; readonly name: string; readonly seed: number; readonly message: string }
  | { readonly type: 'round'; readonly round: number; readonly seed: number; readonly cases: number };

/** Set for the process that runs the properties. */
const CHILD = 'FUZZ_CHILD';
/** A property that has not ended one round by then hangs. */
const HANG_MS = 120_000;
/** Cases of one property in a round, against those of `npm test`. */
const DEEPER = 5;

function readArguments(argv: readonly string[]): Asked {
  const asked = { minutes: 4, seed: undefined as number | undefined, only: '' };
  for (let i = 0; i < argv.length; i++) {
    const [flag, inline] = argv[i]!.split('=', 2) as [string, string | undefined];
    const value = inline ?? argv[++i] ?? '';
    if (flag === '--only') asked.only = value;
    else if (flag !== '--minutes' && flag !== '--seed')
      throw new Error(`unknown argument ${flag}; known: --minutes N, --seed S, --only TEXT`);
    else if (!/^\d+(\.\d+)?$/.test(value)) throw new Error(`${flag} needs a number, not ${JSON.stringify(value)}`);
    else if (flag === '--minutes') asked.minutes = Number(value);
    else asked.seed = Number(value);
  }
  return asked;
}

function work({ minutes, seed, only }: Asked): void {
  const report = (message: Report): void => void process.send!(message);
  const chosen = fuzzProperties.filter(({ name }) => name.includes(only));
  const end = performance.now() + minutes * 60_000;
  const first = seed ?? Number(process.hrtime.bigint() % 1_000_000_000n);
  const failed = new Set<string>();
  for (let round = 1; ; round++) {
    const roundSeed = first + round - 1;
    let cases = 0;
    for (const { name, check, runs } of chosen) {
      if (failed.has(name)) continue;
      report({ type: 'started', name, seed: roundSeed });
      try {
        check(roundSeed, runs * DEEPER);
        cases += runs * DEEPER;
      } catch (error) {
        failed.add(name);
        report({ type: 'failed', name, seed: roundSeed, message: error instanceof Error ? error.message : String(error) });
      }
      if (performance.now() > end && seed === undefined) break;
    }
    report({ type: 'round', round, seed: roundSeed, cases });
    if (seed !== undefined || performance.now() > end || failed.size === chosen.length) break;
  }
  process.disconnect();
}

function supervise(): void {
  const child = fork(fileURLToPath(import.meta.url), process.argv.slice(2), { env: { ...process.env, [CHILD]: '1' } });
  let failures = 0;
  let cases = 0;
  let current: Extract<Report, { type: 'started' }> | undefined;
  const hung = (): void => {
    console.error(`HANGS (seed ${current?.seed}): ${current?.name} has not come back for ${HANG_MS / 1000} s`);
    process.exitCode = 1;
    child.kill('SIGKILL');
  };
  let watchdog = setTimeout(hung, HANG_MS);
  child.on('message', (message) => {
    const report = message as Report;
    clearTimeout(watchdog);
    watchdog = setTimeout(hung, HANG_MS);
    if (report.type === 'started') current = report;
    else if (report.type === 'failed') {
      failures++;
      console.error(`FAILED (seed ${report.seed}): ${report.name}\n${report.message}\n`);
    } else {
      cases += report.cases;
      console.log(`round ${report.round}: seed ${report.seed}, ${report.cases} cases`);
    }
  });
  child.on('exit', (code) => {
    clearTimeout(watchdog);
    if (code !== 0) {
      failures++;
      console.error(`ENDED (seed ${current?.seed}): ${current?.name}`);
    }
    console.log(`${cases} cases, ${failures} properties failed`);
    if (failures > 0) process.exitCode = 1;
  });
}

const asked = readArguments(process.argv.slice(2));
if (process.env[CHILD] === undefined) supervise();
else work(asked);
