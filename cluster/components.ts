/**
 * The components of a cluster as a table: name, code, the flags that tie it to the others. Adding a component to every cluster is adding a row.
 */
import type { Layout } from './layout.ts';

/** What the flags of a component depend on. */
export interface ClusterFacts {
  readonly layout: Layout;
  readonly bindAddress: string;
  readonly securePort: number;
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
  readonly identity?: (node: string) => { readonly user: string; readonly groups: readonly string[]; readonly hosts?: readonly string[] };
  flags(facts: ClusterFacts, node: string): readonly string[];
}

/**
 * For processes with small heaps: one helper thread, and no optimizing compiler for WebAssembly (undici's HTTP parser, the only one there is), which would
 * keep 10 MB. Measured: 65 instead of 75 MB each. The nursery keeps its size: a smaller one saves nothing at rest and costs a third of the time under load.
 */
const SMALL = ['--v8-pool-size=1', '--liftoff-only'];

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
    flags: ({ layout }) => [
      `--kubeconfig=${layout.kubeconfigOf('controllers')}`,
      '--secure-port=0',
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
    identity: (node) => ({ user: `system:node:${node}`, groups: ['system:nodes'], hosts: [node, 'localhost', '127.0.0.1'] }),
    flags: ({ layout }, node) => [
      `--kubeconfig=${layout.kubeconfigOf(node)}`,
      `--node-name=${node}`,
      `--root-dir=${layout.kubeletRoot(node)}`,
      '--port=0',
      '--healthz-port=0',
    ],
  },
};

/** One process of a cluster. */
export interface ProcessPlan {
  /** `apiserver`, `controllers`, `scheduler`, `kubelet-node-1`. */
  readonly name: string;
  readonly spec: ComponentSpec;
  readonly node: string;
  readonly argv: readonly string[];
}

/** In the order of starting; stopping goes backwards. Flags given for a component come last, so they win. */
export function planProcesses(
  facts: ClusterFacts,
  nodes: readonly string[],
  extra: Partial<Record<ComponentModule, readonly string[]>>,
): ProcessPlan[] {
  const plan = (module: ComponentModule, name: string, node = ''): ProcessPlan => {
    const spec = COMPONENTS[module];
    return { name, spec, node, argv: [...spec.flags(facts, node), ...(extra[module] ?? [])] };
  };
  return [
    plan('apiserver', 'apiserver'),
    plan('controllers', 'controllers'),
    plan('scheduler', 'scheduler'),
    ...nodes.map((node) => plan('kubelet', `kubelet-${node}`, node)),
  ];
}
