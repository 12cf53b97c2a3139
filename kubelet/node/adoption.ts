/**
 * Takes charge of nodes that others make through the API: a Node object that nobody heartbeats becomes a simulated node, as kwok does.
 *
 * Invariant: a node is looked after by the process whose id is written on it; a node that has ever been Ready is left to its own kubelet.
 */
import type { Node } from '../../machinery/api/types/core.v1.ts';
import type { Informer } from '../../machinery/client/informer.ts';
import type { ComponentDeps } from '../../machinery/process/component.ts';

export interface AdoptionDeps extends ComponentDeps {
  readonly nodes: Informer<Node>;
  readonly own: (name: string) => boolean;
  readonly adopt: (name: string) => Promise<void>;
  readonly leave: (name: string) => Promise<void>;
}

/** The version that simulated nodes report: a node of ours that lost its process may be taken over, one of another kubelet may not. */
const isFree = (node: Node): boolean => (node.status?.nodeInfo?.kubeletVersion ?? '') === '';

export function createAdoption(deps: AdoptionDeps): { start: () => void } {
  const adopted = new Map<string, string>();
  const consider = (node: Node | undefined, old: Node | undefined): void => {
    const name = (node ?? old)?.metadata.name as string;
    const uid = node?.metadata.uid;
    if (adopted.has(name) && adopted.get(name) !== uid) {
      adopted.delete(name);
      deps.leave(name).catch((error: unknown) => deps.logger.warn({ err: error, node: name }, 'leaving a node failed'));
    }
    if (!node || adopted.has(name) || deps.own(name) || !isFree(node)) return;
    adopted.set(name, uid as string);
    deps.adopt(name).catch((error: unknown) => {
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
