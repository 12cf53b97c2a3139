/** Flags as pflag reads them, and its words for mistakes. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type FlagTable, parseLine } from './flags.ts';

const TABLE: FlagTable = {
  output: { type: 'string', short: 'o', help: '' },
  watch: { type: 'boolean', short: 'w', help: '' },
  'all-namespaces': { type: 'boolean', short: 'A', help: '' },
  tail: { type: 'integer', default: -1, help: '' },
  columns: { type: 'list', short: 'L', help: '' },
  env: { type: 'array', help: '' },
  timeout: { type: 'duration', default: '30s', help: '' },
  'dry-run': { type: 'string', default: 'none', bare: 'unchanged', help: '' },
};
const parse = (line: string) => parseLine(line.split(' '), TABLE, 'flyball get');

describe('the command line is read as pflag reads it', () => {
  const cases: [line: string, words: string[], flag: string, value: unknown][] = [
    ['pods -o wide', ['pods'], 'output', 'wide'],
    ['pods -owide', ['pods'], 'output', 'wide'],
    ['-o=wide pods', ['pods'], 'output', 'wide'],
    ['--output wide pods x', ['pods', 'x'], 'output', 'wide'],
    ['--output=jsonpath={.a=b}', [], 'output', 'jsonpath={.a=b}'],
    ['pods -nkube-system', ['pods'], 'namespace', 'kube-system'],
    ['pods --dry-run', ['pods'], 'dry-run', 'unchanged'],
    ['pods --dry-run=client', ['pods'], 'dry-run', 'client'],
  ];
  for (const [line, words, flag, value] of cases) {
    test(line, () => {
      const parsed = parse(line);
      assert.deepEqual([parsed.words, parsed.flags.string(flag)], [words, value]);
    });
  }

  test('letters without values stand together', () => {
    const { flags } = parse('pods -Aw');
    assert.deepEqual([flags.bool('all-namespaces'), flags.bool('watch')], [true, true]);
  });
  test('lists split at commas and repeat, arrays only repeat', () => {
    const { flags } = parse('-L a,b -L c --env x=1,y --env z=2');
    assert.deepEqual(
      [flags.list('columns'), flags.list('env')],
      [
        ['a', 'b', 'c'],
        ['x=1,y', 'z=2'],
      ],
    );
  });
  test('after -- everything is a word', () => {
    const { words, flags } = parse('run x -- sh -c hi');
    assert.deepEqual([words, flags.dash], [['run', 'x', 'sh', '-c', 'hi'], 2]);
  });
  test('a boolean takes a value only after an equals sign', () => {
    const { words, flags } = parse('-w=false pods false');
    assert.deepEqual([words, flags.bool('watch'), flags.changed('watch')], [['pods', 'false'], false, true]);
  });
  test('durations are milliseconds', () => {
    assert.equal(parse('--timeout=1m30s').flags.durationMs('timeout'), 90_000);
    assert.equal(parse('x').flags.durationMs('timeout'), 30_000);
  });
});

describe('mistakes are told in pflag’s words', () => {
  const cases: [line: string, message: string][] = [
    ['--foo', 'unknown flag: --foo'],
    ['-x', "unknown shorthand flag: 'x' in -x"],
    ['-wx', "unknown shorthand flag: 'x' in -wx"],
    ['--output', 'flag needs an argument: --output'],
    ['-o', "flag needs an argument: 'o' in -o"],
    ['--tail=x', 'invalid argument "x" for "--tail" flag: strconv.ParseInt: parsing "x": invalid syntax'],
    ['-w=maybe', 'invalid argument "maybe" for "-w, --watch" flag: strconv.ParseBool: parsing "maybe": invalid syntax'],
  ];
  for (const [line, message] of cases) {
    test(line, () => assert.throws(() => parse(line), { message: `${message}\nSee 'flyball get --help' for usage.` }));
  }
});
