/** Containers: ports, variables, probes, hooks, resources and restarts. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { containerMessages, containerWith, type Loose, specMessages } from '../testing/pods.ts';

const C = 'spec.containers[0]';
type Case = readonly [Loose, readonly string[]];

function check(cases: readonly Case[], spec: Loose = {}): void {
  for (const [members, expected] of cases) assert.deepEqual(containerMessages(members, spec), expected, JSON.stringify(members));
}

describe('a container', () => {
  it('has an image, a name of its own and policies that exist', () => {
    check([
      [{ image: '' }, [`${C}.image: Required value`]],
      [
        { imagePullPolicy: 'Often' },
        [`${C}.imagePullPolicy: Unsupported value: "Often": supported values: "Always", "IfNotPresent", "Never"`],
      ],
      [
        { terminationMessagePolicy: 'Log' },
        [`${C}.terminationMessagePolicy: Unsupported value: "Log": supported values: "File", "FallbackToLogsOnError"`],
      ],
    ]);
    assert.deepEqual(specMessages({ containers: [containerWith(), containerWith()] }), ['spec.containers[1].name: Duplicate value: "c"']);
    assert.deepEqual(specMessages({ containers: [] }), ['spec.containers: Required value']);
  });

  it('has ports with numbers, and names of services', () => {
    const ports = (...list: Loose[]): Loose => ({ ports: list });
    check([
      [ports({ containerPort: 0 }), [`${C}.ports[0].containerPort: Required value`]],
      [ports({ containerPort: 65536 }), [`${C}.ports[0].containerPort: Invalid value: 65536: must be between 1 and 65535, inclusive`]],
      [
        ports({ containerPort: 1, protocol: 'HTTP' }),
        [`${C}.ports[0].protocol: Unsupported value: "HTTP": supported values: "SCTP", "TCP", "UDP"`],
      ],
      [ports({ containerPort: 1, name: 'a' }, { containerPort: 2, name: 'a' }), [`${C}.ports[1].name: Duplicate value: "a"`]],
      [ports({ containerPort: 1, name: '123' }), [`${C}.ports[0].name: Invalid value: "123": must contain at least one letter (a-z)`]],
      [ports({ containerPort: 1, name: 'a--b' }), [`${C}.ports[0].name: Invalid value: "a--b": must not contain consecutive hyphens`]],
      [
        ports({ containerPort: 1, name: 'abcdefghijklmnop' }),
        [`${C}.ports[0].name: Invalid value: "abcdefghijklmnop": must be no more than 15 characters`],
      ],
      [ports({ containerPort: 1, hostPort: 9 }, { containerPort: 2, hostPort: 9 }), [`${C}.ports[1].hostPort: Duplicate value: "TCP//9"`]],
      [ports({ containerPort: 1, hostPort: 9 }, { containerPort: 2, hostPort: 9, protocol: 'UDP' }), []],
    ]);
  });

  it('restarts by rules with codes', () => {
    const rules = (...restartPolicyRules: Loose[]): Loose => ({ restartPolicy: 'Never', restartPolicyRules });
    const rule = (operator: string, values: readonly number[], action = 'Restart'): Loose => ({ action, exitCodes: { operator, values } });
    check([
      [rules(rule('In', [1, 2])), []],
      [
        { restartPolicyRules: [rule('In', [1])] },
        [`${C}.restartPolicy: Required value: must specify restartPolicy when restart rules are used`],
      ],
      [rules({ action: 'Restart' }), [`${C}.restartPolicyRules[0].exitCodes: Required value: must be specified`]],
      [rules(rule('Is', [1])), [`${C}.restartPolicyRules[0].exitCodes.operator: Unsupported value: "Is": supported values: "In", "NotIn"`]],
      [
        { restartPolicy: 'Sometimes' },
        [`${C}.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "Never", "OnFailure"`],
      ],
    ]);
    assert.deepEqual(containerMessages(rules(...Array.from({ length: 21 }, () => rule('In', [1])))), [
      `${C}.restartPolicyRules: Too many: 21: must have at most 20 items`,
    ]);
  });
});

describe('variables', () => {
  const from = (valueFrom: Loose, more: Loose = {}): Loose => ({ env: [{ name: 'A', valueFrom, ...more }] });
  const at = `${C}.env[0].valueFrom`;

  it('have a value or one source', () => {
    check([
      [{ env: [{ name: '' }] }, [`${C}.env[0].name: Required value`]],
      [
        { env: [{ name: 'A=B' }] },
        [
          `${C}.env[0].name: Invalid value: "A=B": a valid environment variable name must consist only of printable ASCII characters other than '='`,
        ],
      ],
      [{ env: [{ name: 'a b.c-1' }] }, []],
      [
        from({}),
        [
          `${at}: Invalid value: "": must specify one of: \`fieldRef\`, \`resourceFieldRef\`, \`configMapKeyRef\`, \`secretKeyRef\` or \`fileKeyRef\``,
        ],
      ],
      [
        from({ configMapKeyRef: { name: 'm', key: 'k' }, secretKeyRef: { name: 's', key: 'k' } }),
        [`${at}: Invalid value: "": may not have more than one field specified at a time`],
      ],
      [
        from({ configMapKeyRef: { name: 'm', key: 'k' } }, { value: 'x' }),
        [`${at}: Invalid value: "": may not be specified when \`value\` is not empty`],
      ],
    ]);
  });

  it('read fields of the pod that there are', () => {
    const field = (fieldPath: string): Loose => from({ fieldRef: { fieldPath } });
    const path = `${at}.fieldRef.fieldPath`;
    check([
      [field('metadata.name'), []],
      [field("metadata.labels['a']"), []],
      [field('spec.host'), []],
      [
        field('metadata.uuid'),
        [`${path}: Invalid value: "metadata.uuid": error converting fieldPath: field label not supported: metadata.uuid`],
      ],
      [
        field("spec.nodeName['a']"),
        [
          `${path}: Invalid value: "spec.nodeName['a']": error converting fieldPath: field label does not support subscript: spec.nodeName['a']`,
        ],
      ],
      [
        field('spec.restartPolicy'),
        [
          `${path}: Unsupported value: "spec.restartPolicy": supported values: "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"`,
        ],
      ],
    ]);
  });

  it('read resources in units that fit', () => {
    const resource = (name: string, divisor?: string): Loose => from({ resourceFieldRef: { resource: name, ...(divisor && { divisor }) } });
    const path = `${at}.resourceFieldRef`;
    check([
      [resource('limits.cpu', '1m'), []],
      [resource('requests.hugepages-2Mi', '1Mi'), []],
      [
        resource('limits.cpu', '2'),
        [`${path}.divisor: Invalid value: "limits.cpu": only divisor's values 1m and 1 are supported with the cpu resource`],
      ],
      [
        resource('limits.memory', '3'),
        [
          `${path}.divisor: Invalid value: "limits.memory": only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the memory resource`,
        ],
      ],
      [
        resource('limits.gpu'),
        [
          `${path}.resource: Unsupported value: "limits.gpu": supported values: "limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory"`,
        ],
      ],
    ]);
  });

  it('read keys of files in volumes that the pod writes', () => {
    const file = (volumeName: string, path = 'a.env'): Loose => from({ fileKeyRef: { volumeName, path, key: 'K' } });
    const volumes = {
      volumes: [
        { name: 'v', emptyDir: {} },
        { name: 's', secret: { secretName: 's' } },
      ],
    };
    check(
      [
        [file('v'), []],
        [file('v', 'a/../b'), [`${at}.fileKeyRef.path: Invalid value: "a/../b": must not contain '..'`]],
        [file('w'), [`${at}.fileKeyRef.volumeName: Not found: "w"`]],
        [file('s'), [`${at}.fileKeyRef.volumeName: Invalid value: "s": referenced volume must be of type emptyDir`]],
      ],
      volumes,
    );
  });

  it('come in bulk from one source each', () => {
    const bulk = (source: Loose): Loose => ({ envFrom: [source] });
    check([
      [bulk({ configMapRef: { name: 'm' }, prefix: '1.' }), []],
      [bulk({}), [`${C}.envFrom: Invalid value: "": must specify one of: \`configMapRef\` or \`secretRef\``]],
      [
        bulk({ configMapRef: { name: 'm' }, secretRef: { name: 's' } }),
        [`${C}.envFrom: Invalid value: "": may not have more than one field specified at a time`],
      ],
      [bulk({ secretRef: {} }), [`${C}.envFrom[0].secretRef.name: Required value`]],
    ]);
  });
});

describe('probes and hooks', () => {
  const exec = { exec: { command: ['x'] } };

  it('are made in one way', () => {
    check([
      [{ livenessProbe: {} }, [`${C}.livenessProbe: Required value: must specify a handler type`]],
      [
        { readinessProbe: { ...exec, tcpSocket: { port: 1 } } },
        [`${C}.readinessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type`],
      ],
      [{ livenessProbe: { exec: {} } }, [`${C}.livenessProbe.exec.command: Required value`]],
      [
        { livenessProbe: { httpGet: { port: 'x--y', scheme: 'FTP', path: '' } } },
        [
          `${C}.livenessProbe.httpGet.port: Invalid value: "x--y": must not contain consecutive hyphens`,
          `${C}.livenessProbe.httpGet.scheme: Unsupported value: "FTP": supported values: "HTTP", "HTTPS"`,
        ],
      ],
      [
        { livenessProbe: { tcpSocket: { port: 70000 } } },
        [`${C}.livenessProbe.tcpSocket.port: Invalid value: 70000: must be between 1 and 65535, inclusive`],
      ],
      [
        { livenessProbe: { grpc: { port: 0 } } },
        [`${C}.livenessProbe.grpc.port: Invalid value: 0: must be between 1 and 65535, inclusive`],
      ],
    ]);
  });

  it('have times and counts that are not negative', () => {
    const negative = 'must be greater than or equal to 0';
    check([
      [{ livenessProbe: { ...exec, initialDelaySeconds: -1 } }, [`${C}.livenessProbe.initialDelaySeconds: Invalid value: -1: ${negative}`]],
      [{ livenessProbe: { ...exec, failureThreshold: -2 } }, [`${C}.livenessProbe.failureThreshold: Invalid value: -2: ${negative}`]],
      [{ livenessProbe: { ...exec, successThreshold: 2 } }, [`${C}.livenessProbe.successThreshold: Invalid value: 2: must be 1`]],
      [{ startupProbe: { ...exec, successThreshold: 3 } }, [`${C}.startupProbe.successThreshold: Invalid value: 3: must be 1`]],
      [{ readinessProbe: { ...exec, successThreshold: 3 } }, []],
      [
        { livenessProbe: { ...exec, terminationGracePeriodSeconds: 0 } },
        [`${C}.livenessProbe.terminationGracePeriodSeconds: Invalid value: 0: must be greater than 0`],
      ],
      [
        { readinessProbe: { ...exec, terminationGracePeriodSeconds: 1 } },
        [`${C}.readinessProbe.terminationGracePeriodSeconds: Invalid value: 1: must not be set for readinessProbes`],
      ],
    ]);
  });

  it('sleep no longer than the pod has to stop', () => {
    const sleep = (seconds: number): Loose => ({ lifecycle: { preStop: { sleep: { seconds } } } });
    const bound = 'must be non-negative and less than terminationGracePeriodSeconds (30)';
    check([
      [sleep(30), []],
      [sleep(0), []],
      [sleep(31), [`${C}.lifecycle.preStop.sleep: Invalid value: 31: ${bound}`]],
      [sleep(-1), [`${C}.lifecycle.preStop.sleep: Invalid value: -1: ${bound}`]],
    ]);
    check([[{ lifecycle: { postStart: {} } }, [`${C}.lifecycle.postStart: Required value: must specify a handler type`]]]);
  });
});

describe('resources of a container', () => {
  const resources = (requests: Loose, limits: Loose = {}): Loose => ({ resources: { requests, limits } });
  const at = `${C}.resources`;

  it('are named, counted and bounded', () => {
    check([
      [resources({ cpu: '2' }, { cpu: '1' }), [`${at}.requests: Invalid value: "2": must be less than or equal to cpu limit of 1`]],
      [resources({ cpu: '-1' }), [`${at}.requests[cpu]: Invalid value: "-1": must be greater than or equal to 0`]],
      [
        resources({ 'example.com/a': '1' }, { 'example.com/a': '2' }),
        [`${at}.requests: Invalid value: "1": must be equal to example.com/a limit of 2`],
      ],
      [resources({ 'example.com/a': '1' }), [`${at}.limits: Required value: Limit must be set for non overcommitable resources`]],
      [
        resources({ 'example.com/a': '1500m' }, { 'example.com/a': '1500m' }),
        [
          `${at}.limits[example.com/a]: Invalid value: "1500m": must be an integer`,
          `${at}.requests[example.com/a]: Invalid value: "1500m": must be an integer`,
        ],
      ],
      [
        resources({ 'hugepages-2Mi': '3Mi' }, { 'hugepages-2Mi': '3Mi' }),
        [
          ...['limits', 'requests'].map(
            (list) => `${at}.${list}[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi`,
          ),
          `${at}: Forbidden: HugePages require cpu or memory`,
        ],
      ],
      [resources({ storage: '1' }), [`${at}.requests[storage]: Invalid value: "storage": must be a standard resource for containers`]],
    ]);
  });

  it('come with claims that the pod has', () => {
    const spec = { resourceClaims: [{ name: 'gpu', resourceClaimName: 'g' }] };
    const claims = (...list: Loose[]): Loose => ({ resources: { claims: list } });
    check(
      [
        [claims({ name: 'gpu' }), []],
        [claims({ name: 'gpu', request: 'a' }, { name: 'gpu', request: 'b' }), []],
        [claims({ name: 'tpu' }), [`${at}.claims[0]: Not found: "tpu": must be one of the names in pod.spec.resourceClaims: gpu`]],
        [claims({ name: '' }), [`${at}.claims[0]: Required value`]],
        [claims({ name: 'gpu' }, { name: 'gpu' }), [`${at}.claims[1]: Duplicate value: "gpu"`]],
        [claims({ name: 'gpu', request: 'a' }, { name: 'gpu', request: 'a' }), [`${at}.claims[1]: Duplicate value: "gpu/a"`]],
      ],
      spec,
    );
  });

  it('change by a policy each', () => {
    const policies = (...resizePolicy: Loose[]): Loose => ({ resizePolicy });
    check([
      [policies({ resourceName: 'cpu', restartPolicy: 'NotRequired' }), []],
      [
        policies({ resourceName: 'disk', restartPolicy: 'NotRequired' }),
        [`${C}.resizePolicy: Unsupported value: "disk": supported values: "cpu", "memory"`],
      ],
      [
        policies({ resourceName: 'cpu', restartPolicy: 'Maybe' }),
        [`${C}.resizePolicy: Unsupported value: "Maybe": supported values: "NotRequired", "RestartContainer"`],
      ],
    ]);
    const twice = { resourceName: 'cpu', restartPolicy: 'NotRequired' };
    assert.deepEqual(containerMessages(policies(twice, twice)), [`${C}.resizePolicy[1]: Duplicate value: "cpu"`]);
  });
});

describe('init containers', () => {
  const probe = { exec: { command: ['x'] } };
  const inits = (members: Loose): string[] => specMessages({ initContainers: [containerWith({ name: 'i', ...members })] });
  const only = 'Forbidden: may not be set for init containers without restartPolicy=Always';

  it('have probes and hooks only as sidecars', () => {
    for (const field of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
      assert.deepEqual(inits({ [field]: probe }), [`spec.initContainers[0].${field}: ${only}`]);
      assert.deepEqual(inits({ [field]: probe, restartPolicy: 'Always' }), []);
    }
    assert.deepEqual(inits({ lifecycle: { preStop: probe } }), [`spec.initContainers[0].lifecycle: ${only}`]);
  });

  it('restart themselves for a resize only as sidecars', () => {
    const resizePolicy = [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }];
    assert.deepEqual(inits({ resizePolicy, restartPolicy: 'Always' }), []);
    assert.deepEqual(inits({ resizePolicy }), [
      'spec.initContainers[0].resizePolicy[0].restartPolicy: Invalid value: "RestartContainer": must not be set to \'RestartContainer\' for non-sidecar initContainers',
    ]);
  });
});

describe('resources of the pod as a whole', () => {
  const whole = (resources: Loose, container: Loose = {}): string[] =>
    specMessages({ resources, containers: [containerWith({ resources: container })] });

  it('bound those of its containers', () => {
    assert.deepEqual(whole({ requests: { cpu: '2' }, limits: { cpu: '4' } }, { requests: { cpu: '2' }, limits: { cpu: '4' } }), []);
    assert.deepEqual(whole({ requests: { cpu: '1' } }, { requests: { cpu: '2' } }), [
      'spec.resources.requests[cpu]: Invalid value: "1": must be greater than or equal to aggregate container requests of 2',
    ]);
    assert.deepEqual(whole({ limits: { cpu: '1' } }, { requests: { cpu: '1' }, limits: { cpu: '2' } }), [
      'spec.resources.containers[0][cpu].limits: Invalid value: "2": must be less than or equal to pod limits of 1',
    ]);
  });

  it('are CPU, memory and huge pages, without claims', () => {
    const [message] = whole({ requests: { 'example.com/a': '1' } });
    assert.match(message!, /^spec\.resources\.requests\[example\.com\/a\]: Unsupported value: "example\.com\/a": supported values: /);
    assert.deepEqual(whole({ claims: [{ name: 'a' }] }).slice(0, 1), [
      'spec.resources.claims: Forbidden: claims may not be set for Resources at pod-level',
    ]);
    assert.deepEqual(specMessages({ os: { name: 'windows' }, resources: { requests: { cpu: '1' } } }), [
      'spec.resources: Forbidden: may not be set for a windows pod',
    ]);
  });
});
