/** Flags, environment and defaults, and every mistake in them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defineOptions, envName, flagName, formatUsage, OptionsError, optionsWith, parseOptions } from './options.ts';

const table = defineOptions({
  kubeconfig: { type: 'string', required: true, help: 'where the API server is' },
  leaderElect: { type: 'boolean', default: true, help: 'become leader first' },
  leaseDurationMs: { flag: 'leader-elect-lease-duration', type: 'duration', default: '15s', help: 'lease' },
  concurrentSyncs: { type: 'integer', default: 5, min: 1, max: 100, help: 'workers' },
  qps: { flag: 'kube-api-qps', type: 'number', default: 0.5, help: 'rate' },
  controllers: { type: 'list', default: ['*'], help: 'which loops run' },
  featureGates: { type: 'map', default: {}, help: 'gates' },
  mode: { type: 'string', choices: ['a', 'b'], default: 'a', help: 'mode' },
  logFile: { type: 'string', help: 'no default' },
  v: { short: 'v', type: 'integer', default: 0, help: 'verbosity' },
});

const problemsOf = (argv: string[], env: NodeJS.ProcessEnv = {}): readonly string[] => {
  try {
    parseOptions(table, argv, env);
  } catch (error) {
    assert.ok(error instanceof OptionsError);
    return error.problems;
  }
  return [];
};

test('flags are read as pflag reads them', () => {
  const options = parseOptions(
    table,
    [
      '--kubeconfig=f',
      '--leader-elect=false',
      '--leader-elect-lease-duration',
      '1m30s',
      '--concurrent-syncs',
      '7',
      '--controllers=*,-gc',
      '--controllers',
      'x',
      '--feature-gates=A=true,B=false',
      '-v',
      '4',
    ],
    {},
  );
  assert.equal(options.kubeconfig, 'f');
  assert.equal(options.leaderElect, false);
  assert.equal(options.leaseDurationMs, 90_000);
  assert.equal(options.concurrentSyncs, 7);
  assert.deepEqual(options.controllers, ['*', '-gc', 'x']);
  assert.deepEqual({ ...options.featureGates }, { A: 'true', B: 'false' });
  assert.equal(options.qps, 0.5);
  assert.equal(options.logFile, undefined);
  assert.equal(options.v, 4);
});

test('a flag wins over the environment, which wins over the default', () => {
  const env = { FLYBALL_KUBECONFIG: 'from-env', FLYBALL_CONCURRENT_SYNCS: '9' };
  assert.equal(parseOptions(table, [], env).kubeconfig, 'from-env');
  assert.equal(parseOptions(table, ['--kubeconfig', 'from-flag'], env).kubeconfig, 'from-flag');
  assert.equal(parseOptions(table, [], env).concurrentSyncs, 9);
  assert.equal(parseOptions(table, [], env).leaseDurationMs, 15_000);
});

test('all problems are reported together', () => {
  assert.deepEqual(
    problemsOf(['--nope', '--concurrent-syncs=0', '--leader-elect=perhaps', 'stray', '--mode', 'c'], { FLYBALL_KUBE_API_QPS: 'fast' }),
    [
      'unknown flag: --nope',
      'unexpected argument "stray"',
      '--kubeconfig is required',
      '--leader-elect: "perhaps" is neither true nor false',
      '--concurrent-syncs: 0 is less than 1',
      'FLYBALL_KUBE_API_QPS: "fast" is not a number',
      '--mode: "c" is not one of a, b',
    ],
  );
  assert.deepEqual(problemsOf(['--kubeconfig']), ['flag needs an argument: --kubeconfig', '--kubeconfig is required']);
});

test('durations are Go durations', () => {
  for (const [text, ms] of [
    ['1h15m30.5s', 4_530_500],
    ['100ms', 100],
    ['0', 0],
    ['2us', 0.002],
    ['-1s', -1000],
  ] as const) {
    assert.equal(parseOptions(table, ['--kubeconfig=f', `--leader-elect-lease-duration=${text}`], {}).leaseDurationMs, ms, text);
  }
  for (const text of ['15', 's', '1x', '1s 2s', '']) {
    assert.equal(problemsOf(['--kubeconfig=f', `--leader-elect-lease-duration=${text}`]).length, 1, text);
  }
});

test('names follow from keys', () => {
  assert.equal(flagName('leaderElectRetryPeriodMs', { type: 'duration', help: '' }), 'leader-elect-retry-period');
  assert.equal(envName('bindAddress', { type: 'string', help: '' }), 'FLYBALL_BIND_ADDRESS');
  assert.match(formatUsage('kube-scheduler', table), /--concurrent-syncs integer\s+workers \(default 5\) \[\$FLYBALL_CONCURRENT_SYNCS\]/);
});

test('optionsWith fills a table from defaults and refuses a missing required option', () => {
  assert.equal(optionsWith(table, { kubeconfig: 'f' }).leaseDurationMs, 15_000);
  assert.throws(() => optionsWith(table, {}), /--kubeconfig is required/);
});
