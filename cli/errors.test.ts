/** Every kind of failure as kubectl tells it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { notFound, StatusError } from '../machinery/api/status.ts';
import { CliError, ManyErrors, PlainError, renderError, withSource } from './errors.ts';

const missing = notFound({ group: 'apps', resource: 'deployments' }, 'web');
const invalid = (causes: { field: string; message: string }[]): StatusError =>
  new StatusError({ status: 'Failure', reason: 'Invalid', message: 'long', details: { kind: 'Pod', name: 'x', causes }, code: 422 });
const system = (message: string, code: string): Error => Object.assign(new Error(message), { code });
const refused = new Error('request failed', { cause: Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }) });

describe('failures are told in kubectl’s words', () => {
  const cases: [name: string, error: unknown, text: string][] = [
    ['an answer with a reason', missing, 'Error from server (NotFound): deployments.apps "web" not found'],
    ['an answer without one', new StatusError({ status: 'Failure', message: 'm', code: 500 }), 'Error from server: m'],
    ['one invalid field', invalid([{ field: 'a', message: 'm' }]), 'The Pod "x" is invalid: a: m'],
    [
      'several, each once',
      invalid([
        { field: 'a', message: 'm' },
        { field: 'b', message: 'n' },
        { field: 'a', message: 'm' },
      ]),
      'The Pod "x" is invalid: \n* a: m\n* b: n',
    ],
    ['a mistake of the caller', new CliError('no'), 'error: no'],
    ['a text of its own', new PlainError('plain'), 'plain'],
    [
      'several failures',
      new ManyErrors([missing, new CliError('no')]),
      'Error from server (NotFound): deployments.apps "web" not found\nerror: no',
    ],
    ['nobody listens', refused, 'The connection to the server 127.0.0.1:1 was refused - did you specify the right host or port?'],
    ['a connection that breaks', system('read ECONNRESET', 'ECONNRESET'), 'Unable to connect to the server: read ECONNRESET'],
    ['a name nobody knows', system('getaddrinfo EAI_AGAIN x', 'EAI_AGAIN'), 'Unable to connect to the server: getaddrinfo EAI_AGAIN x'],
    ['a file in the way is not about the server', system('EEXIST: file already exists', 'EEXIST'), 'error: EEXIST: file already exists'],
    ['nor is a full disk', system('ENOSPC: no space left on device', 'ENOSPC'), 'error: ENOSPC: no space left on device'],
    [
      'the manifest is named',
      withSource(missing, 'creating', 'web.yaml'),
      'Error from server (NotFound): error when creating "web.yaml": deployments.apps "web" not found',
    ],
  ];
  for (const [name, error, text] of cases)
    test(name, () => assert.deepEqual(renderError(error, 'https://127.0.0.1:1'), { text, exitCode: 1 }));
});
