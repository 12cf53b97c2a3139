/** Services: what they are given, what they keep, and what is said of the rest. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StatusError } from '../../../machinery/api/status.ts';
import type { Service, ServiceSpec } from '../../../machinery/api/types/core.v1.ts';
import type { Store } from '../../storage/interface.ts';
import type { ResourceDefinition, StrategyContext } from '../resource.ts';
import { NOW } from '../testing/kind-under-test.ts';
import { serviceKind } from './service.ts';

const STORE = { list: () => ({ items: [], revision: 1 }), watch: () => ({ close: () => undefined }) } as unknown as Store;
const newKind = (): ResourceDefinition =>
  serviceKind({ store: STORE, serviceClusterIpRange: '10.96.0.0/16', serviceNodePortRange: [30000, 32767] });
const contextOf = (dryRun: boolean): StrategyContext => ({ now: NOW, dryRun, subresource: '' }) as unknown as StrategyContext;

interface Written {
  readonly service: Service;
  readonly messages: readonly string[];
}

interface Writing {
  readonly old?: Service;
  readonly dryRun?: boolean;
  readonly kind?: ResourceDefinition;
  readonly name?: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** One write as the handlers make it. */
function write(spec: object, { old, dryRun = false, kind = newKind(), name = 's', annotations }: Writing = {}): Written {
  const { strategy } = kind;
  const service = { metadata: { name, namespace: 'n', annotations }, spec: structuredClone(spec) } as unknown as Service;
  const context = contextOf(dryRun);
  strategy.default?.(service);
  if (old) strategy.prepareForUpdate?.(service, old, context);
  else strategy.prepareForCreate?.(service, context);
  try {
    strategy.allocate?.(service, old, context);
  } catch (error) {
    assert.ok(error instanceof StatusError, String(error));
    return { service, messages: [error.message.replace('Service "s" is invalid: ', '')] };
  }
  const errors = old ? strategy.validateUpdate?.(service, old, context) : strategy.validate?.(service, context);
  return { service, messages: (errors ?? []).map(({ message }) => message) };
}

const port = (members: object = {}): object => ({ port: 80, ...members });
const spec = (members: object = {}): object => ({ ports: [port()], ...members });
const messages = (members: object, writing: Writing = {}): readonly string[] => write(spec(members), writing).messages;
const specOf = (members: object, writing: Writing = {}): ServiceSpec => {
  const written = write(spec(members), writing);
  assert.deepEqual(written.messages, []);
  return written.service.spec!;
};
const changed = (old: object, next: object): readonly string[] => {
  const kind = newKind();
  const before = write(spec(old), { kind });
  assert.deepEqual(before.messages, []);
  return write(spec(next), { kind, old: before.service }).messages;
};

const ONLY_BALANCED = "Forbidden: may only be used when `type` is 'LoadBalancer'";

describe('a new service', () => {
  const cases: readonly (readonly [object, readonly string[]])[] = [
    [{ ports: [] }, ['spec.ports: Required value']],
    [{ ports: [], clusterIP: 'None' }, []],
    [{ ports: [port(), port({ port: 81 })] }, ['spec.ports[0].name: Required value', 'spec.ports[1].name: Required value']],
    [{ type: 'Odd' }, ['spec.type: Unsupported value: "Odd": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"']],
    [{ sessionAffinity: 'Cookie' }, ['spec.sessionAffinity: Unsupported value: "Cookie": supported values: "ClientIP", "None"']],
    [
      { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 86401 } } },
      ['spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 86401: must be greater than 0 and less than 86400'],
    ],
    [{ type: 'ExternalName' }, ['spec.externalName: Required value']],
    [
      { type: 'ExternalName', externalName: 'a.example.com', clusterIP: '10.96.0.9' },
      ['spec.clusterIPs: Forbidden: may not be set for ExternalName services'],
    ],
    [{ ports: [port({ nodePort: 30001 })] }, ["spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"]],
    [{ allocateLoadBalancerNodePorts: false }, [`spec.allocateLoadBalancerNodePorts: ${ONLY_BALANCED}`]],
    [{ loadBalancerClass: 'a' }, [`spec.loadBalancerClass: ${ONLY_BALANCED}`]],
    [{ loadBalancerSourceRanges: ['10.0.0.0/8'] }, [`spec.LoadBalancerSourceRanges: ${ONLY_BALANCED}`]],
    [
      { externalTrafficPolicy: 'Local' },
      ['spec.externalTrafficPolicy: Invalid value: "Local": may only be set for externally-accessible services'],
    ],
    [
      { healthCheckNodePort: 30005 },
      [
        "spec.healthCheckNodePort: Invalid value: 30005: may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
      ],
    ],
    [{ internalTrafficPolicy: 'Near' }, ['spec.internalTrafficPolicy: Unsupported value: "Near": supported values: "Cluster", "Local"']],
    [
      { externalIPs: ['127.0.0.1'] },
      ['spec.externalIPs[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)'],
    ],
    [
      { clusterIP: 'None', type: 'NodePort' },
      ['spec.clusterIPs[0]: Invalid value: "None": may not be set to \'None\' for NodePort services'],
    ],
    [
      { ports: [port({ name: 'a' }), port({ name: 'b' })] },
      ['spec.ports[1]: Duplicate value: {"Name":"","Protocol":"TCP","AppProtocol":null,"Port":80,"TargetPort":0,"NodePort":0}'],
    ],
    [{ ports: [port({ name: 'a', protocol: 'UDP' }), port({ name: 'b' })] }, []],
    [
      { ports: [port({ appProtocol: 'a b' })] },
      [
        "spec.ports[0].appProtocol: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
      ],
    ],
  ];
  for (const [members, expected] of cases) {
    it(`${JSON.stringify(members)} is ${expected.length === 0 ? 'accepted' : 'refused'}`, () => {
      assert.deepEqual(messages(members), expected);
    });
  }
});

