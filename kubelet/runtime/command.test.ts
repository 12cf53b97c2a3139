/** Commands that a simulated container understands. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scriptOf } from './command.ts';

const say = (text: string, stream = 'stdout') => ({ do: 'log', text, stream });
const wait = (seconds: number) => ({ do: 'wait', ms: seconds * 1000 });

const table: readonly [command: string[], expected: { steps?: unknown[]; after?: string; code?: number; obeysTerm?: boolean }][] = [
  [['true'], { steps: [], after: 'end', code: 0 }],
  [['/bin/false'], { after: 'end', code: 1 }],
  [['sleep', '5'], { steps: [wait(5)], after: 'end', code: 0, obeysTerm: false }],
  [['sleep', '1m'], { steps: [wait(60)] }],
  [['sleep', 'infinity'], { after: 'run', obeysTerm: false }],
  [['sleep', 'long'], { steps: [say("sleep: invalid time interval 'long'", 'stderr')], code: 1 }],
  [['sh', '-c', 'exit 3'], { after: 'end', code: 3, obeysTerm: false }],
  [['sh', '-c', 'echo x; sleep 3'], { steps: [say('x'), wait(3)], after: 'end', code: 0 }],
  [['/bin/bash', '-ec', 'echo "a; b" && false || exit 7'], { steps: [say('a; b'), { do: 'exit', code: 7 }], code: 7 }],
  [['sh', '-c', 'true || echo never; echo done'], { steps: [say('done')], code: 0 }],
  [['sh', '-c', 'echo problem >&2; exit 1'], { steps: [say('problem', 'stderr'), { do: 'exit', code: 1 }], code: 1 }],
  [['sh', '-c', 'while true; do echo tick; sleep 2; done'], { steps: [say('tick'), wait(2)], after: 'repeat' }],
  [['sh', '-c', 'while true; do echo busy; done'], { steps: [say('busy'), wait(1)], after: 'repeat' }],
  [['nginx', '-g', 'daemon off;'], { steps: [], after: 'run', obeysTerm: true }],
  [['tail', '-f', '/dev/null'], { after: 'run', obeysTerm: false }],
];

for (const [command, expected] of table) {
  test(command.join(' '), () => {
    const script = scriptOf(command, []) as unknown as Record<string, unknown>;
    for (const [key, value] of Object.entries(expected)) assert.deepEqual(script[key], value, key);
  });
}

test('arguments alone are for the entrypoint of the image, unless they read like a command', () => {
  assert.equal(scriptOf([], ['--port', '80']), undefined);
  assert.equal(scriptOf([], ['sleep', '1'])?.after, 'end');
  assert.equal(scriptOf([], []), undefined);
});
