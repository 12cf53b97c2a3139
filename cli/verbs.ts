/** The verbs, in the order and under the headings of the help. Each is loaded when it is called, so that one verb does not pay for the others. */
import type { Verb, VerbEntry } from './verb.ts';

const entry = (section: string, summary: string, load: () => Promise<{ verb: Verb }>): VerbEntry => ({
  section,
  summary,
  load: async () => (await load()).verb,
});

const CLUSTER = 'A cluster of processes';
const BASIC = 'Basic commands';
const DEPLOY = 'Deploy commands';
const NODES = 'Cluster management commands';
const TROUBLE = 'Troubleshooting commands';
const ADVANCED = 'Advanced commands';
const SETTINGS = 'Settings commands';
const OTHER = 'Other commands';
const COMPONENTS = 'One component in the foreground';

export const VERBS: Readonly<Record<string, VerbEntry>> = {
  up: entry(CLUSTER, 'Start the cluster and stay in the foreground', () => import('./commands/up.ts')),
  down: entry(CLUSTER, 'Stop the running cluster', () => import('./commands/down.ts')),
  ps: entry(CLUSTER, 'List the processes of the running cluster', () => import('./commands/ps.ts')),
  kill: entry(CLUSTER, 'Kill a component (SIGKILL)', () => import('./commands/kill.ts')),
  pause: entry(CLUSTER, 'Freeze a component (SIGSTOP)', () => import('./commands/pause.ts')),
  resume: entry(CLUSTER, 'Let a frozen component go on (SIGCONT)', () => import('./commands/resume.ts')),
  start: entry(CLUSTER, 'Start a component that was killed', () => import('./commands/start.ts')),
  restart: entry(CLUSTER, 'Stop a component and start it again', () => import('./commands/restart.ts')),
  store: entry(CLUSTER, 'Check, back up and restore the store of an API server', () => import('./commands/store.ts')),
  why: entry(CLUSTER, 'Explain in plain words why a pod is not running', () => import('./commands/why.ts')),

  create: entry(BASIC, 'Create a resource from a file or from stdin', () => import('./commands/create.ts')),
  expose: entry(
    BASIC,
    'Take a replication controller, service, deployment or pod and expose it as a new service',
    () => import('./commands/expose.ts'),
  ),
  run: entry(BASIC, 'Run a particular image on the cluster', () => import('./commands/run.ts')),
  set: entry(BASIC, 'Set specific features on objects', () => import('./commands/set.ts')),
  explain: entry(BASIC, 'Get documentation for a resource', () => import('./commands/explain.ts')),
  get: entry(BASIC, 'Display one or many resources', () => import('./commands/get.ts')),
  edit: entry(BASIC, 'Edit a resource on the server', () => import('./commands/edit.ts')),
  delete: entry(
    BASIC,
    'Delete resources by file names, stdin, resources and names, or by label selector',
    () => import('./commands/delete.ts'),
  ),

  rollout: entry(DEPLOY, 'Manage the rollout of a resource', () => import('./commands/rollout.ts')),
  scale: entry(DEPLOY, 'Set a new size for a deployment, replica set, or replication controller', () => import('./commands/scale.ts')),
  autoscale: entry(
    DEPLOY,
    'Auto-scale a deployment, replica set, stateful set, or replication controller',
    () => import('./commands/autoscale.ts'),
  ),

  'cluster-info': entry(NODES, 'Display cluster information', () => import('./commands/cluster-info.ts')),
  cordon: entry(NODES, 'Mark node as unschedulable', () => import('./commands/cordon.ts')),
  uncordon: entry(NODES, 'Mark node as schedulable', () => import('./commands/uncordon.ts')),
  drain: entry(NODES, 'Drain node in preparation for maintenance', () => import('./commands/drain.ts')),
  taint: entry(NODES, 'Update the taints on one or more nodes', () => import('./commands/taint.ts')),

  describe: entry(TROUBLE, 'Show details of a specific resource or group of resources', () => import('./commands/describe.ts')),
  logs: entry(TROUBLE, 'Print the logs for a container in a pod', () => import('./commands/logs.ts')),
  events: entry(TROUBLE, 'List events', () => import('./commands/events.ts')),
  auth: entry(TROUBLE, 'Inspect authorization', () => import('./commands/auth.ts')),

  apply: entry(ADVANCED, 'Apply a configuration to a resource by file name or stdin', () => import('./commands/apply.ts')),
  diff: entry(ADVANCED, 'Diff the live version against a would-be applied version', () => import('./commands/diff.ts')),
  patch: entry(ADVANCED, 'Update fields of a resource', () => import('./commands/patch.ts')),
  replace: entry(ADVANCED, 'Replace a resource by file name or stdin', () => import('./commands/replace.ts')),
  wait: entry(ADVANCED, 'Wait for a specific condition on one or many resources', () => import('./commands/wait.ts')),

  label: entry(SETTINGS, 'Update the labels on a resource', () => import('./commands/label.ts')),
  annotate: entry(SETTINGS, 'Update the annotations on a resource', () => import('./commands/annotate.ts')),
  completion: entry(SETTINGS, 'Output shell completion code for bash or zsh', () => import('./commands/completion.ts')),

  'api-resources': entry(OTHER, 'Print the supported API resources on the server', () => import('./commands/api-resources.ts')),
  'api-versions': entry(
    OTHER,
    'Print the supported API versions on the server, in the form of "group/version"',
    () => import('./commands/api-versions.ts'),
  ),
  config: entry(OTHER, 'Show kubeconfig files and choose a context', () => import('./commands/config.ts')),
  version: entry(OTHER, 'Print the client and server version information', () => import('./commands/version.ts')),

  apiserver: entry(COMPONENTS, 'Run an API server', () => import('./commands/apiserver.ts')),
  controllers: entry(COMPONENTS, 'Run the control loops', () => import('./commands/controllers.ts')),
  scheduler: entry(COMPONENTS, 'Run the scheduler', () => import('./commands/scheduler.ts')),
  kubelet: entry(COMPONENTS, 'Run simulated nodes', () => import('./commands/kubelet.ts')),
};
