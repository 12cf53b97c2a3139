/** What a request's first line and query can hold: paths, parameters, continue tokens. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { decodeContinue, encodeContinue } from '../../apiserver/http/continue-token.ts';
import { parseQuery } from '../../apiserver/http/query.ts';
import { BadTarget, parseRequestInfo } from '../../apiserver/http/request-info.ts';
import { StatusError } from '../../machinery/api/status.ts';
import { damaged, jsonValue, name, textOf } from './arbitraries.ts';
import { accepted, type FuzzProperty, property } from './property.ts';

const PREFIX = '/registry/configmaps/';
const VERBS = new Set(['', 'get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection']);
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'];
const target = textOf(
  '/',
  '/api',
  '/apis',
  '/v1',
  '/apps',
  '/namespaces',
  '/pods',
  '/watch',
  '..',
  '%2F',
  '%2e',
  '%zz',
  '%',
  '%ff',
  '?',
  '#',
  '&',
  '=',
  'watch=true',
  '//',
  'http://h',
  ';',
  '+',
);
const isWellFormed = (text: string): boolean => !/\p{Surrogate}/u.test(text);
const part = name.filter((n) => n !== 'watch');

export const requestProperties: readonly FuzzProperty[] = [
  property(
    'any request target is read the same way each time, or refused as a whole',
    fc.tuple(fc.constantFrom(...METHODS), target),
    ([method, text]) => {
      const info = accepted(() => parseRequestInfo(method, text), BadTarget);
      if (info === undefined) return;
      if (!info.isResourceRequest) {
        assert.equal(info.verb, method.toLowerCase());
        return;
      }
      assert.ok(VERBS.has(info.verb), info.verb);
      assert.equal(info.resource, info.parts[0]);
      assert.equal(info.prefix === 'api' ? '' : info.group, info.group);
      // What is authorized is what is named: nothing of the path beyond the namespace disappears.
      assert.ok(info.path.includes(info.parts.join('/')), `${info.path} ${info.parts.join('/')}`);
    },
    { runs: 500 },
  ),
  property(
    'a path made of parts is read as those parts, escaped or not',
    fc.record({
      group: fc.option(part),
      namespace: fc.option(part),
      resource: part,
      object: fc.option(part),
      sub: fc.option(part),
      escape: fc.boolean(),
    }),
    ({ group, namespace, resource, object, sub, escape: escaped }) => {
      if (resource === 'namespaces') return;
      const parts = [
        ...(group === null ? ['api', 'v1'] : ['apis', group, 'v1']),
        ...(namespace === null ? [] : ['namespaces', namespace]),
        resource,
        ...(object === null ? [] : [object, ...(sub === null ? [] : [sub])]),
      ];
      const write = (text: string): string =>
        escaped ? [...text].map((c) => `%${c.charCodeAt(0).toString(16).padStart(2, '0')}`).join('') : text;
      const info = parseRequestInfo('GET', `/${parts.map(write).join('/')}`);
      if (namespace !== null && (resource === 'status' || resource === 'finalize')) return;
      assert.deepEqual(
        [info.group, info.version, info.namespace, info.resource, info.name, info.subresource, info.verb],
        [group ?? '', 'v1', namespace ?? '', resource, object ?? '', object === null ? '' : (sub ?? ''), object === null ? 'list' : 'get'],
      );
    },
  ),
  property(
    'any query is read without an error, and what was written by the rules comes back',
    fc.tuple(textOf('a', '=', '&', '%', '%41', '+', ';', '%ff', '%zz'), fc.array(fc.tuple(fc.string(), fc.string()), { maxLength: 4 })),
    ([text, pairs]) => {
      parseQuery(text).get('a');
      const kept = pairs.filter(([k, v]) => isWellFormed(k) && isWellFormed(v));
      const query = parseQuery(kept.map(([k, v]) => `${encodeURIComponent(k)}=${encodeURIComponent(v)}`).join('&'));
      for (const [k] of kept) {
        assert.equal(query.get(k), kept.find(([other]) => other === k)![1]);
        assert.deepEqual(
          query.all(k),
          kept.filter(([other]) => other === k).map(([, v]) => v),
        );
      }
    },
  ),
  property(
    'a continue token leads back to where its list stopped',
    fc.tuple(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), name, name, fc.boolean()),
    ([revision, namespace, object, last]) => {
      const start = `${namespace}/${object}${last ? '\u0000' : ''}`;
      assert.deepEqual(decodeContinue(encodeContinue(revision, start), PREFIX), { revision, startKey: PREFIX + start });
    },
  ),
  property(
    'any continue token is one inside of its resource, or refused as 400',
    fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 40 }),
      jsonValue.map((value) => Buffer.from(JSON.stringify(value)).toString('base64url')),
      fc
        .record(
          {
            v: fc.constantFrom<unknown>('meta.k8s.io/v1', 'v1', 1),
            rv: fc.oneof(fc.double(), fc.integer(), jsonValue),
            start: fc.oneof(textOf('/', '..', '.', 'a', '\u0000', '%2e'), jsonValue),
          },
          { requiredKeys: [] },
        )
        .map((value) => Buffer.from(JSON.stringify(value)).toString('base64url')),
      damaged(fc.constant(Buffer.from(encodeContinue(5, 'a/b')))).map((bytes) => bytes.toString('latin1')),
    ),
    (token) => {
      const read = accepted(() => decodeContinue(token, PREFIX), StatusError);
      if (read === undefined) {
        assert.throws(
          () => decodeContinue(token, PREFIX),
          (error: StatusError) => error.code === 400,
        );
        return;
      }
      assert.ok(read.startKey.startsWith(PREFIX) && !read.startKey.split('/').includes('..'), read.startKey);
      assert.ok(Number.isSafeInteger(read.revision), String(read.revision));
    },
    { runs: 500 },
  ),
];
