/** Why a pod is not running, sentence by sentence. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../machinery/api/types/core.v1.ts';
import { explain } from './why.ts';

const NOW = new Date('2026-01-01T00:01:00Z');
const pod = (spec: object, status: object, metadata: object = {}): Pod =>
  ({
    metadata: { name: 'p', creationTimestamp: '2026-01-01T00:00:00Z', ...metadata },
    spec: { containers: [], ...spec },
    status,
  }) as unknown as Pod;
const container = (state: object, rest: object = {}): object => ({
  name: 'c',
  ready: false,
  restartCount: 2,
  image: 'i',
  imageID: '',
  state,
  ...rest,
});

for (const [name, value, expected] of [
  [
    'nobody schedules',
    pod({}, { phase: 'Pending' }),
    /^p: it has waited 60s for a node\.\n {2}No scheduler has looked at it yet\. Is one running\?/,
  ],
  [
    'no node fits',
    pod({}, { conditions: [{ type: 'PodScheduled', status: 'False', message: '0/3 nodes are available' }] }),
    /The scheduler found no node: 0\/3 nodes are available/,
  ],
  [
    'no kubelet',
    pod({ nodeName: 'n' }, { conditions: [{ type: 'PodScheduled', status: 'True' }] }),
    /The kubelet of n has not taken it up yet/,
  ],
  [
    'the image is missing',
    pod({ nodeName: 'n' }, { containerStatuses: [container({ waiting: { reason: 'ErrImagePull', message: 'no such image' } })] }),
    /Container c has an image that could not be pulled: no such image/,
  ],
  [
    'it crashes',
    pod(
      { nodeName: 'n' },
      {
        containerStatuses: [
          container(
            { waiting: { reason: 'CrashLoopBackOff' } },
            { lastState: { terminated: { exitCode: 3, reason: 'Error', finishedAt: '2026-01-01T00:00:30Z' } } },
          ),
        ],
      },
    ),
    /keeps ending; the next start is delayed\. It ended 30s ago with exit code 3 \(Error\), restarted 2 times\./,
  ],
  [
    'nothing is wrong',
    pod(
      { nodeName: 'n' },
      { phase: 'Running', conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:50Z' }] },
    ),
    /^p: it is running and ready on n since 10s: nothing is wrong\.\n$/,
  ],
] as const) {
  test(name, () => assert.match(explain(value, [], NOW), expected));
}
