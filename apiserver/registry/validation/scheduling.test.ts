/** Where pods may run: affinity, spread, and what the systems of nodes allow. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pod } from '../core/pod.ts';
import { refusals } from '../testing/kind-under-test.ts';
import { containerWith, type Loose, podWith, specMessages } from '../testing/pods.ts';

type Case = readonly [Loose, readonly string[]];

function check(cases: readonly Case[]): void {
  for (const [spec, expected] of cases) assert.deepEqual(specMessages(spec), expected, JSON.stringify(spec));
}

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

describe('affinity to nodes', () => {
  const required = (...nodeSelectorTerms: Loose[]): Loose => ({ affinity: { nodeAffinity: { [REQUIRED]: { nodeSelectorTerms } } } });
  const preferred = (weight: number, preference: Loose): Loose => ({
    affinity: { nodeAffinity: { [PREFERRED]: [{ weight, preference }] } },
  });
  const at = `spec.affinity.nodeAffinity.${REQUIRED}.nodeSelectorTerms`;
  const expression = (operator: string, ...values: string[]): Loose => ({
    matchExpressions: [{ key: 'a', operator, ...(values.length > 0 && { values }) }],
  });

  it('asks by operators with fitting values', () => {
    check([
      [required(), [`${at}: Required value: must have at least one node selector term`]],
      [
        required(expression('In')),
        [`${at}[0].matchExpressions[0].values: Required value: must be specified when \`operator\` is 'In' or 'NotIn'`],
      ],
      [
        required(expression('Exists', 'x')),
        [`${at}[0].matchExpressions[0].values: Forbidden: may not be specified when \`operator\` is 'Exists' or 'DoesNotExist'`],
      ],
      [
        required(expression('Gt', '1', '2')),
        [`${at}[0].matchExpressions[0].values: Required value: must be specified single value when \`operator\` is 'Lt' or 'Gt'`],
      ],
      [required(expression('Near')), [`${at}[0].matchExpressions[0].operator: Invalid value: "Near": not a valid selector operator`]],
      [
        required({ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['a', 'b'] }] }),
        [
          `${at}[0].matchFields[0].values: Required value: must be only one value when \`operator\` is 'In' or 'NotIn' for node field selector`,
        ],
      ],
      [
        required({ matchFields: [{ key: 'spec.x', operator: 'Exists' }] }),
        [
          `${at}[0].matchFields[0].operator: Invalid value: "Exists": not a valid selector operator`,
          `${at}[0].matchFields[0].key: Invalid value: "spec.x": not a valid field selector key`,
        ],
      ],
      [
        preferred(0, expression('Exists')),
        [`spec.affinity.nodeAffinity.${PREFERRED}[0].weight: Invalid value: 0: must be in the range 1-100`],
      ],
      [preferred(101, {}), [`spec.affinity.nodeAffinity.${PREFERRED}[0].weight: Invalid value: 101: must be in the range 1-100`]],
      [preferred(1, expression('In', 'not a label')), []],
    ]);
    const [message] = specMessages(required(expression('In', 'not a label')));
    assert.match(
      message!,
      /matchExpressions\[0\]\.values\[0\]: Invalid value: "not a label": a valid label must be an empty string or consist of/,
    );
  });
});

describe('affinity to pods', () => {
  const term = (members: Loose, member = 'podAffinity'): Loose => ({
    affinity: { [member]: { [REQUIRED]: [{ topologyKey: 'zone', ...members }] } },
  });
  const at = `spec.affinity.podAffinity.${REQUIRED}[0]`;
  const labelSelector = { matchLabels: { app: 'a' } };

  it('is within a topology that has a name', () => {
    assert.deepEqual(specMessages(term({ namespaces: ['a'] })), []);
    const messages = specMessages(term({ topologyKey: '' }, 'podAntiAffinity'));
    assert.equal(messages[0], `spec.affinity.podAntiAffinity.${REQUIRED}[0].topologyKey: Required value: can not be empty`);
    const [ofName] = specMessages(term({ namespaces: ['A'] }));
    assert.match(ofName!, /podAffinity\.required\w+\[0\]\.namespace: Invalid value: "A": a lowercase RFC 1123 label/);
  });

  it('compares labels of the pod itself by keys', () => {
    check([
      [term({ labelSelector, matchLabelKeys: ['x'] }), []],
      [term({ matchLabelKeys: ['x'] }), [`${at}.matchLabelKeys: Forbidden: must not be specified when labelSelector is not set`]],
      [term({ mismatchLabelKeys: ['x'] }), [`${at}.mismatchLabelKeys: Forbidden: must not be specified when labelSelector is not set`]],
      [
        term({ labelSelector, matchLabelKeys: ['x', 'y'], mismatchLabelKeys: ['y'] }),
        [`${at}.matchLabelKeys[1]: Invalid value: "y": exists in both matchLabelKeys and mismatchLabelKeys`],
      ],
    ]);
  });
});

describe('spread', () => {
  const constraint = (members: Loose): Loose => ({ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', ...members });
  const spread = (...topologySpreadConstraints: Loose[]): Loose => ({ topologySpreadConstraints });
  const at = 'spec.topologySpreadConstraints[0]';

  it('is bounded, once for a topology and a mode', () => {
    check([
      [spread(constraint({})), []],
      [spread(constraint({ maxSkew: 0 })), [`${at}.maxSkew: Invalid value: 0: must be greater than zero`]],
      [spread(constraint({ topologyKey: '' })), [`${at}.topologyKey: Required value: can not be empty`]],
      [
        spread(constraint({ whenUnsatisfiable: 'Wait' })),
        [`${at}.whenUnsatisfiable: Unsupported value: "Wait": supported values: "DoNotSchedule", "ScheduleAnyway"`],
      ],
      [
        spread(constraint({}), constraint({ maxSkew: 2 })),
        [`${at}.{topologyKey, whenUnsatisfiable}: Duplicate value: "{zone, DoNotSchedule}"`],
      ],
      [spread(constraint({}), constraint({ whenUnsatisfiable: 'ScheduleAnyway' })), []],
      [spread(constraint({ minDomains: 0 })), [`${at}.minDomains: Invalid value: 0: must be greater than zero`]],
      [
        spread(constraint({ minDomains: 2, whenUnsatisfiable: 'ScheduleAnyway' })),
        [`${at}.minDomains: Invalid value: 2: can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway`],
      ],
      [
        spread(constraint({ nodeTaintsPolicy: 'Obey' })),
        [`${at}.nodeTaintsPolicy: Unsupported value: "Obey": supported values: "Honor", "Ignore"`],
      ],
      [
        spread(constraint({ matchLabelKeys: ['x'] })),
        [`${at}.matchLabelKeys: Forbidden: must not be specified when labelSelector is not set`],
      ],
    ]);
  });
});

describe('a pod of Windows', () => {
  const windows = (spec: Loose): Loose => ({ os: { name: 'windows' }, ...spec });
  const NOT = 'Forbidden: cannot be set for a windows pod';
  const securityContext = (members: Loose): Loose => ({ securityContext: members });

  it('has nothing of Linux, and the other way round', () => {
    check([
      [
        windows(securityContext({ runAsUser: 1, sysctls: [{ name: 'a', value: '1' }], supplementalGroupsPolicy: 'Merge' })),
        ['sysctls', 'runAsUser', 'supplementalGroupsPolicy'].map((field) => `spec.securityContext.${field}: ${NOT}`),
      ],
      [windows({ hostPID: true, shareProcessNamespace: false }), [`spec.hostPID: ${NOT}`, `spec.shareProcessNamespace: ${NOT}`]],
      [
        windows({ containers: [containerWith(securityContext({ privileged: false, capabilities: {}, procMount: 'Default' }))] }),
        ['capabilities', 'privileged', 'procMount'].map((field) => `spec.containers[0].securityContext.${field}: ${NOT}`),
      ],
      [
        { os: { name: 'linux' }, ...securityContext({ windowsOptions: {} }) },
        ['spec.securityContext.windowsOptions: Forbidden: windows options cannot be set for a linux pod'],
      ],
      [{ securityContext: { windowsOptions: { runAsUserName: 'me' } } }, []],
    ]);
  });

  it('runs processes of the host in all containers or none, in its network', () => {
    const host = (hostProcess: boolean): Loose => ({ windowsOptions: { hostProcess } });
    check([
      [windows({ hostNetwork: true, securityContext: host(true) }), []],
      [
        windows({ securityContext: host(true) }),
        ['spec.hostNetwork: Invalid value: false: hostNetwork must be true if pod contains any hostProcess containers'],
      ],
      [
        windows({
          hostNetwork: true,
          containers: [containerWith(securityContext(host(true))), containerWith({ name: 'd' })],
        }),
        ['spec: Invalid value: "": If pod contains any hostProcess containers then all containers must be HostProcess containers'],
      ],
      [
        windows({ hostNetwork: true, securityContext: host(true), containers: [containerWith(securityContext(host(false)))] }),
        [
          'spec.containers[0].securityContext.windowsOptions.hostProcess: Invalid value: false: pod hostProcess value must be identical if both are specified, was true',
        ],
      ],
    ]);
  });

  it('runs as users that can be', () => {
    const user = (runAsUserName: string): string[] => specMessages({ securityContext: { windowsOptions: { runAsUserName } } });
    const at = 'spec.securityContext.windowsOptions.runAsUserName';
    assert.deepEqual(user('DOMAIN\\me'), []);
    assert.deepEqual(user('a\\b\\c'), [`${at}: Invalid value: "a\\\\b\\\\c": runAsUserName cannot contain more than one backslash`]);
    assert.deepEqual(user(''), [`${at}: Invalid value: "": runAsUserName cannot be an empty string`]);
    assert.deepEqual(specMessages({ securityContext: { windowsOptions: { gmsaCredentialSpec: '' } } }), [
      'spec.securityContext.windowsOptions.gmsaCredentialSpec: Invalid value: "": gmsaCredentialSpec cannot be an empty string',
    ]);
  });
});

describe('security of a pod', () => {
  it('has identities, profiles and kernel settings that can be', () => {
    const at = 'spec.securityContext';
    const range = 'must be between 0 and 2147483647, inclusive';
    const context = (securityContext: Loose, more: Loose = {}): Loose => ({ securityContext, ...more });
    check([
      [
        context({ runAsUser: -1, fsGroup: 2147483648 }),
        [`${at}.fsGroup: Invalid value: 2147483648: ${range}`, `${at}.runAsUser: Invalid value: -1: ${range}`],
      ],
      [
        context(
          {
            sysctls: [
              { name: 'net.ipv4.x', value: '1' },
              { name: 'kernel.shm_rmid_forced', value: '1' },
            ],
          },
          { hostNetwork: true, hostIPC: true },
        ),
        [
          `${at}.sysctls[0].name: Invalid value: "net.ipv4.x": may not be specified when 'hostNetwork' is true`,
          `${at}.sysctls[1].name: Invalid value: "kernel.shm_rmid_forced": may not be specified when 'hostIPC' is true`,
        ],
      ],
      [
        context({
          sysctls: [
            { name: 'a.b', value: '' },
            { name: 'a.b', value: '' },
          ],
        }),
        [`${at}.sysctls[1].name: Duplicate value: "a.b"`],
      ],
      [context({ sysctls: [{ name: '', value: '' }] }), [`${at}.sysctls[0].name: Required value`]],
      [
        context({ fsGroupChangePolicy: 'Odd' }),
        [`${at}.fsGroupChangePolicy: Unsupported value: "Odd": supported values: "Always", "OnRootMismatch"`],
      ],
      [
        context({ seccompProfile: { type: 'Localhost', localhostProfile: '../a' } }),
        [`${at}.seccompProfile.localhostProfile: Invalid value: "../a": must not contain '..'`],
      ],
      [
        context({ appArmorProfile: { type: 'RuntimeDefault', localhostProfile: 'x' } }),
        [`${at}.appArmorProfile.localhostProfile: Invalid value: "x": can only be set when AppArmor type is Localhost`],
      ],
    ]);
  });

  it('agrees with the annotations that came before', () => {
    const annotated = (key: string, value: string, spec: Loose): string[] =>
      refusals(pod, podWith(spec, { metadata: { annotations: { [key]: value } } }));
    const seccomp = 'seccomp.security.alpha.kubernetes.io/pod';
    const profile = (type: string): Loose => ({ securityContext: { seccompProfile: { type } } });
    assert.deepEqual(annotated(seccomp, 'docker/default', profile('RuntimeDefault')), []);
    assert.deepEqual(annotated(seccomp, 'unconfined', profile('RuntimeDefault')), [
      'spec.securityContext.seccompProfile.type: Forbidden: seccomp type in annotation and field must match',
    ]);
    assert.deepEqual(annotated(seccomp, 'odd', {}), [
      `metadata.annotations.${seccomp}: Invalid value: "odd": must be a valid seccomp profile`,
    ]);
    const armor = 'container.apparmor.security.beta.kubernetes.io/c';
    const containers = [containerWith({ securityContext: { appArmorProfile: { type: 'Unconfined' } } })];
    assert.deepEqual(annotated(armor, 'unconfined', { containers }), []);
    assert.deepEqual(annotated(armor, 'runtime/default', { containers }), [
      'spec.containers[0].securityContext.appArmorProfile.type: Forbidden: apparmor type in annotation and field must match',
    ]);
    assert.deepEqual(annotated('container.apparmor.security.beta.kubernetes.io/x', 'unconfined', {}), [
      'metadata.annotations[container.apparmor.security.beta.kubernetes.io/x]: Invalid value: "x": container not found',
    ]);
    assert.deepEqual(annotated('scheduler.alpha.kubernetes.io/tolerations', '{}', {}), [
      'metadata.annotations: Invalid value: "scheduler.alpha.kubernetes.io/tolerations": json: cannot unmarshal object into Go value of type []core.Toleration',
    ]);
    assert.deepEqual(annotated('scheduler.alpha.kubernetes.io/tolerations', '[{"key":"k","operator":"Odd"}]', {}), [
      'metadata.annotations.scheduler.alpha.kubernetes.io/tolerations[0].operator: Unsupported value: "Odd": supported values: "Equal", "Exists"',
    ]);
    assert.deepEqual(annotated('kubernetes.io/config.mirror', 'x', {}), [
      'metadata.annotations[kubernetes.io/config.mirror]: Invalid value: "x": must set spec.nodeName if mirror pod annotation is set',
    ]);
  });
});
