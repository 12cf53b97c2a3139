/**
 * One simulated life of a Deployment: its loops stepped in random order, their copies late, the processes killed, pods becoming ready, templates changing; then
 * everybody runs to the end. Throws when a bound is broken or the rollout does not complete.
 */
import assert from 'node:assert/strict';
import { controllerOf } from '../../machinery/api/object.ts';
import { formatTime } from '../../machinery/api/time.ts';
import type { Deployment, ReplicaSet } from '../../machinery/api/types/apps.v1.ts';
import type { Pod } from '../../machinery/api/types/core.v1.ts';
import { deployments, pods, replicasets } from '../../machinery/client/resource-type.ts';
import { seededRandom } from '../../machinery/process/random.ts';
import { maxSurge, maxUnavailable, replicasOf } from '../deployment/bounds.ts';
import { deploymentController } from '../deployment.ts';
import { isActive, isReady } from '../pods.ts';
import { replicasetController } from '../replicaset.ts';
import { type BeforeWrite, setKeys, TestProcess, World } from './world.ts';

const KEY = 'ns/web';

export interface Scenario {
  readonly seed: number;
  readonly replicas: number;
  readonly surge: number | string;
  readonly unavailable: number | string;
  readonly recreate: boolean;
  /** All loops in one process, or each in its own. */
  readonly together: boolean;
  /** The number of replicas changes too. */
  readonly scaled: boolean;
  readonly steps: number;
}

function deployment(s: Scenario): Deployment {
  const strategy = s.recreate
    ? ({ type: 'Recreate' } as const)
    : ({ type: 'RollingUpdate', rollingUpdate: { maxSurge: s.surge, maxUnavailable: s.unavailable } } as const);
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'ns' },
    spec: {
      replicas: s.replicas,
      selector: { matchLabels: { app: 'web' } },
      strategy,
      progressDeadlineSeconds: 600,
      revisionHistoryLimit: 2,
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'registry.example/web:0' }] } },
    },
  };
}

function setReady(world: World, pod: Pod, ready: boolean): void {
  const condition = { type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: formatTime(world.now) } as const;
  world.update(pods, { ...pod, status: { phase: 'Running', conditions: [condition] } }, true);
}

/**
 * The two bounds. The lower one is about pods that the loops remove: taking an available one must leave enough. Excused is only a set that was made smaller when too few were known to be
 * available: then pods that served nobody were meant, and one of them may have become ready since.
 */
class Bounds {
  readonly #world: World;
  readonly #excused = new Map<string, boolean>();

  /** Of a Deployment that is scaled only the most it ever might have had is sure: its sets act upon a new size when they see it. */
  readonly #scaled: boolean;
  #most = 0;

  constructor(world: World, scaled: boolean) {
    this.#world = world;
    this.#scaled = scaled;
  }

