/** Rows of the options table that components share; a component spreads them into its own table. Upstream's names and defaults. */
import { defineOptions } from './options.ts';

/** Every process. */
export const processOptions = defineOptions({
  v: { short: 'v', type: 'integer', default: 0, min: 0, max: 10, help: 'how much to log: 0 information, 4 debugging, 6 everything' },
  failpoints: {
    type: 'string',
    default: '',
    help: 'arms named failpoints, such as replicaset.between-actions=1*crash; for tests and chaos runs only',
  },
  waitForOrder: {
    type: 'boolean',
    default: false,
    help: 'as a child process: load everything, then wait for the word of the parent before starting',
  },
});

/** Every process that is a client of the API server. */
export const clientOptions = defineOptions({
  ...processOptions,
  kubeconfig: { type: 'string', required: true, help: 'path of the kubeconfig that says where the API server is and who we are' },
  bindAddress: { type: 'string', default: '127.0.0.1', help: 'address on which health, metrics and debug pages are served' },
  kubeApiQps: { type: 'number', default: 0, min: 0, help: 'requests per second to the API server; 0 leaves the limiting to the server' },
  kubeApiBurst: { type: 'integer', default: 0, min: 0, help: 'requests allowed at once above --kube-api-qps' },
});

/** Processes of which one at a time may act. Upstream's componentbaseconfig LeaderElectionConfiguration. */
export const leaderElectionOptions = defineOptions({
  leaderElect: { type: 'boolean', default: true, help: 'become leader through a Lease before doing anything' },
  leaderElectLeaseDurationMs: {
    type: 'duration',
    default: '15s',
    help: 'how long others wait after the last renewal before they take over',
  },
  leaderElectRenewDeadlineMs: { type: 'duration', default: '10s', help: 'how long the leader tries to renew before it gives up' },
  leaderElectRetryPeriodMs: { type: 'duration', default: '2s', help: 'time between tries to acquire or renew' },
  leaderElectResourceName: { type: 'string', default: '', help: "name of the Lease; empty for the component's own" },
  leaderElectResourceNamespace: { type: 'string', default: 'kube-system', help: 'namespace of the Lease' },
});
