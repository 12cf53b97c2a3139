/** Names are judged, and the judgement said, as upstream does. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMapKey, dnsLabel, envVarName, nameIsSubdomain, portName, qualifiedName } from './names.ts';

test('names are refused in upstream words', () => {
  const cases: [string[], RegExp | undefined][] = [
    [dnsLabel('a-1'), undefined],
    [dnsLabel('a.b'), /^must not contain dots$/],
    [dnsLabel('A'), /^a lowercase RFC 1123 label must consist of/],
    [dnsLabel('a'.repeat(64)), /^must be no more than 63 characters$/],
    [qualifiedName('a/b/c'), /with an optional DNS subdomain prefix and '\/' \(e\.g\. 'example\.com\/MyName'\)$/],
    [qualifiedName('/b'), /^prefix part must be non-empty$/],
    [qualifiedName('constructor'), undefined],
    [configMapKey('__proto__'), undefined],
    [configMapKey('..x'), /^must not start with '\.\.'$/],
    [envVarName('a b'), undefined],
    [envVarName('a=b'), /printable ASCII characters other than '='$/],
    [portName('80'), /^must contain at least one letter/],
  ];
  for (const [details, pattern] of cases) {
    if (pattern === undefined) assert.deepEqual(details, []);
    else assert.match(details[0] ?? '', pattern);
  }
});

test('a generated name may end in a dash, a name may not', () => {
  assert.deepEqual(nameIsSubdomain('web-', true), []);
  assert.equal(nameIsSubdomain('web-', false).length, 1);
});