describe('addresses and families', () => {
  it('are given, as those of the cluster', () => {
    const given = specOf({});
    assert.deepEqual(
      [given.clusterIP, given.clusterIPs, given.ipFamilies, given.ipFamilyPolicy],
      ['10.96.1.1', ['10.96.1.1'], ['IPv4'], 'SingleStack'],
    );
    assert.deepEqual(specOf({ ipFamilyPolicy: 'PreferDualStack' }).ipFamilies, ['IPv4']);
    const headless = specOf({ clusterIP: 'None' });
    assert.deepEqual([headless.clusterIPs, headless.ipFamilyPolicy, headless.ipFamilies], [['None'], 'RequireDualStack', ['IPv4', 'IPv6']]);
    assert.deepEqual(specOf({ clusterIP: 'None', selector: { a: 'b' } }).ipFamilies, ['IPv4']);
  });

  it('are not given when the cluster has no such', () => {
    assert.deepEqual(messages({ ipFamilyPolicy: 'RequireDualStack' }), [
      'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services',
    ]);
    assert.deepEqual(messages({ ipFamilies: ['IPv6'] }), ['spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster']);
    assert.deepEqual(messages({ ipFamilies: ['IPv4', 'IPv6'] }), [
      "spec.ipFamilyPolicy: Invalid value: \"SingleStack\": must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified",
    ]);
  });

  it('are taken by who asks first, also in dry runs', () => {
    const kind = newKind();
    assert.equal(specOf({ clusterIP: '10.96.0.7' }, { kind }).clusterIP, '10.96.0.7');
    assert.deepEqual(messages({ clusterIP: '10.96.0.7' }, { kind, name: 't' }), [
      'Service "t" is invalid: spec.clusterIPs: Invalid value: ["10.96.0.7"]: failed to allocate IP 10.96.0.7: provided IP is already allocated',
    ]);
    assert.deepEqual(messages({ clusterIP: '10.97.0.7' }, { kind }), [
      'spec.clusterIPs: Invalid value: ["10.97.0.7"]: failed to allocate IP 10.97.0.7: the provided network does not match the current range',
    ]);
    assert.deepEqual(messages({ clusterIP: '10.97.0.7' }, { kind, dryRun: true }), [
      'spec.clusterIPs: Invalid value: ["10.97.0.7"]: failed to allocate IP 10.97.0.7: the provided IP (10.97.0.7) is not in the valid range. The range of valid IPs is 10.96.0.0/16',
    ]);
  });

  it('stay while the service has any', () => {
    assert.deepEqual(changed({}, {}), []);
    assert.deepEqual(changed({}, { clusterIP: '10.96.0.8' }), [
      'spec.clusterIPs[0]: Invalid value: ["10.96.0.8"]: may not change once set',
    ]);
    assert.deepEqual(changed({}, { type: 'ExternalName', externalName: 'a.example.com' }), []);
    assert.deepEqual(changed({ type: 'ExternalName', externalName: 'a.example.com' }, { clusterIP: '10.96.0.9' }), []);
  });
});

