/** Ingresses, network policies and ranges are judged as upstream does: all mistakes at once, in its order and words. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FieldError } from '../../../machinery/api/field-error.ts';
import type { Ingress, IngressSpec, NetworkPolicy, NetworkPolicySpec } from '../../../machinery/api/types/networking.k8s.io.v1.ts';
import { cellsOf, nameDetails, refusals } from '../testing/kind-under-test.ts';
import { canonicalCidrErrors, canonicalCidrWarning, cidrErrors, ipErrors, isStrictSubset, parseNetwork } from '../validation/ip.ts';
import { ingress as ingressKind } from './ingress.ts';
import { ingressCreateErrors, ingressUpdateErrors } from './ingress-validation.ts';
import { ipaddress } from './ipaddress.ts';
import { networkPolicyErrors } from './networkpolicy-validation.ts';
import { servicecidr } from './servicecidr.ts';

const messages = (errors: readonly FieldError[]): string[] => errors.map((error) => error.message);
const ingress = (spec: unknown): Ingress =>
  ({ apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', metadata: { name: 'a' }, spec: spec as IngressSpec }) as Ingress;
const policy = (spec: unknown): NetworkPolicy =>
  ({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: 'a' },
    spec: spec as NetworkPolicySpec,
  }) as NetworkPolicy;

const web = { service: { name: 'web', port: { number: 80 } } };
const rule = (path: unknown): unknown => ({ rules: [{ http: { paths: [path] } }] });

test('an ingress says what is wrong with its paths and backends', () => {
  const at = 'spec.rules[0].http.paths[0]';
  const cases: [unknown, string[]][] = [
    [{ defaultBackend: web }, []],
    [rule({ path: '/', pathType: 'Prefix', backend: web }), []],
    [rule({ path: 'x', pathType: 'ImplementationSpecific', backend: web }), [`${at}.path: Invalid value: "x": must be an absolute path`]],
    [
      rule({ path: '/a//b/..', pathType: 'Exact', backend: web }),
      [`${at}.path: Invalid value: "/a//b/..": must not contain '//'`, `${at}.path: Invalid value: "/a//b/..": cannot end with '/..'`],
    ],
    [rule({ path: '/', pathType: 'Prefix' }), [`${at}.backend: Invalid value: "": resource or service backend is required`]],
    [
      rule({ path: '/', pathType: 'Prefix', backend: { service: { name: 'web', port: { name: 'http', number: 1 } } } }),
      [`${at}.backend: Invalid value: "": cannot set both port name & port number`],
    ],
    [
      { defaultBackend: { service: { name: '' } } },
      ['spec.defaultBackend.service.name: Required value', 'spec.defaultBackend: Required value: port name or number is required'],
    ],
    [{ defaultBackend: { resource: { kind: 'Bucket' } } }, ['spec.defaultBackend.resource.name: Required value']],
  ];
  for (const [spec, expected] of cases) assert.deepEqual(messages(ingressCreateErrors(ingress(spec))), expected);
});

test('what was wrong under a wildcard host before may stay in an update', () => {
  const bad = ingress({ rules: [{ host: '*.example.com', http: { paths: [{ path: 'x', pathType: 'Prefix', backend: web }] } }] });
  assert.equal(ingressCreateErrors(bad).length, 1);
  assert.deepEqual(ingressUpdateErrors(bad, bad), []);
});

test('a network policy says what is wrong with its peers and ports', () => {
  const from = (peer: unknown): unknown => ({ podSelector: {}, ingress: [{ from: [peer] }] });
  const at = 'spec.ingress[0].from[0]';
  const cases: [unknown, string[]][] = [
    [from({ ipBlock: { cidr: '2001:db8::/32', except: ['2001:db8:1::/48'] } }), []],
    [
      from({ ipBlock: { cidr: '10.0.0.0/8', except: ['2001:db8::/48'] } }),
      [`${at}.ipBlock.except[0]: Invalid value: "2001:db8::/48": must be a strict subset of \`cidr\``],
    ],
    [
      from({ ipBlock: { cidr: '' }, podSelector: {} }),
      [`${at}.ipBlock.cidr: Required value`, `${at}: Forbidden: may not specify both ipBlock and another peer`],
    ],
    [
      { podSelector: {}, egress: [{ ports: [{ protocol: 'SCTP', port: 9, endPort: 70000 }] }], policyTypes: ['Egress'] },
      ['spec.egress[0].ports[0].endPort: Invalid value: 70000: must be between 1 and 65535, inclusive'],
    ],
  ];
  for (const [spec, expected] of cases) assert.deepEqual(messages(networkPolicyErrors(policy(spec))), expected);
});

test('a network that the old policy had may stay as it is', () => {
  const old = policy({ podSelector: {}, ingress: [{ from: [{ ipBlock: { cidr: '10.0.0.1/8' } }] }] });
  assert.equal(networkPolicyErrors(old).length, 1);
  assert.deepEqual(networkPolicyErrors(old, old), []);
});

test('networks are read with and without their sloppiness', () => {
  const says = (check: typeof cidrErrors, text: string): string | undefined => {
    const errors: FieldError[] = [];
    check(text, 'f', errors);
    return errors[0]?.body;
  };
  assert.equal(says(cidrErrors, '192.168.0.0/016'), 'Invalid value: "192.168.0.0/016": must not have leading 0s in IP or prefix length');
  assert.equal(says(cidrErrors, '::ffff:10.0.0.0/104'), 'Invalid value: "::ffff:10.0.0.0/104": must not have an IPv4-mapped IPv6 address');
  assert.equal(says(cidrErrors, '2001:db8::1/64'), 'Invalid value: "2001:db8::1/64": must not have bits set beyond the prefix length');
  assert.equal(says(cidrErrors, '2001:DB8::/64'), undefined);
  assert.equal(says(canonicalCidrErrors, '2001:DB8::/64'), 'Invalid value: "2001:DB8::/64": must be in canonical form ("2001:db8::/64")');
  assert.match(canonicalCidrWarning('2001:DB8::/64', 'f') ?? '', /^f: IPv6 CIDR value .* should be in RFC 5952 canonical format/);
  assert.equal(isStrictSubset(parseNetwork('10.1.0.0/16')!, parseNetwork('10.0.0.0/9')!), true);
  assert.equal(isStrictSubset(parseNetwork('10.128.0.0/16')!, parseNetwork('10.0.0.0/9')!), false);
});

test('the name of an IPAddress is the address in its canonical form', () => {
  const cases: [string, string[]][] = [
    ['192.0.2.7', []],
    ['2001:db8::7', []],
    ['2001:DB8::7', ['must be in canonical form ("2001:db8::7")']],
    ['2001:db8:0:0:0:0:0:7', ['must be in canonical form ("2001:db8::7")']],
    ['192.0.2.007', ['must not have leading 0s']],
    ['::ffff:192.0.2.7', ['must not be an IPv4-mapped IPv6 address']],
    ['0:0:0:0:0:ffff:c000:207', ['must not be an IPv4-mapped IPv6 address']],
    ['300.01.2.3', ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)']],
  ];
  for (const [name, expected] of cases) assert.deepEqual(nameDetails(ipaddress, name), expected, name);
  assert.deepEqual(
    cellsOf(ipaddress, {
      metadata: { name: '192.0.2.7' },
      spec: { parentRef: { group: 'G.example.com', resource: 'Gateways', name: 'X' } },
    }).slice(0, 2),
    ['192.0.2.7', 'gateways.g.example.com/X'],
  );
});

test('what looks mapped but is not may be an address', () => {
  const errors: FieldError[] = [];
  ipErrors('::ffff:1', 'f', errors);
  ipErrors('::fffe:102:304', 'f', errors);
  assert.deepEqual(messages(errors), []);
});

test('an ingress shows three hosts and counts the rules behind them, and each address once', () => {
  const rules = (...hosts: string[]): object => ({ spec: { rules: hosts.map((host) => (host ? { host } : {})) } });
  const cases: [object, string][] = [
    [rules('', ''), '*'],
    [rules('a.io', '', 'b.io'), 'a.io,b.io'],
    [rules('a.io', 'b.io', 'c.io', ''), 'a.io,b.io,c.io + 1 more...'],
    [rules('', 'a.io', 'b.io', 'c.io', 'd.io'), 'a.io,b.io,c.io + 2 more...'],
  ];
  for (const [object, expected] of cases) assert.equal(cellsOf(ingressKind, object)[2], expected);
  const entries = [{ hostname: 'z.io' }, { ip: '10.0.0.2' }, { ip: '10.0.0.1', hostname: 'no' }, { ip: '10.0.0.2' }];
  assert.equal(cellsOf(ingressKind, { status: { loadBalancer: { ingress: entries } } })[3], '10.0.0.1,10.0.0.2,z.io');
});

test('a service range has one network of each family, and all are told that are wrong', () => {
  const cidrs = (...list: string[]): object => ({ spec: { cidrs: list } });
  const cases: [object, string[]][] = [
    [cidrs('10.0.0.0/16', 'fd00::/112'), []],
    [cidrs(), ['spec.cidrs: Required value: at least one CIDR required']],
    [
      cidrs('10.0.0.1/16', 'fd00::0/112'),
      [
        'spec.cidrs[0]: Invalid value: "10.0.0.1/16": must not have bits set beyond the prefix length',
        'spec.cidrs[1]: Invalid value: "fd00::0/112": must be in canonical form ("fd00::/112")',
      ],
    ],
  ];
  for (const [object, expected] of cases) assert.deepEqual(refusals(servicecidr, object), expected);
});
