/** The authorizer that lets named users do everything and others see health and version. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { UserInfo } from '../registry/resource.ts';
import { ANONYMOUS } from './authenticate.ts';
import { attributesOf } from './authorize.ts';
import { allowNamedUsers, authorizerFor } from './public-info.ts';
import { parseRequestInfo } from './request-info.ts';

const NAMED: UserInfo = { name: 'ann', groups: ['system:authenticated'] };

const may = (user: UserInfo, method: string, path: string): boolean =>
  allowNamedUsers.authorize(attributesOf(user, parseRequestInfo(method, path))).allowed;

test('without a name only health and version may be read', () => {
  const cases: [string, string, boolean][] = [
    ['GET', '/livez', true],
    ['GET', '/readyz?verbose', true],
    ['GET', '/healthz', true],
    ['GET', '/version', true],
    ['GET', '/version/', true],
    ['GET', '/livez/ping', false],
    ['GET', '/livez/', false],
    ['POST', '/livez', false],
    ['HEAD', '/version', false],
    ['GET', '/', false],
    ['GET', '/api', false],
    ['GET', '/metrics', false],
    ['GET', '/openapi/v3', false],
    ['GET', '/api/v1/namespaces/livez', false],
    ['GET', '/apis/x/livez/version', false],
  ];
  for (const [method, path, allowed] of cases) {
    assert.equal(may(ANONYMOUS, method, path), allowed, `${method} ${path}`);
    assert.equal(may(NAMED, method, path), true);
  }
});

test('a name given by impersonation counts as anonymous by its name or its group', () => {
  assert.equal(may({ name: 'system:anonymous', groups: ['system:authenticated'] }, 'GET', '/api'), false);
  assert.equal(may({ name: 'ann', groups: ['system:unauthenticated'] }, 'GET', '/api'), false);
});

test('modes that are not known are refused with their names', () => {
  assert.equal(authorizerFor(['AlwaysAllow']), allowNamedUsers);
  assert.throws(() => authorizerFor(['Node', 'RBAC']), /^Error: --authorization-mode: Node, RBAC are not known here; known: AlwaysAllow$/);
  assert.throws(() => authorizerFor(['constructor']), /constructor is not known here/);
  assert.throws(() => authorizerFor([]), /exactly one mode/);
  assert.throws(() => authorizerFor(['AlwaysAllow', 'AlwaysAllow']), /exactly one mode/);
});
