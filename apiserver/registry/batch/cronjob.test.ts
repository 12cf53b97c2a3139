/** Cron jobs: schedules and zones in the words of upstream's parser. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AnyObject } from '../../../machinery/api/object.ts';
import { createErrors, stored, updateErrors } from '../testing/rules.ts';
import { scheduleProblem } from './cron-schedule.ts';
import { cronjob } from './cronjob.ts';

const container = { name: 'run', image: 'registry.example/sum:2', terminationMessagePolicy: 'File', imagePullPolicy: 'Always' };
const made = (spec: object): AnyObject => {
  const jobTemplate = { spec: { template: { spec: { restartPolicy: 'Never', containers: [container] } } } };
  return {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: {},
    spec: { schedule: '0 1 * * *', jobTemplate, ...spec },
  } as unknown as AnyObject;
};

describe('a schedule', () => {
  const cases: [string, string | undefined][] = [
    ['*/61 * * * *', undefined],
    ['5/20 ? 1-7/2 JAN-mar sun,Sat', undefined],
    [',, * * * *', undefined],
    ['+5 * * * *', undefined],
    ['@every 1h30m', undefined],
    ['61 * * * *', 'end of range (61) above maximum (59): 61'],
    ['* * 0 * *', 'beginning of range (0) below minimum (1): 0'],
    ['9-5 * * * *', 'beginning of range (9) beyond end of range (5): 9-5'],
    ['* * * * 7', 'end of range (7) above maximum (6): 7'],
    ['*/0 * * * *', 'step of range should be a positive number: */0'],
    ['1-2-3 * * * *', 'too many hyphens: 1-2-3'],
    ['1/2/3 * * * *', 'too many slashes: 1/2/3'],
    ['a * * * *', 'failed to parse int from a: strconv.Atoi: parsing "a": invalid syntax'],
    [
      '99999999999999999999 * * * *',
      'failed to parse int from 99999999999999999999: strconv.Atoi: parsing "99999999999999999999": value out of range',
    ],
    ['* * * foo *', 'failed to parse int from foo: strconv.Atoi: parsing "foo": invalid syntax'],
    ['* * * * * *', 'expected exactly 5 fields, found 6: [* * * * * *]'],
    ['@every', 'unrecognized descriptor: @every'],
    ['@every 5', 'failed to parse duration @every 5: time: missing unit in duration "5"'],
    ['@every 1y', 'failed to parse duration @every 1y: time: unknown unit "y" in duration "1y"'],
    ['TZ=UTC', 'invalid schedule format: runtime error: slice bounds out of range [:-1]'],
    ['CRON_TZ=Mars/Base 0 1 * * *', 'provided bad location Mars/Base: unknown time zone Mars/Base'],
    ['TZ=../x 0 1 * * *', 'provided bad location ../x: time: invalid location name'],
    ['TZ=Europe/Paris 0 1 * *', 'expected exactly 5 fields, found 4: [0 1 * *]'],
  ];
  for (const [schedule, expected] of cases)
    it(`${schedule} is ${expected ?? 'fine'}`, () => assert.equal(scheduleProblem(schedule), expected));
});

describe('a cron job', () => {
  const zone = (name: string): string[] => createErrors(cronjob, made({ timeZone: name }));
  it('knows zones by their exact names, old ones too', () => {
    for (const name of ['Europe/Paris', 'US/Pacific', 'Etc/GMT+5', 'UTC', 'EST5EDT', 'America/Argentina/ComodRivadavia'])
      assert.deepEqual(zone(name), [], name);
    for (const name of ['europe/paris', 'Europe/Pariss', 'utc', '+01:00', 'a//b', '-x', 'us/pacific']) {
      assert.deepEqual(zone(name), [`spec.timeZone: Invalid value: "${name}": unknown time zone ${name}`], name);
    }
  });

  it('does not take the zone of the machine', () => {
    const explicit = 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones';
    assert.deepEqual(zone('Local'), [`spec.timeZone: Invalid value: "Local": ${explicit}`]);
    assert.deepEqual(zone('LOCAL'), [
      `spec.timeZone: Invalid value: "LOCAL": ${explicit}`,
      'spec.timeZone: Invalid value: "LOCAL": unknown time zone LOCAL',
    ]);
  });

  it('keeps a zone in its schedule if it had one, but not beside the field', () => {
    const old = stored(cronjob, made({ schedule: 'TZ=UTC 0 1 * * *' }));
    const edit = (spec: object): string[] => updateErrors(cronjob, old, (object) => Object.assign(object['spec'] as object, spec));
    assert.deepEqual(edit({ schedule: 'CRON_TZ=UTC 0 2 * * *' }), []);
    assert.deepEqual(edit({ timeZone: 'UTC' }), [
      'spec.schedule: Invalid value: "TZ=UTC 0 1 * * *": cannot use both timeZone field and TZ or CRON_TZ in schedule',
    ]);
    assert.deepEqual(edit({ schedule: 'TZ=UTC 61 1 * * *' }), [
      'spec.schedule: Invalid value: "TZ=UTC 61 1 * * *": end of range (61) above maximum (59): 61',
    ]);
    assert.deepEqual(createErrors(cronjob, made({ schedule: 'TZ=Mars 0 1 * * *' })), [
      'spec.schedule: Invalid value: "TZ=Mars 0 1 * * *": provided bad location Mars: unknown time zone Mars',
      'spec.schedule: Invalid value: "TZ=Mars 0 1 * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead',
    ]);
  });

  it('fills the condition status of a failure policy in its template, and no more of it', () => {
    const object = stored(cronjob, made({}));
    const spec = (object['spec'] as { jobTemplate: { spec: AnyObject } }).jobTemplate.spec;
    spec['podFailurePolicy'] = { rules: [{ action: 'Ignore', onPodConditions: [{ type: 'A' }] }] };
    cronjob.strategy.default!(object);
    assert.deepEqual(spec['podFailurePolicy'], { rules: [{ action: 'Ignore', onPodConditions: [{ type: 'A', status: 'True' }] }] });
    assert.equal(spec['backoffLimit'], undefined);
  });
});
