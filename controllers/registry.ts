/** Every loop by its name, in the order they are started, and which of them a command line asks for. */
import type { PlannedController, Reconciler } from '../machinery/loop/controller.ts';
import type { Clock } from '../machinery/process/clock.ts';
import { OptionsError } from '../machinery/process/options.ts';
import { deploymentController } from './deployment.ts';
import { endpointsController } from './endpoints.ts';
import { endpointsliceController } from './endpointslice.ts';
import { endpointslicemirroringController } from './endpointslicemirroring.ts';
import { garbageCollector } from './garbagecollector.ts';
import { namespaceController } from './namespace.ts';
import { nodeIpamController } from './node-ipam.ts';
import { nodelifecycleController } from './nodelifecycle.ts';
import type { ControllersOptions } from './options.ts';
import { podGarbageCollector } from './podgc.ts';
import { replicasetController } from './replicaset.ts';
import { rootCaPublisher } from './root-ca-publisher.ts';
import { serviceaccountController } from './serviceaccount.ts';
import { taintEvictionController } from './tainteviction.ts';
import { ttlController } from './ttl.ts';

export type AnyController = PlannedController<unknown> | Reconciler;

export interface LoopDeps {
  readonly clock: Clock;
  /** PEM certificates for kube-root-ca.crt; without them nothing is published. */
  readonly rootCa: string | undefined;
}

type Make = (options: ControllersOptions, deps: LoopDeps) => AnyController | undefined;

/** Names as upstream's --controllers knows them: the long one, and its old short form. */
const LOOPS: readonly (readonly [name: string, alias: string, make: Make])[] = [
  ['namespace-controller', 'namespace', (options) => namespaceController(options.concurrentNamespaceSyncs)],
  ['serviceaccount-controller', 'serviceaccount', (options) => serviceaccountController(options.concurrentServiceaccountTokenSyncs)],
  ['root-ca-certificate-publisher-controller', 'root-ca-cert-publisher', (_, { rootCa }) => (rootCa ? rootCaPublisher(rootCa) : undefined)],
  ['garbage-collector-controller', 'garbagecollector', (options) => garbageCollector(options.concurrentGcSyncs)],
  ['deployment-controller', 'deployment', (options) => deploymentController(options.concurrentDeploymentSyncs)],
  ['replicaset-controller', 'replicaset', (options) => replicasetController(options.concurrentReplicasetSyncs)],
  ['endpointslice-controller', 'endpointslice', (options) => endpointsliceController(options.concurrentServiceEndpointSyncs)],
  ['endpoints-controller', 'endpoint', (options) => endpointsController(options.concurrentEndpointSyncs)],
  [
    'endpointslice-mirroring-controller',
    'endpointslicemirroring',
    (options) => endpointslicemirroringController(options.mirroringConcurrentServiceEndpointSyncs),
  ],
  ['node-ipam-controller', 'nodeipam', (options) => (options.allocateNodeCidrs ? nodeIpamController(options) : undefined)],
  ['ttl-controller', 'ttl', () => ttlController()],
  ['node-lifecycle-controller', 'nodelifecycle', (options, { clock }) => nodelifecycleController(options, clock)],
  ['taint-eviction-controller', 'tainteviction', (_, { clock }) => taintEvictionController(clock)],
  ['pod-garbage-collector-controller', 'podgc', (options) => podGarbageCollector(options)],
];

/** The loops that `--controllers` asks for. Throws OptionsError for a name that does not exist. */
export function chosenLoops(options: ControllersOptions, deps: LoopDeps): AnyController[] {
  const asked = options.controllers;
  const known = new Set([...LOOPS.map(([name]) => name), ...LOOPS.map(([, alias]) => alias)]);
  const wrong = asked.filter((item) => item !== '*' && !known.has(item.replace(/^-/, '')));
  if (wrong.length > 0)
    throw new OptionsError(
      wrong.map((item) => `--controllers: "${item}" is no controller; there are ${LOOPS.map(([, alias]) => alias).join(', ')}`),
    );
  const isChosen = (names: readonly string[]): boolean =>
    names.some((name) => asked.includes(name)) || (asked.includes('*') && !names.some((name) => asked.includes(`-${name}`)));
  return LOOPS.filter(([name, alias]) => isChosen([name, alias]))
    .map(([, , make]) => make(options, deps))
    .filter((loop) => loop !== undefined);
}
