/**
 * Takes charge of nodes that others make through the API: a Node object that nobody heartbeats becomes a simulated node, as kwok does.
 *
 * Invariant: of several kubelets that adopt, the one named by the node's Lease looks after it; a node with a kubelet of its own is left to it.
 */
import type { Node } from '../../machinery/api/types/core.v1.ts';
import type { Informer } from '../../machinery/client/informer.ts';
import type { ComponentDeps } from '../../machinery/process/component.ts';
import { adopterId } from './node-status.ts';

export interface AdoptionDeps extends ComponentDeps {
  readonly nodes: Informer<Node>;
  /** Name of this process's own node: marks what it adopts. */
  readonly adopter: string;
  readonly own: (name: string) => boolean;
  /** Whether this process got the node, of all that want it. */
  readonly claim: (name: string) => Promise<boolean>;
  readonly adopt: (name: string) => Promise<void>;
  readonly leave: (name: string) => Promise<void>;
}

export function createAdoption(deps: AdoptionDeps): { start: () => void } {
  const adopted = new Map<string, string>();
  const mine = adopterId(deps.adopter);
  // A node that has never said what it runs has no kubelet; one that carries our mark lost its process, which was us.
  const isFree = ({ status }: Node): boolean => (status?.nodeInfo?.kubeletVersion ?? '') === '' || status?.nodeInfo?.machineID === mine;
  const take = async (name: string): Promise<void> => {
    if (await deps.claim(name)) await deps.adopt(name);
    else adopted.delete(name);
  };
  const consider = (node: Node | undefined, old: Node | undefined): void => {
    const name = (node ?? old)?.metadata.name as string;
    const uid = node?.metadata.uid;
    if (adopted.has(name) && adopted.get(name) !== uid) {
      adopted.delete(name);
      deps.leave(name).catch((error: unknown) => deps.logger.warn({ err: error, node: name }, 'leaving a node failed'));
    }
    if (!node || adopted.has(name) || deps.own(name) || !isFree(node)) return;
    adopted.set(name, uid as string);
    take(name).catch((error: unknown) => {
      adopted.delete(name);
      if (!deps.signal.aborted) deps.logger.warn({ err: error, node: name }, 'taking charge of a node failed');
    });
  };
  return {
    start: () => {
      deps.nodes.addHandler(({ object, old }) => consider(object, old));
      for (const node of deps.nodes.list()) consider(node, undefined);
    },
  };
}
