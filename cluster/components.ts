/**
 * The components of a cluster as a table: name, code, the flags that tie it to the others. Adding a component to every cluster is adding a row.
 */
import type { Layout } from './layout.ts';
import type { NodeGroup } from './node-groups.ts';

/** What the flags of a component depend on. */
export interface ClusterFacts {
  readonly layout: Layout;
  readonly bindAddress: string;
  readonly securePort: number;
  readonly nodeCount: number;
}

export type ComponentModule = 'apiserver' | 'controllers' | 'scheduler' | 'kubelet';

export interface ComponentSpec {
  readonly module: ComponentModule;
  /** Exports of the module's `start.ts` and `options.ts`, for running it in this process. */
  readonly startExport: string;
  readonly optionsExport: string;
  /** Arguments of node. */
  readonly nodeArguments: readonly string[];
  /** Who it is to the API server; none for the API server itself. */
  readonly identity?: (nodes: NodeGroup) => {
    readonly user: string;
    readonly groups: readonly string[];
    readonly hosts?: readonly string[];
  };
  flags(facts: ClusterFacts, nodes: NodeGroup): readonly string[];
}

/**
 * For processes with small heaps: one helper thread, and no optimizing compiler for WebAssembly (undici's HTTP parser, the only one there is), which would
 * keep 10 MB. The nursery keeps its size: a smaller one saves nothing at rest and costs a third of the time under load.
 */
const SMALL = ['--v8-pool-size=1', '--liftoff-only'];

/** The default --cluster-cidr, a /16, has a /24 for so many nodes; in the larger one there are 32,768. It lies beside the addresses of services. */
const DEFAULT_POD_RANGES = 256;
const LARGE_CLUSTER_CIDR = '10.128.0.0/9';

export const COMPONENTS: Readonly<Record<ComponentModule, ComponentSpec>> = {
  apiserver: {
    module: 'apiserver',
    startExport: 'startApiServer',
    optionsExport: 'apiServerOptions',
    nodeArguments: [],
    flags: ({ layout, bindAddress, securePort }) => [
      `--data-dir=${layout.dataDir}`,
      `--bind-address=${bindAddress}`,
      `--secure-port=${securePort}`,
    ],
  },
  controllers: {
    module: 'controllers',
    startExport: 'startControllers',
    optionsExport: 'controllersOptions',
    nodeArguments: SMALL,
    identity: () => ({ user: 'system:kube-controller-manager', groups: [] }),
    flags: ({ layout, nodeCount }) => [
      `--kubeconfig=${layout.kubeconfigOf('controllers')}`,
      '--secure-port=0',
      ...(nodeCount > DEFAULT_POD_RANGES ? [`--cluster-cidr=${LARGE_CLUSTER_CIDR}`] : []),
      `--root-ca-file=${layout.dataDir}/pki/ca.crt`,
    ],
  },
  scheduler: {
    module: 'scheduler',
    startExport: 'startScheduler',
    optionsExport: 'schedulerOptions',
    nodeArguments: SMALL,
    identity: () => ({ user: 'system:kube-scheduler', groups: [] }),
    flags: ({ layout }) => [`--kubeconfig=${layout.kubeconfigOf('scheduler')}`, '--secure-port=0'],
  },
  kubelet: {
    module: 'kubelet',
    startExport: 'startKubelet',
    optionsExport: 'kubeletOptions',
    nodeArguments: SMALL,
    identity: ({ name }) => ({ user: `system:node:${name}`, groups: ['system:nodes'], hosts: [name, 'localhost', '127.0.0.1'] }),
    flags: ({ layout }, { name, base, first, count }) => [
      `--kubeconfig=${layout.kubeconfigOf(name)}`,
      `--node-name=${base}`,
      ...(count > 1 ? [`--nodes=${count}`, `--first-node=${first}`] : []),
      `--root-dir=${layout.kubeletRoot(name)}`,
      '--port=0',
      '--healthz-port=0',
    ],
  },
};

/** One process of a cluster. */
export interface ProcessPlan {
  /** `apiserver`, `controllers`, `scheduler`, `kubelet-node-1`, `kubelet-nodes-1-to-1000`. */
  readonly name: string;
  readonly spec: ComponentSpec;
  /** Those of a kubelet. */
  readonly nodes: NodeGroup;
  readonly argv: readonly string[];
}

const NO_NODES: NodeGroup = { name: '', base: '', first: 1, count: 0 };

/** In the order of starting; stopping goes backwards. Flags given for a component come last, so they win. */
export function planProcesses(
  facts: ClusterFacts,
  nodes: readonly NodeGroup[],
  extra: Partial<Record<ComponentModule, readonly string[]>>,
): ProcessPlan[] {
  const plan = (module: ComponentModule, group = NO_NODES): ProcessPlan => {
    const spec = COMPONENTS[module];
    const name = group === NO_NODES ? module : `${module}-${group.name}`;
    return { name, spec, nodes: group, argv: [...spec.flags(facts, group), ...(extra[module] ?? [])] };
  };
  return [plan('apiserver'), plan('controllers'), plan('scheduler'), ...nodes.map((group) => plan('kubelet', group))];
}
