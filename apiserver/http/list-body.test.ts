/** Lists in chunks: the bytes are those of the list put together. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chunksOf, type ListPieces, listLength } from './list-body.ts';

const HEAD = '{"kind":"ConfigMap","apiVersion":"v1",';
const item = (size: number): Buffer => Buffer.from(`${HEAD}"data":{"a":"${'x'.repeat(size)}"}}`);

function written(pieces: ListPieces): Buffer {
  const copies: Buffer[] = [];
  for (const chunk of chunksOf(pieces)) copies.push(Buffer.from(chunk));
  return Buffer.concat(copies);
}

test('a list in chunks is the list, whatever the sizes of its items, and as long as it is said to be', () => {
  const around = 128 * 1024;
  const sizes: readonly (readonly number[])[] = [
    [],
    [10],
    [10, 20, 30],
    [around],
    [3 * around, 5, around],
    Array.from({ length: 300 }, (_, i) => i * 13),
    Array.from({ length: 40 }, (_, i) => around - 60 + i),
  ];
  for (const each of sizes) {
    const items = each.map(item);
    const pieces = { head: Buffer.from('{"items":['), items, skip: HEAD.length };
    const expected = `{"items":[${items.map((bytes) => `{${bytes.toString().slice(HEAD.length)}`).join(',')}]}\n`;
    const list = written(pieces);
    assert.equal(list.toString(), expected);
    assert.equal(listLength(pieces), list.length);
  }
});
