/** Finds the pod spec inside any workload, and sends changes of its containers as a strategic patch. Mirrors kubectl `polymorphichelpers/updatepodspec.go`. */
import { deepClone } from '../../machinery/api/equality.ts';
import type { AnyObject } from '../../machinery/api/object.ts';
import type { Container, PodSpec } from '../../machinery/api/types/core.v1.ts';
import { CliError } from '../errors.ts';
import type { FlagTable } from '../flags.ts';
import { resultPrinter } from '../printers/output.ts';
import type { Session } from '../session.ts';
import { ALL_NAMESPACES_FLAG, DRY_RUN_FLAG, dryRunOf, FILE_FLAGS, managerFlag, OUTPUT_FLAGS, SELECTOR_FLAGS } from '../verb-flags.ts';
import { actOnEach, fetchObjects } from './fetch.ts';

export const POD_SPEC_FLAGS: FlagTable = {
  ...FILE_FLAGS,
  ...OUTPUT_FLAGS,
  ...SELECTOR_FLAGS,
  ...ALL_NAMESPACES_FLAG,
  ...DRY_RUN_FLAG,
  ...managerFlag('kubectl-set'),
  all: { type: 'boolean', help: 'Select all resources, in the namespace of the specified resource types' },
  local: { type: 'boolean', help: 'If true, set will NOT contact api-server but run locally' },
};

/** Where a kind keeps its pod spec. */
const PATHS: Readonly<Record<string, readonly string[]>> = {
  Pod: ['spec'],
  Deployment: ['spec', 'template', 'spec'],
  ReplicaSet: ['spec', 'template', 'spec'],
  ReplicationController: ['spec', 'template', 'spec'],
  DaemonSet: ['spec', 'template', 'spec'],
  StatefulSet: ['spec', 'template', 'spec'],
  Job: ['spec', 'template', 'spec'],
  CronJob: ['spec', 'jobTemplate', 'spec', 'template', 'spec'],
};

export function podSpecOf(object: AnyObject): PodSpec {
  const path = Object.hasOwn(PATHS, object.kind) ? PATHS[object.kind] : undefined;
  if (!path) throw new CliError(`the object is not a pod or does not have a pod template: ${object.kind}`);
  return path.reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], object) as PodSpec;
}

export function podSpecPatch(kind: string, spec: Record<string, unknown>): Record<string, unknown> {
  return PATHS[kind].reduceRight<Record<string, unknown>>((inner, key) => ({ [key]: inner }), spec);
}

export type ContainerChange = Partial<Container> & { name: string };

export interface ContainerVerb {
  readonly words: readonly string[];
  /** `image updated`. */
  readonly done: string;
  /** Members to change by list (`containers`, `initContainers`); nothing for no change. */
  change(spec: PodSpec, object: AnyObject): { containers?: ContainerChange[]; initContainers?: ContainerChange[] };
}

export async function changeContainers(session: Session, call: ContainerVerb): Promise<void> {
  const { flags } = session;
  const dryRun = dryRunOf(flags);
  const print = await resultPrinter(flags, dryRun);
  const { found, errors } = await fetchObjects(session, call.words, { needsNames: true, local: flags.bool('local') });
  await actOnEach(found, errors, async ({ object, resource, namespace, name }) => {
    const lists = Object.entries(call.change(podSpecOf(object), object)).filter(([, list]) => list.length > 0);
    if (lists.length === 0) return;
    if (dryRun === 'client' || flags.bool('local')) {
      session.out(print(changedLocally(object, lists), call.done));
      return;
    }
    const patch = podSpecPatch(object.kind, Object.fromEntries(lists));
    const write = { dryRun, fieldManager: flags.string('field-manager') };
    session.out(
      print(await session.api.patch(resource, { namespace, name }, 'application/strategic-merge-patch+json', patch, write), call.done),
    );
  });
}

function changedLocally(object: AnyObject, lists: readonly (readonly [string, ContainerChange[]])[]): AnyObject {
  const copy = deepClone(object);
  const spec = podSpecOf(copy) as unknown as Record<string, Record<string, unknown>[]>;
  for (const [list, changes] of lists) {
    for (const change of changes) Object.assign(spec[list].find((container) => container.name === change.name)!, change);
  }
  return copy;
}

/** `*`, a name, or the pattern of one: `web-*`. */
export function matchesName(pattern: string, name: string): boolean {
  if (!pattern.includes('*')) return pattern === name;
  return new RegExp(
    `^${pattern
      .split('*')
      .map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
      .join('.*')}$`,
  ).test(name);
}