describe('node ports', () => {
  it('are given one for each port, and one for a number of two protocols', () => {
    const ports = [port({ name: 'a' }), port({ name: 'b', protocol: 'UDP' }), port({ name: 'c', port: 81 })];
    const [a, b, c] = specOf({ type: 'NodePort', ports }).ports!;
    assert.ok(a!.nodePort);
    assert.equal(b!.nodePort, a!.nodePort);
    assert.notEqual(c!.nodePort, a!.nodePort);
    const asked = [port({ name: 'a' }), port({ name: 'b', protocol: 'UDP', nodePort: 30007 })];
    assert.deepEqual(
      specOf({ type: 'NodePort', ports: asked }).ports!.map((p) => p.nodePort),
      [30007, 30007],
    );
  });

  it('are of the range and nobody else’s', () => {
    const kind = newKind();
    specOf({ type: 'NodePort', ports: [port({ nodePort: 30009 })] }, { kind });
    const taken = ['Service "t" is invalid: spec.ports[0].nodePort: Invalid value: 30009: provided port is already allocated'];
    assert.deepEqual(messages({ type: 'NodePort', ports: [port({ nodePort: 30009 })] }, { kind, name: 't' }), taken);
    assert.deepEqual(messages({ type: 'NodePort', ports: [port({ nodePort: 30009 })] }, { kind, name: 't', dryRun: true }), taken);
    assert.deepEqual(messages({ type: 'NodePort', ports: [port({ nodePort: 80 })] }), [
      'spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The range of valid ports is 30000-32767',
    ]);
    assert.deepEqual(messages({ type: 'NodePort', ports: [port({ nodePort: 80 })] }, { dryRun: true }), []);
  });

  it('of a balanced service may be left out', () => {
    const given = specOf({
      type: 'LoadBalancer',
      allocateLoadBalancerNodePorts: false,
      ports: [port(), port({ name: 'b', port: 81, nodePort: 30011 })].map((p, i) => ({ name: `p${i}`, ...p })),
    });
    assert.deepEqual(
      given.ports!.map((p) => p.nodePort),
      [undefined, 30011],
    );
  });

  it('go with the type that has them and stay by the name of their port', () => {
    const kind = newKind();
    const { service: old } = write(spec({ type: 'NodePort', ports: [port({ nodePort: 30013 })] }), { kind });
    const { service: plain, messages: none } = write(spec({ ports: [port({ nodePort: 30013 })] }), { kind, old });
    assert.deepEqual(none, []);
    assert.equal(plain.spec!.ports![0]!.nodePort, undefined);
    const { service: same } = write(spec({ type: 'NodePort', ports: [port({ port: 99 })] }), { kind, old });
    assert.equal(same.spec!.ports![0]!.nodePort, 30013);
    assert.deepEqual(write(spec({ ports: [port({ nodePort: 30014 })] }), { kind, old }).messages, [
      "spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'",
    ]);
  });
});

describe('a balanced service', () => {
  const local = { type: 'LoadBalancer', externalTrafficPolicy: 'Local' };

  it('has a port for health checks while its traffic stays local', () => {
    assert.ok(specOf(local).healthCheckNodePort);
    assert.equal(specOf({ ...local, healthCheckNodePort: 30021 }).healthCheckNodePort, 30021);
    const kind = newKind();
    const { service: old } = write(spec({ ...local, healthCheckNodePort: 30021 }), { kind });
    assert.equal(write(spec({ type: 'LoadBalancer' }), { kind, old }).service.spec!.healthCheckNodePort, undefined);
    assert.deepEqual(write(spec({ ...local, healthCheckNodePort: 30022 }), { kind, old }).messages, [
      'spec.healthCheckNodePort: Forbidden: field is immutable',
    ]);
  });

  it('keeps its class', () => {
    assert.deepEqual(changed({ type: 'LoadBalancer', loadBalancerClass: 'a/b' }, { type: 'LoadBalancer', loadBalancerClass: 'a/c' }), [
      'spec.loadBalancerClass: Invalid value: "a/c": may not change once set',
    ]);
    assert.deepEqual(changed({ type: 'LoadBalancer', loadBalancerClass: 'a/b' }, { loadBalancerClass: 'a/b' }), []);
    assert.deepEqual(changed({}, { loadBalancerClass: 'a/b' }), [
      `spec.loadBalancerClass: ${ONLY_BALANCED}`,
      `spec.loadBalancerClass: ${ONLY_BALANCED}`,
    ]);
  });

  it('is open to ranges, by field or annotation', () => {
    const key = 'service.beta.kubernetes.io/load-balancer-source-ranges';
    assert.deepEqual(messages({ type: 'LoadBalancer' }, { annotations: { [key]: ' 10.0.0.0/8 ,x' } }), [
      `metadata.annotations[${key}]: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)`,
    ]);
    assert.deepEqual(messages({}, { annotations: { [key]: '' } }), [`metadata.annotations[${key}]: ${ONLY_BALANCED}`]);
  });
});

describe('warnings of a service', () => {
  const warned = (members: object, annotations?: Readonly<Record<string, string>>): string[] => {
    const kind = newKind();
    return kind.strategy.warnings!(write(spec(members), { kind, ...(annotations && { annotations }) }).service, undefined);
  };
  const EXTERNAL = 'spec.externalIPs is deprecated and may no longer be implemented in some clusters';

  it('name what is ignored or going away', () => {
    assert.deepEqual(warned({}), []);
    assert.deepEqual(warned({ externalIPs: ['192.0.2.1'] }), [EXTERNAL]);
    assert.deepEqual(warned({ type: 'ExternalName', externalName: 'a.b', externalIPs: ['192.0.2.1'] }), [
      EXTERNAL,
      'spec.externalIPs is ignored when spec.type is "ExternalName"',
    ]);
    assert.deepEqual(warned({ externalName: 'a.b' }), ['spec.externalName is ignored when spec.type is not "ExternalName"']);
    assert.deepEqual(warned({}, { 'service.kubernetes.io/topology-aware-hints': 'auto' }), [
      'annotation service.kubernetes.io/topology-aware-hints is deprecated, please use service.kubernetes.io/topology-mode instead',
    ]);
  });
});
