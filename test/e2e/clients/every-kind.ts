/** One object of every built-in kind that can be stored, as a user would write it: what clients apply, print, describe and delete. */

const pod = (restartPolicy?: string) => ({
  metadata: { labels: { app: 'one' } },
  spec: { containers: [{ name: 'c', image: 'registry.example/one:1' }], ...(restartPolicy && { restartPolicy }) },
});
const selector = { matchLabels: { app: 'one' } };
const webhooks = [
  {
    name: 'one.example.com',
    clientConfig: { url: 'https://hook.example.com/' },
    rules: [{ apiGroups: ['nothing.example.com'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['nothings'] }],
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    failurePolicy: 'Ignore',
  },
];
const matchConstraints = {
  resourceRules: [{ apiGroups: ['nothing.example.com'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['nothings'] }],
};
const claimSpec = { devices: { requests: [{ name: 'gpu', exactly: { deviceClassName: 'one' } }] } };

/** A certificate request for `CN=one`, made once. */
const CSR = `-----BEGIN CERTIFICATE REQUEST-----
MIHXMH8CAQAwHTEMMAoGA1UEAwwDb25lMQ0wCwYDVQQKDARkZXZzMFkwEwYHKoZI
zj0CAQYIKoZIzj0DAQcDQgAEbIClX4nqyZY6y+3X5txN07ee21tTWSUJYNo6GRH0
hodgA+PPIE7TzT2vu/9uofqHoq6OPRoaZujxa4oELjlKSKAAMAoGCCqGSM49BAMC
A0gAMEUCIQC3IJOddficb6EhG6fgGUHKab3Tv7Tx2dHGSGb6QLBLpAIgRtgsjhyW
9pKkvkdGZTOIjlRUbQCENkEQJGVVI1UAWq0=
-----END CERTIFICATE REQUEST-----
`;

/** `apiVersion kind: the rest`, in the order in which they are applied. */
const OBJECTS: Readonly<Record<string, object>> = {
  'v1 ConfigMap': { data: { key: 'value' }, binaryData: { bytes: 'AAEC' } },
  'v1 Secret': { stringData: { password: 'secret' } },
  'v1 Endpoints': { subsets: [{ addresses: [{ ip: '10.1.2.3' }], ports: [{ port: 80 }] }] },
  'v1 Event': {
    involvedObject: { kind: 'Pod', name: 'one', namespace: 'kinds' },
    reason: 'Made',
    message: 'made by hand',
    type: 'Normal',
  },
  'v1 LimitRange': { spec: { limits: [{ type: 'Container', default: { cpu: '1' }, defaultRequest: { cpu: '10m' } }] } },
  'v1 Namespace': {},
  'v1 Node': { spec: { unschedulable: true } },
  'v1 PersistentVolumeClaim': {
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, storageClassName: 'one' },
  },
  'v1 PersistentVolume': {
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      hostPath: { path: '/data' },
      persistentVolumeReclaimPolicy: 'Retain',
      storageClassName: 'other',
    },
  },
  'v1 Pod': { ...pod(), metadata: { labels: { app: 'lone' } } },
  'v1 PodTemplate': { template: pod() },
  'v1 ReplicationController': {
    spec: { replicas: 0, selector: { app: 'rc' }, template: { ...pod(), metadata: { labels: { app: 'rc' } } } },
  },
  'v1 ResourceQuota': { spec: { hard: { configmaps: '50' } } },
  'v1 ServiceAccount': {},
  'v1 Service': { spec: { selector: { app: 'one' }, ports: [{ port: 80 }] } },
  'admissionregistration.k8s.io/v1 MutatingAdmissionPolicy': {
    spec: {
      matchConstraints,
      reinvocationPolicy: 'Never',
      failurePolicy: 'Ignore',
      mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression: '[JSONPatch{op: "add", path: "/metadata/labels/a", value: "b"}]' } }],
    },
  },
  'admissionregistration.k8s.io/v1 MutatingAdmissionPolicyBinding': { spec: { policyName: 'one' } },
  'admissionregistration.k8s.io/v1 MutatingWebhookConfiguration': { webhooks },
  'admissionregistration.k8s.io/v1 ValidatingAdmissionPolicy': {
    spec: { matchConstraints, validations: [{ expression: 'true' }], failurePolicy: 'Ignore' },
  },
  'admissionregistration.k8s.io/v1 ValidatingAdmissionPolicyBinding': { spec: { policyName: 'one', validationActions: ['Deny'] } },
  'admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration': { webhooks },
  'apps/v1 ControllerRevision': { revision: 1, data: { a: 'b' } },
  'apps/v1 DaemonSet': {
    spec: { selector, template: { ...pod(), spec: { ...pod().spec, nodeSelector: { 'example.com/none': 'true' } } } },
  },
  'apps/v1 Deployment': { spec: { replicas: 1, selector, template: pod() } },
  'apps/v1 ReplicaSet': { spec: { replicas: 0, selector, template: pod() } },
  'apps/v1 StatefulSet': { spec: { replicas: 0, serviceName: 'one', selector, template: pod() } },
  'autoscaling/v2 HorizontalPodAutoscaler': {
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'one' },
      maxReplicas: 3,
      metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 60 } } }],
    },
  },
  'batch/v1 CronJob': { spec: { schedule: '0 0 1 1 *', jobTemplate: { spec: { template: pod('Never') } } } },
  'batch/v1 Job': { spec: { suspend: true, template: pod('Never') } },
  'certificates.k8s.io/v1 CertificateSigningRequest': {
    spec: { request: Buffer.from(CSR).toString('base64'), signerName: 'example.com/none', usages: ['client auth'] },
  },
  'coordination.k8s.io/v1 Lease': { spec: { holderIdentity: 'me', leaseDurationSeconds: 15 } },
  'discovery.k8s.io/v1 EndpointSlice': {
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.1.2.3'] }],
    ports: [{ name: 'http', port: 80 }],
  },
  'flowcontrol.apiserver.k8s.io/v1 PriorityLevelConfiguration': {
    spec: { type: 'Limited', limited: { nominalConcurrencyShares: 5, limitResponse: { type: 'Reject' } } },
  },
  'flowcontrol.apiserver.k8s.io/v1 FlowSchema': { spec: { priorityLevelConfiguration: { name: 'one' }, matchingPrecedence: 9000 } },
  'networking.k8s.io/v1 IngressClass': { spec: { controller: 'example.com/none' } },
  'networking.k8s.io/v1 Ingress': {
    spec: {
      ingressClassName: 'one',
      rules: [
        {
          host: 'one.example.com',
          http: { paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 'one', port: { number: 80 } } } }] },
        },
      ],
    },
  },
  'networking.k8s.io/v1 IPAddress': {
    metadata: { name: '10.11.12.13' },
    spec: { parentRef: { resource: 'services', name: 'one', namespace: 'kinds' } },
  },
  'networking.k8s.io/v1 NetworkPolicy': {
    spec: { podSelector: selector, ingress: [{ from: [{ podSelector: {} }] }], policyTypes: ['Ingress'] },
  },
  'networking.k8s.io/v1 ServiceCIDR': { spec: { cidrs: ['10.77.0.0/16'] } },
  'node.k8s.io/v1 RuntimeClass': { handler: 'one' },
  'policy/v1 PodDisruptionBudget': { spec: { minAvailable: 1, selector } },
  'rbac.authorization.k8s.io/v1 ClusterRole': { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] },
  'rbac.authorization.k8s.io/v1 ClusterRoleBinding': {
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'one' },
    subjects: [{ kind: 'ServiceAccount', name: 'one', namespace: 'kinds' }],
  },
  'rbac.authorization.k8s.io/v1 Role': { rules: [{ apiGroups: ['apps'], resources: ['deployments'], verbs: ['*'] }] },
  'rbac.authorization.k8s.io/v1 RoleBinding': {
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'one' },
    subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'jane' }],
  },
  'resource.k8s.io/v1 DeviceClass': { spec: { selectors: [{ cel: { expression: 'device.driver == "one.example.com"' } }] } },
  'resource.k8s.io/v1 ResourceClaim': { spec: claimSpec },
  'resource.k8s.io/v1 ResourceClaimTemplate': { spec: { spec: claimSpec } },
  'resource.k8s.io/v1 ResourceSlice': {
    spec: {
      driver: 'one.example.com',
      nodeName: 'node-1',
      pool: { name: 'p', generation: 1, resourceSliceCount: 1 },
      devices: [{ name: 'd' }],
    },
  },
  'scheduling.k8s.io/v1 PriorityClass': { value: 10, description: 'A little.' },
  'storage.k8s.io/v1 CSIDriver': { spec: { attachRequired: true } },
  'storage.k8s.io/v1 CSINode': { spec: { drivers: [{ name: 'one', nodeID: 'n' }] } },
  'storage.k8s.io/v1 CSIStorageCapacity': { storageClassName: 'one', capacity: '1Gi', nodeTopology: selector },
  'storage.k8s.io/v1 StorageClass': { provisioner: 'example.com/none' },
  'storage.k8s.io/v1 VolumeAttachment': {
    spec: { attacher: 'one.example.com', nodeName: 'node-1', source: { persistentVolumeName: 'one' } },
  },
  'storage.k8s.io/v1 VolumeAttributesClass': { driverName: 'one.example.com', parameters: { speed: 'high' } },
};

export interface NamedObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

/** All of them, for the namespace `kinds`; each is called `one`, but for what is named after an address. */
export const everyKind: readonly NamedObject[] = Object.entries(OBJECTS).map(([type, rest]) => {
  const [apiVersion, kind] = type.split(' ') as [string, string];
  const { metadata, ...content } = rest as { metadata?: object };
  return { apiVersion, kind, metadata: { name: 'one', ...metadata }, ...content };
});
