/** Namespaces, endpoints, replication controllers, accounts and templates: the rules of kinds that have few. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { refusals, warningsOf } from '../testing/kind-under-test.ts';
import { containerWith } from '../testing/pods.ts';
import { endpoints } from './endpoints.ts';
import { namespace } from './namespace.ts';
import { podtemplate } from './podtemplate.ts';
import { replicationcontroller } from './replicationcontroller.ts';
import { serviceaccount } from './serviceaccount.ts';

const twice = (...texts: string[]): string[] => [...texts, ...texts];

describe('a namespace', () => {
  const holds = (...finalizers: string[]): object => ({ spec: { finalizers } });
  const UNKNOWN = 'name is neither a standard finalizer name nor is it fully qualified';

  it('is held by names with a domain', () => {
    assert.deepEqual(refusals(namespace, holds('kubernetes', 'example.com/a')), []);
    assert.deepEqual(refusals(namespace, holds('mine')), [`spec.finalizers: Invalid value: "mine": ${UNKNOWN}`]);
    assert.deepEqual(refusals(namespace, holds('kubernetes', 'mine'), { old: {}, subresource: 'finalize' }), [
      `spec.finalizers[1]: Invalid value: "mine": ${UNKNOWN}`,
    ]);
  });

  it('is active until it is deleted, and terminates from then on', () => {
    const phase = (text: string): object => ({ status: { phase: text } });
    assert.deepEqual(refusals(namespace, phase('Terminating'), { old: {}, subresource: 'status' }), [
      'status.Phase: Invalid value: "Terminating": may only be \'Active\' if `deletionTimestamp` is empty',
    ]);
    const metadata = { name: 'a', deletionTimestamp: '2026-01-01T00:00:00Z' };
    assert.deepEqual(refusals(namespace, { metadata, ...phase('Active') }, { old: { metadata }, subresource: 'status' }), [
      'status.Phase: Invalid value: "Active": may only be \'Terminating\' if `deletionTimestamp` is not empty',
    ]);
  });
});

describe('endpoints', () => {
  const at = (address: object, ...ports: object[]): object => ({ subsets: [{ addresses: [address], ports }] });
  const NO_IP = 'must be a valid IP address';
  const cases: readonly (readonly [object, readonly string[]])[] = [
    [at({ ip: '10.0.0.1' }), []],
    [{ subsets: [{}] }, ['subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`']],
    [
      at({ ip: 'x' }),
      [
        `subsets[0].addresses[0].ip: Invalid value: "x": ${NO_IP}, (e.g. 10.9.8.7 or 2001:db8::ffff)`,
        `subsets[0].addresses[0].ip: Invalid value: "x": ${NO_IP}`,
      ],
    ],
    [
      at({ ip: '169.254.1.1' }),
      ['subsets[0].addresses[0].ip: Invalid value: "169.254.1.1": may not be in the link-local range (169.254.0.0/16, fe80::/10)'],
    ],
    [at({ ip: '0.0.0.0' }), ['subsets[0].addresses[0].ip: Invalid value: "0.0.0.0": may not be unspecified (0.0.0.0)']],
    [at({ ip: '010.0.0.1' }), ['subsets[0].addresses[0].ip: Invalid value: "010.0.0.1": must not have leading 0s']],
    [
      at({ ip: '::ffff:127.0.0.1' }),
      [
        'subsets[0].addresses[0].ip: Invalid value: "::ffff:127.0.0.1": must not be an IPv4-mapped IPv6 address',
        'subsets[0].addresses[0].ip: Invalid value: "::ffff:127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
      ],
    ],
    [
      at({ ip: 'ff02::1' }),
      ['subsets[0].addresses[0].ip: Invalid value: "ff02::1": may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)'],
    ],
    [at({ ip: '10.0.0.1' }, { port: 1 }, { port: 2, name: 'b' }), ['subsets[0].ports[0].name: Required value']],
    [at({ ip: '10.0.0.1' }, { port: 0 }), ['subsets[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive']],
    [
      at({ ip: '10.0.0.1' }, { port: 1, protocol: 'HTTP' }),
      ['subsets[0].ports[0].protocol: Unsupported value: "HTTP": supported values: "SCTP", "TCP", "UDP"'],
    ],
  ];
  for (const [object, expected] of cases) {
    it(`${JSON.stringify(object)} are ${expected.length === 0 ? 'accepted' : 'refused'}`, () => {
      assert.deepEqual(refusals(endpoints, object), expected);
    });
  }
});

describe('a replication controller', () => {
  const made = (spec: object = {}): object => ({
    spec: { template: { metadata: { labels: { app: 'a' } }, spec: { containers: [containerWith()] } }, ...spec },
  });

  it('selects by the labels of its template', () => {
    assert.deepEqual(refusals(replicationcontroller, made()), []);
    assert.deepEqual(refusals(replicationcontroller, made({ selector: { app: 'b' } })), [
      'spec.template.metadata.labels: Invalid value: {"app":"a"}: `selector` does not match template `labels`',
    ]);
    assert.deepEqual(refusals(replicationcontroller, {}), ['spec.selector: Required value', 'spec.template: Required value']);
  });

  it('is checked twice when it changes', () => {
    const text = 'spec.replicas: Invalid value: -1: must be greater than or equal to 0';
    assert.deepEqual(refusals(replicationcontroller, made({ replicas: -1 })), [text]);
    assert.deepEqual(refusals(replicationcontroller, made({ replicas: -1 }), { old: made() }), twice(text));
  });
});

describe('an account and a template', () => {
  it('of accounts, the annotation that once restricted secrets is warned of when it comes', () => {
    const enforced = { metadata: { name: 'a', annotations: { 'kubernetes.io/enforce-mountable-secrets': 'true' } } };
    const text =
      'metadata.annotations[kubernetes.io/enforce-mountable-secrets]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets';
    assert.deepEqual(warningsOf(serviceaccount, enforced), [text]);
    assert.deepEqual(warningsOf(serviceaccount, enforced, {}), [text]);
    assert.deepEqual(warningsOf(serviceaccount, enforced, enforced), []);
  });

  it('of templates, the pod is checked as of any workload', () => {
    assert.deepEqual(refusals(podtemplate, { template: { spec: { containers: [] } } }), ['template.spec.containers: Required value']);
    assert.deepEqual(refusals(podtemplate, { template: { spec: { containers: [containerWith()], restartPolicy: 'Never' } } }), []);
    assert.deepEqual(
      refusals(podtemplate, { template: { spec: { containers: [containerWith()], ephemeralContainers: [containerWith({ name: 'e' })] } } }),
      ['template.spec.ephemeralContainers: Forbidden: ephemeral containers not allowed in pod template'],
    );
  });
});
