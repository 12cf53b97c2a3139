/** Refusals of upstream's storage name the key in etcd, which is not always made of the resource's name. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { preconditionFailed } from './precondition.ts';
import type { ServedResource } from './served.ts';

const CASES: readonly (readonly [group: string, resource: string, namespaced: boolean, key: string])[] = [
  ['', 'pods', true, 'pods/n/a'],
  ['', 'nodes', false, 'minions/a'],
  ['', 'services', true, 'services/specs/n/a'],
  ['', 'endpoints', true, 'services/endpoints/n/a'],
  ['', 'replicationcontrollers', true, 'controllers/n/a'],
  ['networking.k8s.io', 'ingresses', true, 'ingress/n/a'],
  ['networking.k8s.io', 'ingressclasses', false, 'ingressclasses/a'],
  ['apps', 'deployments', true, 'deployments/n/a'],
  ['apiregistration.k8s.io', 'apiservices', false, 'apiregistration.k8s.io/apiservices/a'],
  ['apiextensions.k8s.io', 'customresourcedefinitions', false, 'apiextensions.k8s.io/customresourcedefinitions/a'],
];

for (const [group, resource, namespaced, key] of CASES) {
  test(`${resource} are kept under ${key}`, () => {
    const { message } = preconditionFailed({ group, resource, namespaced } as ServedResource, { namespace: 'n', name: 'a' }, 'why');
    const of = group === '' ? resource : `${resource}.${group}`;
    const said = `StorageError: invalid object, Code: 4, Key: /registry/${key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: why`;
    assert.equal(message, `Operation cannot be fulfilled on ${of} "a": ${said}`);
  });
}
