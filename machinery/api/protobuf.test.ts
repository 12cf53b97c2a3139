/** Protobuf bodies: bytes as Go writes them, wording, watch events. Round trips are in test/fuzz/documents.ts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeProtobuf, decodeProtobufEvent, encodeProtobuf, encodeProtobufEvent } from './protobuf.ts';
import { typeSchema } from './schema/schema.ts';

test('a config map is written byte for byte as Go writes it', () => {
  const expected =
    '6b3873000a0f0a0276311209436f6e6669674d6170122f0a190a016112001a0022002a0032003800420' +
    '05a060a016c12016d12080a016b120376c3a91a080a0162120300ff071a002200';
  const object = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a', labels: { l: 'm' } },
    data: { k: 'vé' },
    binaryData: { b: 'AP8H' },
  };
  assert.equal(encodeProtobuf(typeSchema('core.v1.ConfigMap'), object).toString('hex'), expected);
  const { apiVersion, kind, object: decoded } = decodeProtobuf(Buffer.from(expected, 'hex'));
  assert.deepEqual({ apiVersion, kind, ...decoded }, object);
});

test('bodies that are none are refused in upstream words', () => {
  const cases: [string, string][] = [
    ['', 'empty data'],
    ['6b387300', 'empty body'],
    ['7b7d', 'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]'],
    ['6b3873000a0f0a0276311209436f6e6669674d6170121d0a110a01611200', 'unexpected EOF'],
    ['6b387300ffffff', 'unexpected EOF'],
  ];
  for (const [hex, message] of cases) assert.throws(() => decodeProtobuf(Buffer.from(hex, 'hex')), { message });
});

test('an envelope without a kind takes the expected one', () => {
  const bytes = Buffer.from('6b3873000a040a001200121b0a110a016212001a0022002a0032003800420012060a016b1201761a002200', 'hex');
  assert.deepEqual(decodeProtobuf(bytes, { apiVersion: 'v1', kind: 'ConfigMap' }), {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    object: { metadata: { name: 'b' }, data: { k: 'v' } },
  });
  assert.throws(() => decodeProtobuf(bytes), /no kind ""/);
});

test('a watch event is a length, then a bare WatchEvent around a whole body', () => {
  const body = encodeProtobuf(typeSchema('core.v1.ConfigMap'), { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } });
  const frame = encodeProtobufEvent('ADDED', body);
  assert.equal(frame.readUInt32BE(0), frame.length - 4);
  const { type, object } = decodeProtobufEvent(frame.subarray(4));
  assert.deepEqual([type, object.kind, object.object], ['ADDED', 'ConfigMap', { metadata: { name: 'a' } }]);
});
