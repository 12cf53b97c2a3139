/** Jobs: what a new one, an update and a report may say. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AnyObject } from '../../../machinery/api/object.ts';
import { createErrors, statusErrors, stored, updateErrors } from '../testing/rules.ts';
import { job } from './job.ts';

const CONTAINER = { name: 'run', image: 'registry.example/sum:2', terminationMessagePolicy: 'File', imagePullPolicy: 'Always' };
const template = { spec: { restartPolicy: 'Never', containers: [CONTAINER] } };
const made = (spec: object = {}, metadata: object = {}): AnyObject =>
  ({ apiVersion: 'batch/v1', kind: 'Job', metadata, spec: { template: structuredClone(template), ...spec } }) as unknown as AnyObject;
const indexed = (spec: object): AnyObject => made({ completionMode: 'Indexed', ...spec });
const MANY = 'when completions are above 100000 and used with backoff limit per index';

describe('a new job', () => {
  const cases: [string, AnyObject, string[]][] = [
    [
      'runs no more than 100,000 pods at once when it counts indexes',
      indexed({ completions: 5, parallelism: 100_001 }),
      ['spec.parallelism: Invalid value: 100001: must be less than or equal to 100000 when completion mode is Indexed'],
    ],
    ['may run as many as it likes otherwise', made({ completions: 5, parallelism: 200_000 }), []],
    [
      'tolerates no more failed indexes than it has',
      indexed({ completions: 3, backoffLimitPerIndex: 1, maxFailedIndexes: 4 }),
      ['spec.maxFailedIndexes: Invalid value: 4: must be less than or equal to completions'],
    ],
    [
      'tolerates no more than 100,000',
      indexed({ completions: 100_000, backoffLimitPerIndex: 1, maxFailedIndexes: 100_001 }),
      [
        'spec.maxFailedIndexes: Invalid value: 100001: must be less than or equal to completions',
        'spec.maxFailedIndexes: Invalid value: 100001: must be less than or equal to 100000',
      ],
    ],
    [
      'says how many may fail when it has very many',
      indexed({ completions: 100_001, parallelism: 10_001, backoffLimitPerIndex: 0 }),
      [
        'spec.maxFailedIndexes: Required value: must be specified when completions is above 100000',
        `spec.parallelism: Invalid value: 10001: must be less than or equal to 10000 ${MANY}`,
      ],
    ],
    [
      'lets few fail when it has very many',
      indexed({ completions: 100_001, parallelism: 1, backoffLimitPerIndex: 0, maxFailedIndexes: 20_000 }),
      [`spec.maxFailedIndexes: Invalid value: 20000: must be less than or equal to 10000 ${MANY}`],
    ],
    [
      'has no negative number of failed indexes',
      made({ backoffLimitPerIndex: 1, maxFailedIndexes: -1 }),
      [
        'spec.maxFailedIndexes: Invalid value: -1: must be greater than or equal to 0',
        'spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode',
        'spec.maxFailedIndexes: Invalid value: -1: requires indexed completion mode',
      ],
    ],
    [
      'counts no index of a list that cannot be read',
      indexed({ completions: 5, successPolicy: { rules: [{ succeededIndexes: '1,x', succeededCount: 1 }] } }),
      [
        'spec.successPolicy.rules[0].succeededIndexes: Invalid value: "1,x": error parsing succeededIndexes: cannot convert string to integer for index: "x"',
        'spec.successPolicy.rules[0].succeededCount: Invalid value: 1: must be less than or equal to 0 (the number of indexes in the specified succeededIndexes field)',
      ],
    ],
    [
      'compares exit codes with at least one',
      made({ podFailurePolicy: { rules: [{ action: 'FailJob', onExitCodes: { operator: 'NotIn' } }] } }),
      ['spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid value: null: at least one value is required'],
    ],
    [
      'takes an empty condition status for True',
      made({ podFailurePolicy: { rules: [{ action: 'Count', onPodConditions: [{ type: 'A', status: '' }] }] } }),
      [],
    ],
    ['may repeat a label that is generated', made({ selector: { matchLabels: { 'job-name': 'one' } } }), []],
    [
      'may not choose by a label that is not',
      made({
        selector: { matchLabels: { app: 'sum' } },
        template: { ...template, metadata: { labels: { app: 'sum' } } },
      }),
      [
        'spec.selector: Invalid value: {"matchLabels":{"app":"sum","batch.kubernetes.io/controller-uid":"u"}}: `selector` not auto-generated',
      ],
    ],
    [
      'is told of its spec before its selector',
      made({ parallelism: -1, manualSelector: true }),
      [
        'spec.parallelism: Invalid value: -1: must be greater than or equal to 0',
        'spec.selector: Required value',
        'spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`',
      ],
    ],
    ['names a manager by a domain and a path', made({ managedBy: '' }), ['spec.managedBy: Required value']],
  ];
  for (const [what, object, expected] of cases) it(what, () => assert.deepEqual(createErrors(job, object), expected));

  it('is refused when the host name of its last pod would be too long', () => {
    const name = 'n'.repeat(61);
    const object = indexed({ completions: 11, parallelism: 1 });
    object.metadata.name = name;
    assert.deepEqual(createErrors(job, object), [
      `metadata.name: Invalid value: "${name}": will not able to create pod with invalid DNS label: ${name}-10`,
    ]);
    const dotted = indexed({ completions: 1, parallelism: 1 });
    dotted.metadata.name = 'a.b';
    assert.deepEqual(createErrors(job, dotted), [
      'metadata.name: Invalid value: "a.b": will not able to create pod with invalid DNS label: a.b-0',
    ]);
  });

  it('warns of a list of indexes that may grow too long', () => {
    const warnings = job.strategy.warnings!(stored(job, indexed({ completions: 100_001, parallelism: 10_001 })), undefined);
    assert.match(
      warnings[0]!,
      /^spec: In Indexed Jobs with a number of completions higher than 10\^5 and a parallelism higher than 10\^4, /,
    );
    assert.deepEqual(job.strategy.warnings!(stored(job, indexed({ completions: 100_000, parallelism: 10_001 })), undefined), []);
  });
});

describe('an update of a job', () => {
  it('changes the count of indexes with the parallelism, whatever the two were', () => {
    const old = stored(job, indexed({ completions: 3, parallelism: 2 }));
    const scale = (completions: number, parallelism: number): string[] =>
      updateErrors(job, old, (object) => Object.assign(object['spec'] as object, { completions, parallelism }));
    assert.deepEqual(scale(4, 4), []);
    assert.deepEqual(scale(4, 2), ['spec.completions: Invalid value: 4: can only be modified in tandem with spec.parallelism']);
    assert.deepEqual(scale(3, 9), []);
  });

  type Status = Record<string, unknown>;
  const suspended = (status: Status): AnyObject => ({ ...stored(job, made({ suspend: true })), status }) as AnyObject;
  const touched = (old: AnyObject, edit: (spec: AnyObject) => void): string[] =>
    updateErrors(job, old, (object) => edit((object['spec'] as { template: { spec: AnyObject } }).template.spec)).map((line) =>
      line.replace(/Invalid value: .*: field/, 'field'),
    );
  const place = (spec: AnyObject): void => {
    spec['nodeSelector'] = { disk: 'fast' };
  };
  const started = '2026-01-01T00:00:00Z';
  const cases: [string, Status, (spec: AnyObject) => void, string[]][] = [
    ['moves a job that has not started', {}, place, []],
    ['does not move one that has', { startTime: started }, place, ['spec.template: field is immutable']],
    ['moves one that has and says it is suspended', { startTime: started, conditions: [{ type: 'Suspended', status: 'True' }] }, place, []],
    ['does not move one whose pods still run', { active: 1 }, place, ['spec.template: field is immutable']],
    [
      'does not change an image',
      {},
      (spec) => {
        (spec['containers'] as { image: string }[])[0]!.image = 'other';
      },
      ['spec.template.spec: field is immutable'],
    ],
    [
      'changes what a container uses',
      {},
      (spec) => {
        (spec['containers'] as { resources: object }[])[0]!.resources = { requests: { cpu: '1' } };
      },
      [],
    ],
    [
      'does not add pod affinity beside that to nodes',
      {},
      (spec) => {
        const term = { topologyKey: 'zone', labelSelector: { matchLabels: { a: 'b' } } };
        spec['affinity'] = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
      },
      ['spec.template.spec: field is immutable'],
    ],
  ];
  for (const [what, status, edit, expected] of cases) it(what, () => assert.deepEqual(touched(suspended(status), edit), expected));

  it('takes away an affinity that was only to nodes', () => {
    const old = suspended({});
    const spec = (old['spec'] as { template: { spec: AnyObject } }).template.spec;
    spec['affinity'] = { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } };
    assert.deepEqual(
      touched(old, (changed) => {
        delete changed['affinity'];
      }),
      [],
    );
  });
});

describe('the status of a job', () => {
  const time = '2026-01-01T00:00:00Z';
  const is = (...types: string[]): object[] => types.map((type) => ({ type, status: 'True' }));
  const done = { startTime: time, completionTime: time, conditions: is('Complete'), succeeded: 1 };
  const ofIndexes = { completions: 5, parallelism: 5, completionMode: 'Indexed' };
  const cases: [string, object, object, object, string[]][] = [
    ['is not changed by an empty list of indexes', {}, {}, { completedIndexes: '' }, []],
    [
      'does not parse failed indexes of a job that has none',
      ofIndexes,
      {},
      { failedIndexes: 'x' },
      ['status.failedIndexes: Invalid value: "x": cannot set non-null failedIndexes when backoffLimitPerIndex is null'],
    ],
    [
      'finds an overlap beside what cannot be read',
      { ...ofIndexes, backoffLimitPerIndex: 1 },
      {},
      { completedIndexes: '0,x,3-4', failedIndexes: '4' },
      [
        'status.completedIndexes: Invalid value: "0,x,3-4": error parsing completedIndexes: cannot convert string to integer for index: "x"',
        'status.failedIndexes: Invalid value: "4": failedIndexes and completedIndexes overlap at index: 4',
      ],
    ],
    [
      'has no more ready pods than active ones',
      {},
      { ready: 1, active: 1 },
      { ready: 1 },
      ['status.ready: Invalid value: 1: cannot set more ready pods than active'],
    ],
    ['does not look at ready pods that stay as they are', {}, { ready: 3 }, { ready: 3, failed: 1 }, []],
    [
      'does not meet its criteria after it is complete',
      {},
      done,
      { ...done, conditions: is('Complete', 'SuccessCriteriaMet') },
      ['status.conditions: Invalid value: cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions'],
    ],
    [
      'keeps what has come true',
      {},
      { conditions: is('FailureTarget') },
      {},
      ['status.conditions: Invalid value: cannot disable the terminal FailureTarget=True condition'],
    ],
    [
      'tells of counters before it tells of criteria',
      {},
      { failed: 2, conditions: is('SuccessCriteriaMet') },
      { failed: 1 },
      [
        'status.failed: Invalid value: 1: cannot decrease the failed counter',
        'status.conditions: Invalid value: cannot disable the SuccessCriteriaMet=True condition',
      ],
    ],
  ];
  for (const [what, spec, before, after, expected] of cases) {
    it(what, () => assert.deepEqual(statusErrors(job, { ...stored(job, made(spec)), status: before } as AnyObject, after), expected));
  }
});
