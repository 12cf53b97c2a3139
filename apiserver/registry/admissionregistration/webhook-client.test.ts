/** URLs and service paths of webhooks: which are refused, and in which words. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FieldError } from '../../../machinery/api/field-error.ts';
import { clientConfigErrors } from './webhook-client.ts';

const messagesOf = (config: Parameters<typeof clientConfigErrors>[0]): string[] => {
  const errors: FieldError[] = [];
  clientConfigErrors(config, 'c', errors);
  return errors.map(({ message }) => message);
};

const FORM = '; desired format: https://host[/path]';

const URLS: readonly (readonly [string, readonly string[]])[] = [
  ['https://hook.example.com:8443/a', []],
  ['HTTPS://hook.example.com', []],
  [
    'hook',
    [`c.url: Invalid value: "": 'https' is the only allowed URL scheme${FORM}`, `c.url: Invalid value: "": host must be specified${FORM}`],
  ],
  [
    'https://h/?a=b#c',
    [
      'c.url: Invalid value: "c": fragments are not permitted in the URL',
      'c.url: Invalid value: "a=b": query parameters are not permitted in the URL',
    ],
  ],
  ['https://h:x/', [`c.url: Required value: url must be a valid URL: parse "https://h:x/": invalid port ":x" after host${FORM}`]],
];

for (const [url, expected] of URLS) {
  test(`a webhook at ${url} is ${expected.length === 0 ? 'accepted' : 'refused'}`, () => {
    assert.deepEqual(messagesOf({ url }), expected);
  });
}

const PATHS: readonly (readonly [string, readonly string[]])[] = [
  ['', []],
  ['/', []],
  ['/a/b/', []],
  ['//', ['c.service.path: Invalid value: "//": segment[0] may not be empty']],
];

for (const [path, expected] of PATHS) {
  test(`a service path of "${path}" is ${expected.length === 0 ? 'accepted' : 'refused'}`, () => {
    assert.deepEqual(messagesOf({ service: { namespace: 'n', name: 's', port: 443, path } }), expected);
  });
}
