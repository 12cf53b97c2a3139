/** Options of logs: what cannot be read, and what makes no sense. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StatusError } from '../../machinery/api/status.ts';
import { parseQuery } from '../http/query.ts';
import { checkLogOptions } from './log-options.ts';

function refusal(query: string): readonly [number, string] | undefined {
  try {
    checkLogOptions(parseQuery(query), 'p');
  } catch (error) {
    assert.ok(error instanceof StatusError);
    return [error.status.code!, error.message];
  }
  return undefined;
}

const cases: readonly (readonly [string, number, string])[] = [
  ['tailLines=-1', 422, 'PodLogOptions "p" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0'],
  ['limitBytes=0', 422, 'PodLogOptions "p" is invalid: limitBytes: Invalid value: 0: must be greater than 0'],
  ['sinceSeconds=0', 422, 'PodLogOptions "p" is invalid: sinceSeconds: Invalid value: 0: must be greater than 0'],
  [
    'sinceSeconds=1&sinceTime=2026-01-01T00:00:00Z',
    422,
    'PodLogOptions "p" is invalid: []: Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified',
  ],
  [
    'tailLines=-2&limitBytes=-3',
    422,
    'PodLogOptions "p" is invalid: [tailLines: Invalid value: -2: must be greater than or equal to 0, limitBytes: Invalid value: -3: must be greater than 0]',
  ],
  ['tailLines=x', 400, 'strconv.ParseInt: parsing "x": invalid syntax'],
  ['limitBytes=9223372036854775808', 400, 'strconv.ParseInt: parsing "9223372036854775808": value out of range'],
  ['sinceTime=soon', 400, 'parsing time "soon" as "2006-01-02T15:04:05Z07:00": cannot parse "soon" as "2006"'],
];

for (const [query, code, message] of cases) {
  test(`?${query} is refused`, () => assert.deepEqual(refusal(query), [code, message]));
}

test('what makes sense is asked', () => {
  for (const query of ['', 'tailLines=0&limitBytes=1', 'sinceSeconds=1', 'sinceTime=2026-01-01T00:00:00Z', 'follow=true'])
    assert.equal(refusal(query), undefined, query);
});
