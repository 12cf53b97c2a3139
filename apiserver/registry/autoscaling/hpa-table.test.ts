/** The targets of an autoscaler as a table shows them. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { targetsCell } from './hpa-table.ts';

const metric = { name: 'm' };
const cases: [string, object[], object[], string][] = [
  ['nothing', [], [], '<none>'],
  [
    'an amount that is not known yet',
    [{ type: 'External', external: { metric, target: { type: 'Value', value: '10' } } }],
    [],
    '<unknown>/10',
  ],
  [
    'an amount that is missing of what was found',
    [{ type: 'External', external: { metric, target: { type: 'Value', value: '10' } } }],
    [{ type: 'External', external: { metric, current: {} } }],
    '<nil>/10',
  ],
  [
    'an average that is missing of what was found',
    [{ type: 'Object', object: { metric, target: { type: 'AverageValue', averageValue: '1500m' } } }],
    [{ type: 'Object', object: { metric, current: { value: '3' } } }],
    '<unknown>/1500m (avg)',
  ],
  [
    'a raw amount of a resource',
    [{ type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1Gi' } } }],
    [{ type: 'Resource', resource: { name: 'memory', current: {} } }],
    'memory: <nil>/1Gi',
  ],
  [
    'a share of a resource, and how many more there are',
    [
      {
        type: 'ContainerResource',
        containerResource: { name: 'cpu', container: 'c', target: { type: 'Utilization', averageUtilization: 50 } },
      },
      { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization' } } },
      { type: 'Pods', pods: { metric, target: { type: 'AverageValue', averageValue: '5' } } },
    ],
    [{ type: 'ContainerResource', containerResource: { current: { averageUtilization: 7 } } }],
    'cpu: 7%/50%, cpu: <unknown>/<auto> + 1 more...',
  ],
  ['a type that is not known', [{ type: 'Weather' }], [], '<unknown type>'],
];
for (const [what, specs, statuses, expected] of cases) {
  it(`targets show ${what}`, () => assert.equal(targetsCell(specs as never, statuses as never), expected));
}
