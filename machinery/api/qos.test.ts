/** The quality of service class by what containers ask for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { qosClassOf } from './qos.ts';
import type { PodSpec, ResourceRequirements } from './types/core.v1.ts';

const pod = (...resources: (ResourceRequirements | undefined)[]): PodSpec => ({
  containers: resources.map((each, i) => ({ name: `c${i}`, ...(each && { resources: each }) })),
});
const full = { cpu: '1', memory: '1Gi' };

const cases: readonly (readonly [string, PodSpec, ReturnType<typeof qosClassOf>])[] = [
  ['nothing asked for', pod(undefined), 'BestEffort'],
  ['only zeros', pod({ requests: { cpu: '0' } }), 'BestEffort'],
  ['only other resources', pod({ limits: { 'example.com/gpu': '1' } }), 'BestEffort'],
  ['limits equal requests', pod({ limits: full, requests: full }), 'Guaranteed'],
  ['equal amounts, differently written', pod({ limits: full, requests: { cpu: '1000m', memory: '1024Mi' } }), 'Guaranteed'],
  ['a container without limits', pod({ limits: full, requests: full }, undefined), 'Burstable'],
  ['requests below limits', pod({ limits: full, requests: { cpu: '500m', memory: '1Gi' } }), 'Burstable'],
  ['the pod itself decides when it asks', { ...pod(undefined), resources: { limits: full, requests: full } }, 'Guaranteed'],
];

for (const [what, spec, wanted] of cases)
  test(what, () => {
    assert.equal(qosClassOf(spec), wanted);
  });
