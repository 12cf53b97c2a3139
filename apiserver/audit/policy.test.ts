/** The audit policy: which rule decides, and which files are refused. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attributesOf } from '../http/authorize.ts';
import { parseRequestInfo } from '../http/request-info.ts';
import { judge, parsePolicy, readPolicyFile } from './policy.ts';

const HEAD = 'apiVersion: audit.k8s.io/v1\nkind: Policy\n';
const levelOf = (rules: string, method: string, path: string, user = { name: 'ann', groups: ['devs'] }): string =>
  judge(parsePolicy(`${HEAD}rules:\n${rules}`), attributesOf(user, parseRequestInfo(method, path))).level;

test('the first rule that matches decides, none is no record', () => {
  const cases: [string, string, string, string][] = [
    ['- level: Metadata', 'GET', '/api/v1/pods', 'Metadata'],
    ['- {level: None, users: [ann]}\n- level: Request', 'GET', '/version', 'None'],
    ['- {level: None, users: [bob]}\n- level: Request', 'GET', '/version', 'Request'],
    ['- {level: Metadata, userGroups: [ops, devs]}', 'GET', '/version', 'Metadata'],
    ['- {level: Metadata, userGroups: [ops]}', 'GET', '/version', 'None'],
    ['- {level: Metadata, verbs: [watch]}', 'GET', '/api/v1/pods?watch=1', 'Metadata'],
    ['- {level: Metadata, verbs: [watch]}', 'GET', '/api/v1/pods', 'None'],
    ['- {level: Metadata, resources: [{group: ""}]}', 'GET', '/api/v1/pods', 'Metadata'],
    ['- {level: Metadata, resources: [{group: ""}]}', 'GET', '/apis/apps/v1/deployments', 'None'],
    ['- {level: Metadata, resources: [{group: ""}]}', 'GET', '/version', 'None'],
    ['- {level: Metadata, resources: [{group: "", resources: [pods]}]}', 'GET', '/api/v1/namespaces/x/pods/p/log', 'None'],
    ['- {level: Metadata, resources: [{group: "", resources: [pods/log]}]}', 'GET', '/api/v1/namespaces/x/pods/p/log', 'Metadata'],
    ['- {level: Metadata, resources: [{group: "", resources: [pods/*]}]}', 'GET', '/api/v1/namespaces/x/pods/p/log', 'Metadata'],
    ['- {level: Metadata, resources: [{group: "", resources: ["*/log"]}]}', 'GET', '/api/v1/namespaces/x/pods/p/log', 'Metadata'],
    ['- {level: Metadata, resources: [{group: "", resources: ["*/log"]}]}', 'GET', '/api/v1/namespaces/x/pods/p', 'None'],
    ['- {level: Metadata, resources: [{group: "", resources: [pods], resourceNames: [q]}]}', 'GET', '/api/v1/namespaces/x/pods/p', 'None'],
    ['- {level: Metadata, namespaces: [x]}', 'GET', '/api/v1/namespaces/x/pods', 'Metadata'],
    ['- {level: Metadata, namespaces: [""]}', 'GET', '/api/v1/nodes', 'Metadata'],
    ['- {level: Metadata, namespaces: [""]}', 'GET', '/api/v1/namespaces/x/pods', 'None'],
    ['- {level: Metadata, nonResourceURLs: ["/healthz*"]}', 'GET', '/healthz/etcd', 'Metadata'],
    ['- {level: Metadata, nonResourceURLs: ["*"]}', 'GET', '/api/v1/pods', 'None'],
  ];
  for (const [rules, method, path, level] of cases) assert.equal(levelOf(rules, method, path), level, `${rules} ${method} ${path}`);
});

test('stages are left out by the policy and by the rule, managed fields by the rule before the policy', () => {
  const text = `${HEAD}omitStages: [RequestReceived]\nomitManagedFields: true\nrules:\n- {level: Request, omitStages: [Panic], omitManagedFields: false}`;
  const verdict = judge(parsePolicy(text), attributesOf({ name: 'a', groups: [] }, parseRequestInfo('GET', '/version')));
  assert.deepEqual(verdict, { level: 'Request', omitStages: ['RequestReceived', 'Panic'], omitManagedFields: false });
});

test('a bad policy is refused with all that is wrong with it', () => {
  const cases: [string, RegExp][] = [
    ['', /holds no object/],
    ['a: [', /yaml: line 1/],
    [`${HEAD}`, /^rules: at least one rule is needed$/],
    ['apiVersion: v1\nkind: Policy\nrules: [{level: None}]', /it is Policy of v1; expected kind Policy of apiVersion audit.k8s.io\/v1/],
    [`${HEAD}rules: [{level: All}]`, /rules\[0\].level: "All" is no level; known: None, Metadata, Request, RequestResponse/],
    [`${HEAD}rules: [{}]`, /rules\[0\].level: "" is no level/],
    [`${HEAD}rules: [{level: None, verb: [get]}]`, /rules\[0\].verb: unknown field/],
    [`${HEAD}rules: [{level: None, verbs: get}]`, /rules\[0\].verbs: not a list of strings/],
    [`${HEAD}rules: [{level: None, omitStages: [Begin]}]`, /rules\[0\].omitStages: "Begin" is no stage/],
    [
      `${HEAD}rules: [{level: None, nonResourceURLs: [x, "/a*b"]}]`,
      /"x" does not begin with \/; .*"\/a\*b" has a \* that is not at its end/,
    ],
    [`${HEAD}rules: [{level: None, nonResourceURLs: [/x], namespaces: [a]}]`, /not both/],
    [`${HEAD}rules: [{level: None, resources: [{group: apps/v1}]}]`, /without its version/],
    [`${HEAD}rules: [{level: None, resources: [{resourceNames: [a]}]}]`, /resourceNames: needs resources/],
  ];
  for (const [text, message] of cases) assert.throws(() => parsePolicy(text), { message }, text);
  assert.throws(() => readPolicyFile('/nowhere/policy.yaml'), /--audit-policy-file \/nowhere\/policy.yaml cannot be read/);
});
