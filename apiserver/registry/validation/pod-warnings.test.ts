/** What pods and templates are warned of. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { containerWith, type Loose, podWith } from '../testing/pods.ts';
import { podWarnings } from './pod-warnings.ts';

const warned = (spec: Loose, annotations: Record<string, string> = {}, path = ''): string[] =>
  podWarnings({ annotations }, podWith(spec).spec, path);
const containers = (...members: Loose[]): Loose => ({ containers: members.map((m, i) => containerWith({ name: `c${i}`, ...m })) });
const volume = (members: Loose): Loose => ({ volumes: [{ name: 'v', ...members }] });

type Case = readonly [Loose, readonly string[]];

function check(cases: readonly Case[]): void {
  for (const [spec, expected] of cases) assert.deepEqual(warned(spec), expected, JSON.stringify(spec));
}

describe('a pod is warned of', () => {
  it('labels of nodes that have newer names', () => {
    check([
      [{ nodeSelector: { 'kubernetes.io/os': 'linux' } }, []],
      [
        { nodeSelector: { 'beta.kubernetes.io/arch': 'x' } },
        ['spec.nodeSelector[beta.kubernetes.io/arch]: deprecated since v1.14; use "kubernetes.io/arch" instead'],
      ],
      [
        {
          topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'beta.kubernetes.io/instance-type', whenUnsatisfiable: 'DoNotSchedule' }],
        },
        [
          'spec.topologySpreadConstraints[0].topologyKey: beta.kubernetes.io/instance-type is deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
          'spec.topologySpreadConstraints[0].labelSelector: a null labelSelector results in matching no pod',
        ],
      ],
      [
        {
          affinity: {
            podAntiAffinity: {
              preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: { topologyKey: 'k' } }],
              requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'k', labelSelector: {} }],
            },
          },
        },
        [
          'spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.labelSelector: a null labelSelector results in matching no pod',
        ],
      ],
    ]);
  });

  it('volumes whose plugins are gone', () => {
    check([
      [volume({ gitRepo: { repository: 'r' } }), ['spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+']],
      [volume({ storageos: {} }), ['spec.volumes[0].storageOS: deprecated in v1.22, non-functional in v1.25+']],
      [volume({ glusterfs: { endpoints: 'e', path: 'p' } }), ['spec.volumes[0].glusterfs: deprecated in v1.25, non-functional in v1.26+']],
      [volume({ nfs: { server: 's', path: '/' } }), []],
    ]);
  });

  it('files that hide one another', () => {
    const items = (...paths: string[]): Loose[] => paths.map((path, i) => ({ key: `k${i}`, path }));
    check([
      [volume({ configMap: { name: 'm', items: items('a', 'b') } }), []],
      [volume({ configMap: { name: 'm', items: items('a', 'a/b') } }), ['volume "v" (ConfigMap "m"): overlapping paths: "a/b" with "a"']],
      [volume({ secret: { secretName: 's', items: items('a', 'a') } }), ['volume "v" (Secret "s"): overlapping paths: "a" with "a"']],
      [
        volume({
          projected: { sources: [{ configMap: { name: 'm', items: items('a/b') } }, { secret: { name: 's', items: items('a') } }] },
        }),
        ['volume "v" (Projected): overlapping paths: "a" (Secret "s") with "a/b" (ConfigMap "m")'],
      ],
      [volume({ projected: { sources: [{}] } }), ['volume "v" (Projected) has no sources provided']],
    ]);
  });

  it('what is there twice, or is empty', () => {
    check([
      [{ imagePullSecrets: [{ name: 'a' }, { name: 'a' }] }, ['spec.imagePullSecrets[1].name: duplicate name "a"']],
      [{ imagePullSecrets: [{}] }, ['spec.imagePullSecrets[0].name: invalid empty name ""']],
      [
        {
          hostAliases: [
            { ip: '10.0.0.1', hostnames: ['a'] },
            { ip: '10.0.0.1', hostnames: ['b'] },
          ],
        },
        ['spec.hostAliases[1].ip: duplicate ip "10.0.0.1"'],
      ],
      [
        { terminationGracePeriodSeconds: -1 },
        ['spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1'],
      ],
    ]);
  });

  it('fractions of a byte', () => {
    check([
      [
        containers({ resources: { requests: { memory: '1500m' } } }),
        ['spec.containers[0].resources.requests[memory]: fractional byte value "1500m" is invalid, must be an integer'],
      ],
      [
        containers({ resources: { limits: { 'ephemeral-storage': '1m' }, requests: { 'ephemeral-storage': '0' } } }),
        ['spec.containers[0].resources.limits[ephemeral-storage]: fractional byte value "1m" is invalid, must be an integer'],
      ],
      [{ overhead: { memory: '100m' } }, ['spec.overhead[memory]: fractional byte value "100m" is invalid, must be an integer']],
      [containers({ resources: { requests: { cpu: '1500m' } } }), []],
    ]);
  });

  it('variables that hide others', () => {
    const env = (...list: Loose[]): Loose => containers({ env: list });
    check([
      [env({ name: 'A', value: '1' }, { name: 'B', value: '2' }), []],
      [
        env({ name: 'A', value: '1' }, { name: 'A', value: '2' }),
        ['spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply'],
      ],
      [env({ name: 'A', value: '1' }, { name: 'A', value: '$(A):2' }), []],
      [
        env({ name: 'A', value: '1' }, { name: 'A', value: '$(A)' }),
        ['spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply'],
      ],
    ]);
  });

  it('ports that are the same', () => {
    const port = (members: Loose): Loose => ({ containerPort: 80, ...members });
    check([
      [containers({ ports: [port({})] }, { ports: [port({ protocol: 'UDP' })] }), []],
      [
        containers({ ports: [port({})] }, { ports: [port({})] }),
        ['spec.containers[1].ports[0]: duplicate port definition with spec.containers[0].ports[0]'],
      ],
      [
        containers({ ports: [port({}), port({ hostPort: 8080 })] }),
        ['spec.containers[0].ports[1]: overlapping port definition with spec.containers[0].ports[0]'],
      ],
      [
        containers({ ports: [port({ hostPort: 8080 }), port({ hostPort: 8080, hostIP: '10.0.0.1' })] }),
        ['spec.containers[0].ports[1]: dangerously ambiguous port definition with spec.containers[0].ports[0]'],
      ],
      [
        containers({ ports: [port({ name: 'web' })] }, { ports: [port({ containerPort: 81, name: 'web' })] }),
        [
          'spec.containers[1].ports[0]: duplicate port name "web" with spec.containers[0].ports[0], services and probes that select ports by name will use spec.containers[0].ports[0]',
        ],
      ],
      [
        containers({ ports: [port({ hostIP: '10.0.0.1' })] }),
        ['spec.containers[0].ports[0]: hostIP set without hostPort: {Name: HostPort:0 ContainerPort:80 Protocol:TCP HostIP:10.0.0.1}'],
      ],
    ]);
  });

  it('annotations that were before fields', () => {
    const critical = 'scheduler.alpha.kubernetes.io/critical-pod';
    assert.deepEqual(warned({}, { [critical]: '' }), [
      `metadata.annotations[${critical}]: non-functional in v1.16+; use the "priorityClassName" field instead`,
    ]);
    const seccomp = 'container.seccomp.security.alpha.kubernetes.io/c';
    assert.deepEqual(warned({}, { [seccomp]: 'unconfined' }, 'spec.template'), [
      `spec.template.metadata.annotations[${seccomp}]: non-functional in v1.27+; use the "seccompProfile" field instead`,
    ]);
    const armor = 'container.apparmor.security.beta.kubernetes.io/c';
    assert.deepEqual(warned({}, { [armor]: 'unconfined' }, 'spec.template'), [
      `spec.template.metadata.annotations[${armor}]: deprecated since v1.30; use the "appArmorProfile" field instead`,
    ]);
  });

  it('addresses that are not as they should be written', () => {
    check([
      [
        { dnsConfig: { nameservers: ['2001:db8:0::1'] } },
        ['spec.dnsConfig.nameservers[0]: IPv6 address "2001:db8:0::1" should be in RFC 5952 canonical format ("2001:db8::1")'],
      ],
    ]);
  });
});
