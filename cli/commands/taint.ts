/** `taint`: adds and removes taints of nodes. Mirrors kubectl `cmd/taint`. */
import type { Node, Taint } from '../../machinery/api/types/core.v1.ts';
import { CliError, errorMessage, usageError } from '../errors.ts';
import { resultPrinter } from '../printers/output.ts';
import { actOnEach, fetchObjects } from '../resources/fetch.ts';
import type { Session } from '../session.ts';
import type { Verb } from '../verb.ts';
import { DRY_RUN_FLAG, dryRunOf, managerFlag, OUTPUT_FLAGS, SELECTOR_FLAGS, VALIDATE_FLAG } from '../verb-flags.ts';

export const verb: Verb = {
  usage: 'NODE NAME KEY_1=VAL_1:TAINT_EFFECT_1 ... KEY_N=VAL_N:TAINT_EFFECT_N',
  flags: {
    ...OUTPUT_FLAGS,
    ...SELECTOR_FLAGS,
    ...DRY_RUN_FLAG,
    ...VALIDATE_FLAG,
    ...managerFlag('kubectl-taint'),
    all: { type: 'boolean', help: 'Select all nodes in the cluster' },
    overwrite: {
      type: 'boolean',
      help: 'If true, allow taints to be overwritten, otherwise reject taint updates that overwrite existing taints',
    },
  },
  run: taint,
};

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];
const isTaint = (word: string): boolean => word.includes('=') || word.includes(':') || word.endsWith('-');

export interface TaintChanges {
  readonly add: Taint[];
  /** Without an effect: all of that key. */
  readonly remove: { readonly key: string; readonly effect?: string }[];
}

async function taint(session: Session, args: readonly string[]): Promise<void> {
  const { flags } = session;
  const at = args.findIndex(isTaint);
  const words = at < 0 ? args : args.slice(0, at);
  if (words.length === 0) throw new CliError('one or more resources must be specified as <resource> <name>');
  if (!/^(no|nodes?)(\/|$)/.test(words[0]))
    throw new CliError(`invalid resource type ${words[0].split('/')[0]}, only node types are supported`);
  if (words.length === 1 && !words[0].includes('/') && !flags.bool('all') && flags.string('selector') === '')
    throw new CliError("at least one resource name must be specified since 'all' parameter is not set");
  if (at < 0) throw new CliError('at least one taint update is required');
  const changes = parsed(session, args.slice(at));
  const dryRun = dryRunOf(flags);
  const print = await resultPrinter(flags);
  const { found, errors } = await fetchObjects(session, words);
  await actOnEach(found, errors, async ({ object, resource, name }) => {
    const old = (object as unknown as Node).spec?.taints ?? [];
    const { taints, done } = changedTaints(old, changes, { overwrite: flags.bool('overwrite'), node: name });
    const spec = { ...(object.spec as object), taints };
    const write = { dryRun, fieldManager: flags.string('field-manager') };
    const patch = { spec: { taints: taints.length > 0 ? taints : null } };
    const result =
      dryRun === 'client' ? { ...object, spec } : await session.api.patch(resource, { name }, 'application/merge-patch+json', patch, write);
    session.out(print(result, done));
  });
}

function parsed(session: Session, specs: readonly string[]): TaintChanges {
  try {
    return parseTaints(specs);
  } catch (error) {
    throw usageError(session.verb, errorMessage(error));
  }
}

/** `key=value:Effect`, `key:Effect`, `key:Effect-`, `key-`. Throws in kubectl's wording. */
export function parseTaints(specs: readonly string[]): TaintChanges {
  const add: Taint[] = [];
  const remove: { key: string; effect?: string }[] = [];
  for (const spec of specs) {
    if (spec.endsWith('-')) {
      const [left, effect] = spec.slice(0, -1).split(':');
      if (effect && !EFFECTS.includes(effect)) throw new CliError(`invalid taint effect: ${effect}, unsupported taint effect`);
      remove.push({ key: left.split('=')[0], ...(effect && { effect }) });
      continue;
    }
    const [left, effect, ...more] = spec.split(':');
    const [key, value = '', ...rest] = left.split('=');
    if (more.length > 0 || rest.length > 0 || key === '') throw new CliError(`invalid taint spec: ${spec}`);
    if (!effect || !EFFECTS.includes(effect))
      throw new CliError(
        effect === undefined ? `invalid taint spec: ${spec}` : `invalid taint effect: ${effect}, unsupported taint effect`,
      );
    if (add.some((t) => t.key === key && t.effect === effect))
      throw new CliError(`duplicated taints with the same key and effect: {${key} ${value} ${effect} <nil>}`);
    add.push({ key, ...(value !== '' && { value }), effect } as Taint);
  }
  return { add, remove };
}

function changedTaints(
  old: readonly Taint[],
  { add, remove }: TaintChanges,
  how: { overwrite: boolean; node: string },
): { taints: Taint[]; done: string } {
  const same = (a: Taint, b: Taint): boolean => a.key === b.key && a.effect === b.effect;
  const taken = add.filter((t) => old.some((o) => same(o, t)));
  if (taken.length > 0 && !how.overwrite) {
    throw new CliError(
      `node ${how.node} already has ${taken.map((t) => `${t.key} taint(s) with same effect(s)`).join(', ')} and --overwrite is false`,
    );
  }
  const matching = (t: Taint, r: TaintChanges['remove'][number]): boolean =>
    t.key === r.key && (r.effect === undefined || r.effect === t.effect);
  const missing = remove.filter((r) => !old.some((t) => matching(t, r)));
  if (missing.length > 0) throw new CliError(missing.map((r) => `taint "${r.key}${r.effect ? `:${r.effect}` : ''}" not found`).join('\n'));
  const kept = old.filter((t) => !add.some((a) => same(a, t)) && !remove.some((r) => matching(t, r)));
  const done = taken.length > 0 || (add.length > 0 && remove.length > 0) ? 'modified' : remove.length > 0 ? 'untainted' : 'tainted';
  return { taints: [...add, ...kept], done };
}
