/** The protobuf form of OpenAPI v2, read back field by field. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeOpenApiV2 } from './protobuf.ts';

type Fields = readonly (readonly [number, Buffer | number])[];

function fieldsOf(bytes: Buffer): Fields {
  const fields: [number, Buffer | number][] = [];
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let shift = 1; ; shift *= 128) {
      const byte = bytes[at++]!;
      value += (byte & 127) * shift;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const tag = varint();
    assert.ok([0, 2].includes(tag & 7), `wire type ${tag & 7}`);
    if ((tag & 7) === 0) fields.push([tag >> 3, varint()]);
    else {
      const length = varint();
      fields.push([tag >> 3, bytes.subarray(at, at + length)]);
      at += length;
    }
  }
  return fields;
}

/** What stands at a path of field numbers; the first of several. */
function at(bytes: Buffer, ...path: number[]): string | number {
  const [field, ...rest] = path;
  const found = fieldsOf(bytes).find(([number]) => number === field)?.[1];
  assert.ok(found !== undefined, `there is a field ${field}`);
  if (typeof found === 'number') return found;
  return rest.length === 0 ? found.toString('utf8') : at(found, ...rest);
}

const operation = {
  description: 'list Pod',
  operationId: 'listPods',
  parameters: [{ in: 'body', name: 'body', required: true, schema: { $ref: '#/definitions/Pod' } }],
  responses: { '200': { description: 'OK', schema: { type: 'string' } } },
  'x-kubernetes-action': 'list',
};

const bytes = encodeOpenApiV2({
  swagger: '2.0',
  info: { title: 'T', version: 'v1' },
  paths: {
    '/api/v1/pods': {
      get: operation,
      parameters: [
        { name: 'namespace', in: 'path', required: true, type: 'string', uniqueItems: true },
        { name: 'pretty', in: 'query', type: 'string', uniqueItems: true },
      ],
    },
  },
  definitions: {
    Pod: {
      type: 'object',
      required: ['spec'],
      properties: { spec: { type: 'array', items: { type: 'integer', format: 'int32', default: 0 } } },
      'x-kubernetes-group-version-kind': [{ group: '', kind: 'Pod', version: 'v1' }],
    },
  },
});

const PATH = [8, 2, 2];
const SPEC = [9, 1, 2, 25, 1];

const CASES: readonly (readonly [string, readonly number[], string | number])[] = [
  ['the version of the dialect', [1], '2.0'],
  ['the title', [2, 1], 'T'],
  ['the name of a path', [8, 2, 1], '/api/v1/pods'],
  ['an operation', [...PATH, 2, 5], 'listPods'],
  ['a body parameter', [...PATH, 2, 8, 1, 1, 2], 'body'],
  ['what is in the body', [...PATH, 2, 8, 1, 1, 5, 1], '#/definitions/Pod'],
  ['the code of a response', [...PATH, 2, 9, 1, 1], '200'],
  ['the schema of a response', [...PATH, 2, 9, 1, 2, 1, 2, 1, 22, 1], 'string'],
  ['an extension, as text', [...PATH, 2, 13, 2, 2], '"list"'],
  ['a path parameter', [...PATH, 9, 1, 2, 4, 4], 'namespace'],
  ['that must be there', [...PATH, 9, 1, 2, 4, 1], 1],
  ['the name of a definition', [9, 1, 1], 'Pod'],
  ['a required member', [9, 1, 2, 19], 'spec'],
  ['the name of a property', [...SPEC, 1], 'spec'],
  ['the type of a property', [...SPEC, 2, 22, 1], 'array'],
  ['the type of its items', [...SPEC, 2, 23, 1, 22, 1], 'integer'],
  ['the default of its items', [...SPEC, 2, 23, 1, 5, 2], '0'],
  ['the kinds of a definition', [9, 1, 2, 31, 2, 2], '[{"group":"","kind":"Pod","version":"v1"}]'],
];

for (const [what, path, value] of CASES) test(`the protobuf form of OpenAPI v2 has ${what}`, () => assert.equal(at(bytes, ...path), value));

test('a query parameter has its type one field later than a path parameter', () => {
  const second = fieldsOf(fieldsOf(fieldsOf(fieldsOf(bytes).find(([n]) => n === 8)![1] as Buffer)[0]![1] as Buffer)[1]![1] as Buffer)
    .filter(([n]) => n === 9)
    .map(([, value]) => value as Buffer)[1]!;
  assert.equal(at(second, 1, 2, 3, 4), 'pretty');
  assert.equal(at(second, 1, 2, 3, 6), 'string');
});
