/** All questions to one history, by name: what the runner, the offline check of a kept run and the proofs with seeded bugs have in common. */
import { linearizable, readDurable, snapshots } from './check-reads.ts';
import { expiriesAllowed, watchersSettle, watchesComplete } from './check-watches.ts';
import {
  appliedOnce,
  comparedAndSet,
  createdOnce,
  deletionsAsked,
  durable,
  noLostUpdate,
  refusalsTrue,
  revisionOrder,
  revisionsUnique,
  storesWhole,
} from './check-writes.ts';
import { acknowledged, isWrite, type Operation } from './history.ts';
import { Model } from './model.ts';
import { merged, type Reading } from './revisions.ts';

export interface Evidence {
  readonly operations: readonly Operation[];
  /** The ground truth, read at several times. */
  readonly readings: readonly Reading[];
  /** History was let go while it ran. */
  readonly compacting: boolean;
}

export interface Finding {
  readonly name: string;
  /** How much was looked at: a check of nothing proves nothing. */
  readonly judged: string;
  readonly violations: readonly string[];
}

export function judge({ operations, readings, compacting }: Evidence): Finding[] {
  const { truth, violations: contradictions } = merged(readings);
  const model = new Model(truth);
  const writes = operations.filter(isWrite).filter(acknowledged).length;
  const of = (kind: Operation['op']): number => operations.filter(({ op }) => op === kind).length;
  const events = operations.reduce((sum, op) => sum + (op.op === 'watch' ? op.events.length : 0), 0);
  const watches = `${of('watch')} watches, ${events} events`;
  const finding = (name: string, judged: string, violations: readonly string[]): Finding => ({ name, judged, violations });
  return [
    finding('D1 acknowledged writes are there', `${writes} writes`, durable(operations, model)),
    finding('D1 stores are whole', `${readings.length} readings`, storesWhole(readings, model)),
    finding('D2 nothing read was lost', `${of('get')} gets, ${of('list')} lists, ${events} events`, readDurable(operations, model)),
    finding('D2 what a refusal tells of is there', `${of('create') + of('update') + of('delete')} writes`, refusalsTrue(operations, model)),
    finding('D3, C8 writes happen once or never, trials never', `${operations.filter(isWrite).length} writes`, [
      ...appliedOnce(operations, model),
      ...deletionsAsked(operations, model),
    ]),
    finding('D4 revisions have no gap and no second meaning', `${truth.length} revisions`, [...contradictions, ...revisionOrder(model)]),
    finding('D4 no revision is answered twice', `${writes} writes`, revisionsUnique(operations)),
    finding('D6, R1 linearizable', `${writes} writes, ${of('get')} gets, ${of('list')} lists`, linearizable(operations, model)),
    finding('R5, R6 lists are snapshots', `${of('list')} lists`, snapshots(operations, model)),
    finding('C1, C2 no update is lost', `${writes} writes`, [...comparedAndSet(operations, model), ...noLostUpdate(model)]),
    finding('C3 a name is created once', `${writes} writes`, createdOnce(operations, model)),
    finding('W1, W2, W4, W6, W7 watches', watches, watchesComplete(operations, model)),
    finding('W3 no false expiry', watches, expiriesAllowed(operations, compacting)),
    finding('W11 no watcher is left behind', `${of('settle')} watchers`, watchersSettle(operations)),
  ];
}

export const violationsOf = (findings: readonly Finding[]): string[] =>
  findings.flatMap(({ name, violations }) => violations.map((violation) => `${name}: ${violation}`));
