/** Where the Unix socket of an API server is, and when there is none. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { apiSocketOf } from './socket-path.ts';

test('an API server has a socket where the system takes the path, counted in bytes', () => {
  assert.equal(apiSocketOf('/d'), '/d/apiserver.sock');
  assert.ok(apiSocketOf(`/${'d'.repeat(84)}`));
  assert.equal(apiSocketOf(`/${'d'.repeat(85)}`), undefined);
  assert.equal(apiSocketOf(`/${'é'.repeat(43)}`), undefined);
});
