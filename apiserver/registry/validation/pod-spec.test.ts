/** The pod as a whole: what its members may be and what fits together. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { containerWith, type Loose, specMessages } from '../testing/pods.ts';

const LABEL =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const QUALIFIED =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const IP = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';

type Case = readonly [Loose, readonly string[]];

function check(cases: readonly Case[]): void {
  for (const [spec, expected] of cases) assert.deepEqual(specMessages(spec), expected, JSON.stringify(spec));
}

describe('the spec of a pod', () => {
  it('has values of each set', () => {
    check([
      [
        { restartPolicy: 'Sometimes' },
        ['spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"'],
      ],
      [
        { dnsPolicy: 'Cluster' },
        ['spec.dnsPolicy: Unsupported value: "Cluster": supported values: "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"'],
      ],
      [
        { preemptionPolicy: 'Maybe' },
        ['spec.preemptionPolicy: Unsupported value: "Maybe": supported values: "PreemptLowerPriority", "Never"'],
      ],
      [{ os: { name: 'plan9' } }, ['spec.os: Unsupported value: "plan9": supported values: "linux", "windows"']],
      [{ os: {} }, ['spec.os.name: Required value: cannot be empty']],
    ]);
  });

  it('has names of each form', () => {
    check([
      [{ hostname: 'A' }, [`spec.hostname: Invalid value: "A": ${LABEL}`]],
      [{ subdomain: 'A' }, [`spec.subdomain: Invalid value: "A": ${LABEL}`]],
      [{ subdomain: 'a.b' }, ['spec.subdomain: Invalid value: "a.b": must not contain dots']],
      [{ nodeName: 'a/b' }, [`spec.nodeName: Invalid value: "a/b": ${SUBDOMAIN}`]],
      [{ serviceAccountName: 'A' }, [`spec.serviceAccountName: Invalid value: "A": ${SUBDOMAIN}`]],
      [{ priorityClassName: 'A_' }, [`spec.priorityClassName: Invalid value: "A_": ${SUBDOMAIN}`]],
      [{ runtimeClassName: '-' }, [`spec.runtimeClassName: Invalid value: "-": ${SUBDOMAIN}`]],
      [{ readinessGates: [{ conditionType: 'a b' }] }, [`spec.readinessGates[0].conditionType: Invalid value: "a b": ${QUALIFIED}`]],
      [{ schedulingGates: [{ name: 'a b' }] }, [`spec.schedulingGates[0]: Invalid value: "a b": ${QUALIFIED}`]],
      [{ schedulingGates: [{ name: 'a' }, { name: 'a' }] }, ['spec.schedulingGates[1]: Duplicate value: "a"']],
    ]);
  });

  it('has a deadline of some seconds', () => {
    check([
      [{ activeDeadlineSeconds: 0 }, ['spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive']],
      [
        { activeDeadlineSeconds: 2147483648 },
        ['spec.activeDeadlineSeconds: Invalid value: 2147483648: must be between 1 and 2147483647, inclusive'],
      ],
    ]);
  });

  it('has of the host what goes together', () => {
    check([
      [
        { shareProcessNamespace: true, hostPID: true },
        ['spec.securityContext.shareProcessNamespace: Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled'],
      ],
      [
        { hostUsers: false, hostNetwork: true, hostIPC: true, hostPID: true },
        ['hostNetwork', 'HostPID', 'HostIPC'].map((name) => `spec.${name}: Forbidden: when \`hostUsers\` is false`),
      ],
      [
        { hostNetwork: true, containers: [containerWith({ ports: [{ containerPort: 1, hostPort: 2 }] })] },
        ['spec.containers[0].ports[0].hostPort: Invalid value: 2: must match `containerPort` when `hostNetwork` is true'],
      ],
      [{ hostnameOverride: 'x'.repeat(65) }, ['spec.hostnameOverride: Too long: may not be more than 64 bytes']],
      [{ hostnameOverride: 'a', hostNetwork: true }, ['spec.hostnameOverride: Forbidden: may not be specified when hostNetwork is true']],
      [
        { hostnameOverride: 'a', setHostnameAsFQDN: true },
        ['spec.hostnameOverride: Forbidden: may not be specified when setHostnameAsFQDN is true'],
      ],
    ]);
  });

  it('asks names of its own servers', () => {
    const none = (dnsConfig: Loose | undefined): Loose => ({ dnsPolicy: 'None', ...(dnsConfig && { dnsConfig }) });
    check([
      [none(undefined), ['spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None']],
      [none({}), ['spec.dnsConfig.nameservers: Required value: must provide at least one DNS nameserver when `dnsPolicy` is None']],
      [none({ nameservers: ['x'] }), [`spec.dnsConfig.nameservers[0]: Invalid value: "x": ${IP}`]],
      [
        none({ nameservers: ['1.1.1.1', '1.1.1.2', '1.1.1.3', '1.1.1.4'] }),
        ['spec.dnsConfig.nameservers: Invalid value: ["1.1.1.1","1.1.1.2","1.1.1.3","1.1.1.4"]: must not have more than 3 nameservers'],
      ],
      [none({ nameservers: ['1.1.1.1'], options: [{ name: '' }] }), ['spec.dnsConfig.options[0]: Required value: must not be empty']],
      [none({ nameservers: ['1.1.1.1'], searches: ['a_b.example', '.'] }), []],
    ]);
    const [message] = specMessages(none({ nameservers: ['1.1.1.1'], searches: ['a b'] }));
    assert.match(message!, /^spec\.dnsConfig\.searches\[0\]: Invalid value: "a b": /);
  });

  it('knows hosts by address and name', () => {
    check([
      [
        { hostAliases: [{ ip: 'x', hostnames: ['A'] }] },
        [`spec.hostAliases[0].ip: Invalid value: "x": ${IP}`, `spec.hostAliases[0].hostnames[0]: Invalid value: "A": ${SUBDOMAIN}`],
      ],
      [{ hostAliases: [{ ip: '10.0.0.1', hostnames: ['a.b'] }] }, []],
    ]);
  });

  it('tolerates by the form of each operator', () => {
    const at = 'spec.tolerations[0]';
    const tolerates = (toleration: Loose): Loose => ({ tolerations: [toleration] });
    check([
      [
        tolerates({ operator: 'Equal', value: 'v' }),
        [
          `${at}.operator: Invalid value: "Equal": operator must be Exists when \`key\` is empty, which means "match all values and all keys"`,
        ],
      ],
      [
        tolerates({ key: 'k', operator: 'Exists', value: 'v' }),
        [`${at}.operator: Invalid value: "v": value must be empty when \`operator\` is 'Exists'`],
      ],
      [tolerates({ key: 'k', operator: 'Odd' }), [`${at}.operator: Unsupported value: "Odd": supported values: "Equal", "Exists"`]],
      [
        tolerates({ key: 'k', operator: 'Exists', effect: 'NoSchedule', tolerationSeconds: 1 }),
        [`${at}.effect: Invalid value: "NoSchedule": effect must be 'NoExecute' when \`tolerationSeconds\` is set`],
      ],
      [
        tolerates({ key: 'k', operator: 'Exists', effect: 'Odd' }),
        [`${at}.effect: Unsupported value: "Odd": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"`],
      ],
    ]);
  });

  it('claims by one source, each name once', () => {
    const claims = (...resourceClaims: Loose[]): Loose => ({ resourceClaims });
    const at = 'spec.resourceClaims';
    check([
      [claims({ name: 'a', resourceClaimName: 'x' }), []],
      [claims({ name: 'A', resourceClaimName: 'x' }), [`${at}[0].name: Invalid value: "A": ${LABEL}`]],
      [claims({ name: 'a', resourceClaimName: 'X' }), [`${at}[0].resourceClaimName: Invalid value: "X": ${SUBDOMAIN}`]],
    ]);
    assert.deepEqual(specMessages(claims({ name: 'a' })), [
      `${at}[0]: Invalid value: {"Name":"a","ResourceClaimName":null,"ResourceClaimTemplateName":null}: must specify one of: \`resourceClaimName\`, \`resourceClaimTemplateName\``,
    ]);
    assert.deepEqual(specMessages(claims({ name: 'a', resourceClaimName: 'x' }, { name: 'a', resourceClaimName: 'y' })), [
      `${at}[1].name: Duplicate value: "a"`,
    ]);
  });
});