  #fewest(): number {
    const d = this.#world.get(deployments, KEY)!;
    return replicasOf(d) - maxUnavailable(d);
  }

  check(why: string): void {
    const d = this.#world.get(deployments, KEY)!;
    const active = this.#world.all(pods).filter(isActive);
    this.#most = this.#scaled ? Math.max(this.#most, replicasOf(d) + maxSurge(d)) : replicasOf(d) + maxSurge(d);
    assert(active.length <= this.#most, `${active.length} pods after ${why}`);
  }

  readonly beforeWrite: BeforeWrite = (action, before, readyKnown) => {
    if (this.#scaled || this.#world.get(deployments, KEY)?.spec.strategy?.type === 'Recreate') return;
    if (action.do === 'update' && action.type.resource === 'replicasets' && action.subresource === undefined) {
      const [from, to] = [before, action.object].map((rs) => replicasOf(rs as ReplicaSet));
      if (to! < from!) this.#excused.set(action.object.metadata.name ?? '', readyKnown < this.#fewest());
    }
    const removed = action.do === 'delete' && action.type.resource === 'pods' ? (before as Pod | undefined) : undefined;
    if (removed === undefined || !isReady(removed) || !isActive(removed) || action.do !== 'delete') return;
    if (removed.metadata.resourceVersion !== action.options?.resourceVersion) return; // will be refused
    const left = this.#world.all(pods).filter((pod) => isActive(pod) && isReady(pod)).length - 1;
    assert(
      left >= this.#fewest() || this.#excused.get(controllerOf(removed)?.name ?? ''),
      `${left} available pods would be left, wanted ${this.#fewest()}`,
    );
  };
}

export function play(s: Scenario): void {
  const random = seededRandom(s.seed);
  const world = new World(random);
  world.create(deployments, deployment(s));
  const bounds = new Bounds(world, s.scaled);
  const loops = [deploymentController(), replicasetController()];
  const processes = s.together
    ? [new TestProcess(world, loops, bounds.beforeWrite)]
    : loops.map((loop) => new TestProcess(world, [loop], bounds.beforeWrite));
  let image = 0;
  const anyOf = <T>(items: readonly T[]): T | undefined => items[random.integer(Math.max(1, items.length))];
  bounds.check('the start');
  for (let step = 0; step < s.steps; step++) {
    world.nowMs += random.integer(200);
    const process = anyOf(processes)!;
    const dice = random.integer(100);
    if (dice < 30) process.deliver(anyOf(process.types)!, 1 + random.integer(4));
    else if (dice < 75) process.step(random.integer(2), anyOf([KEY, ...setKeys(world)])!);
    else if (dice < 88) {
      const pod = anyOf(world.all(pods).filter((p) => !isReady(p) && isActive(p)));
      if (pod) setReady(world, pod, true);
    } else if (dice < 94) {
      const pod = anyOf(world.all(pods).filter((p) => p.metadata.deletionTimestamp !== undefined));
      if (pod) world.remove(pods, `ns/${pod.metadata.name}`);
    } else if (dice < 97) process.restart();
    else if (dice < 98) {
      const d = world.get(deployments, KEY)!;
      image = random.integer(3);
      const template = {
        ...d.spec.template,
        spec: { containers: [{ name: 'c', image: `registry.example/web:${image}` }] },
      };
      world.update(deployments, { ...d, spec: { ...d.spec, template } });
    } else if (dice < 99 && s.scaled) {
      const d = world.get(deployments, KEY)!;
      world.update(deployments, { ...d, spec: { ...d.spec, replicas: random.integer(8) } });
    }
    bounds.check(`step ${step}`);
  }
  settle(world, processes, bounds);
  assertComplete(world, `registry.example/web:${image}`);
}

/** Everybody does what there is to do until nobody has anything to do. */
function settle(world: World, processes: readonly TestProcess[], bounds: Bounds): void {
  // a pass left over from before may fail once, so one quiet round is not enough
  for (let round = 0, quiet = 0; round < 400; round++) {
    let moved = false;
    world.nowMs += 1000;
    for (const process of processes) {
      process.deliverAll();
      for (const key of [KEY, ...setKeys(world)]) for (const loop of [0, 1]) moved = process.pass(loop, key) || moved;
      bounds.check(`round ${round}`);
    }
    for (const pod of world.all(pods)) {
      if (pod.metadata.deletionTimestamp !== undefined) world.remove(pods, `ns/${pod.metadata.name}`);
      else if (!isReady(pod)) setReady(world, pod, true);
      else continue;
      moved = true;
    }
    bounds.check(`round ${round}`);
    quiet = moved ? 0 : quiet + 1;
    if (quiet === 3) return;
  }
  assert.fail('did not settle');
}

function assertComplete(world: World, image: string): void {
  const d = world.get(deployments, KEY)!;
  const running = world.all(pods);
  assert.equal(running.length, replicasOf(d));
  assert(running.every((pod) => pod.spec.containers[0]?.image === image));
  assert.equal(d.status?.updatedReplicas ?? 0, replicasOf(d));
  assert.equal(d.status?.conditions?.find((c) => c.type === 'Progressing')?.reason, 'NewReplicaSetAvailable');
  assert(world.all(replicasets).length <= 3, 'history limit');
}
