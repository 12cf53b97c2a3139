/** Answers of HTTP/1.1 in all their lengths and in any pieces. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AnswerParser } from './answer-parser.ts';

/** What a parser tells of `text` given in pieces of `size`. */
function told(text: string, size: number, method = 'GET'): string[] {
  const all: string[] = [];
  const parser = new AnswerParser({
    head: (code, headers) => all.push(`${code} ${JSON.stringify(headers)}`),
    data: (chunk) => {
      if (all.at(-1)?.startsWith('data ')) all.push(`data ${all.pop()?.slice(5)}${chunk}`);
      else all.push(`data ${chunk}`);
    },
    end: (reusable) => all.push(reusable ? 'end' : 'end, close'),
  });
  parser.expect(method);
  const bytes = Buffer.from(text, 'latin1');
  for (let at = 0; at < bytes.length; at += size) parser.take(bytes.subarray(at, at + size));
  if (parser.close()) all.push('closed');
  return all;
}

const OK = 'HTTP/1.1 200 OK\r\n';
const cases: readonly (readonly [what: string, text: string, told: readonly string[], method?: string])[] = [
  ['a length', `${OK}Content-Length: 2\r\n\r\nab`, ['200 {"content-length":"2"}', 'data ab', 'end']],
  ['nothing', `${OK}content-length: 0\r\n\r\n`, ['200 {"content-length":"0"}', 'end']],
  [
    'chunks, an extension, a trailer',
    `${OK}transfer-encoding: chunked\r\n\r\n2\r\nab\r\n1;x=y\r\nc\r\n0\r\nt: v\r\n\r\n`,
    ['200 {"transfer-encoding":"chunked"}', 'data abc', 'end'],
  ],
  ['up to the end', `${OK}\r\nabc`, ['200 {}', 'data abc', 'end, close', 'closed']],
  [
    'one that says it closes',
    `${OK}connection: Close\r\ncontent-length: 1\r\n\r\na`,
    ['200 {"connection":"Close","content-length":"1"}', 'data a', 'end, close'],
  ],
  ['an old server', 'HTTP/1.0 404 Not Found\r\ncontent-length: 1\r\n\r\na', ['404 {"content-length":"1"}', 'data a', 'end, close']],
  ['no text after the code', 'HTTP/1.1 204\r\n\r\n', ['204 {}', 'end']],
  ['a promise before', `HTTP/1.1 100 Continue\r\n\r\n${OK}content-length: 1\r\n\r\na`, ['200 {"content-length":"1"}', 'data a', 'end']],
  [
    'two at once',
    `${OK}content-length: 1\r\n\r\na${OK}content-length: 1\r\n\r\nb`,
    ['200 {"content-length":"1"}', 'data a', 'end', '200 {"content-length":"1"}', 'data b', 'end'],
  ],
  ['a head alone', `${OK}content-length: 7\r\n\r\n`, ['200 {"content-length":"7"}', 'end'], 'HEAD'],
  [
    'a name that comes twice',
    `${OK}warning: a\r\nWarning: b\r\ncontent-length: 0\r\n\r\n`,
    ['200 {"warning":["a","b"],"content-length":"0"}', 'end'],
  ],
];
for (const [what, text, expected, method] of cases)
  test(`an answer with ${what}, in any pieces`, () => {
    for (const size of [1, 2, 3, 7, 1000]) assert.deepEqual(told(text, size, method), expected);
  });

const broken: readonly (readonly [what: string, text: string])[] = [
  ['another protocol', 'SSH-2.0-x\r\n\r\n'],
  ['no code', 'HTTP/1.1 OK\r\n\r\n'],
  ['a header without a name', `${OK}: x\r\n\r\n`],
  ['two lengths', `${OK}content-length: 1\r\ncontent-length: 2\r\n\r\n`],
  ['a length that is none', `${OK}content-length: -1\r\n\r\n`],
  ['an unknown encoding', `${OK}transfer-encoding: gzip, chunked\r\n\r\n`],
  ['a chunk without a size', `${OK}transfer-encoding: chunked\r\n\r\nxyz\r\n`],
  ['a chunk longer than it said', `${OK}transfer-encoding: chunked\r\n\r\n1\r\nab\r\n`],
  ['a head without an end', `${OK}x: ${'x'.repeat(70_000)}`],
];
for (const [what, text] of broken) test(`${what} is refused`, () => assert.throws(() => told(text, 1000)));
