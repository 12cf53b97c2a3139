/** The options of the API server, by upstream's flag names where upstream has the flag. */
import { processOptions } from '../machinery/process/component-options.ts';
import { defineOptions, type OptionsOf } from '../machinery/process/options.ts';

export const apiServerOptions = defineOptions({
  ...processOptions,
  dataDir: { type: 'string', default: '.flyball', help: 'directory of the store, the certificates and the kubeconfigs; made when missing' },
  bindAddress: { type: 'string', default: '127.0.0.1', help: 'address to listen on' },
  advertiseAddress: {
    type: 'string',
    help: 'address that the kubernetes Service leads to; when not given the bind address, or an address of this host where that is a loopback one',
  },
  endpointReconcilerType: {
    type: 'string',
    choices: ['lease', 'master-count', 'none'],
    default: 'lease',
    help: 'how the endpoints of the kubernetes Service are kept',
  },
  apiserverCount: { type: 'integer', default: 1, min: 1, help: 'servers of this cluster, for --endpoint-reconciler-type=master-count' },
  securePort: { type: 'integer', default: 6443, min: 0, max: 65535, help: 'port to serve HTTPS on; 0 takes a free one' },
  writeKubeconfig: { type: 'string', help: 'file to write an administrator kubeconfig to' },
  issueKubeconfigs: {
    type: 'list',
    default: [],
    help: 'kubeconfigs to write into <data-dir>/kubeconfigs: admin, controllers, scheduler, or the name of a node',
  },
  kubeconfigServer: { type: 'string', default: '', help: 'URL of this server in those kubeconfigs; empty: the one it listens on' },
  certHosts: { type: 'list', default: [], help: 'further names and addresses of the serving certificate' },
  serviceClusterIpRange: { type: 'string', default: '10.96.0.0/16', help: 'CIDR that Services get their cluster IPs from' },
  serviceNodePortRange: { type: 'string', default: '30000-32767', help: 'ports that Services of type NodePort get theirs from' },
  runtimeConfig: {
    type: 'list',
    default: [],
    help: 'API versions to turn on or off: api/all, api/ga, api/beta, api/alpha, GROUP/VERSION or GROUP/VERSION/RESOURCE, each with =true or =false',
  },
  authorizationMode: {
    type: 'list',
    default: ['AlwaysAllow'],
    help: 'how requests are authorized; AlwaysAllow lets every named user do everything',
  },
  anonymousAuth: {
    type: 'boolean',
    default: true,
    help: 'take requests without credentials as system:anonymous, who may see health and version; else they are 401',
  },
  maxRequestsInflight: { type: 'integer', default: 400, min: 0, help: 'reading requests served at the same time; 0 is no limit' },
  maxMutatingRequestsInflight: { type: 'integer', default: 200, min: 0, help: 'writing requests served at the same time; 0 is no limit' },
  requestTimeoutMs: {
    type: 'duration',
    default: '1m0s',
    help: 'how long a request may take, watches and other streams excepted; then 504',
  },
  auditLogPath: {
    type: 'string',
    default: '',
    help: 'file to record requests in, one audit event a line; - is standard output; empty records nothing',
  },
  auditPolicyFile: {
    type: 'string',
    default: '',
    help: 'audit.k8s.io/v1 Policy: what is recorded of which requests; empty: who did what when (Metadata) of all, once answered',
  },
  auditLogMaxsize: { type: 'integer', default: 100, min: 0, help: 'megabytes after which the audit log is put aside; 0 lets it grow' },
  auditLogMaxbackup: { type: 'integer', default: 100, min: 0, help: 'audit logs put aside that are kept; 0 keeps all' },
  compactionIntervalMs: {
    flag: 'etcd-compaction-interval',
    type: 'duration',
    default: '5m',
    help: 'how often history older than this is let go; watches and lists can resume from within it; 0 keeps all',
  },
  quotaBackendBytes: {
    type: 'integer',
    default: 0,
    help: 'bytes that objects and their history may take, before what makes them more is refused; 0 is 2 GiB, less than 0 no limit',
  },
  storage: {
    type: 'string',
    choices: ['level', 'memory'],
    default: 'level',
    help: 'what holds the objects; memory forgets them at the end',
  },
});

export type ApiServerOptions = OptionsOf<typeof apiServerOptions>;

/** `30000-32767` → [30000, 32767]. Throws on anything else. */
export function parsePortRange(text: string): readonly [number, number] {
  const match = /^(\d+)-(\d+)$/.exec(text);
  const [low, high] = match === null ? [0, 0] : [Number(match[1]), Number(match[2])];
  if (low < 1 || high < low || high > 65535) throw new Error(`--service-node-port-range: ${text} is no range of ports such as 30000-32767`);
  return [low, high];
}
