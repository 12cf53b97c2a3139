/** `rollout history`: the revisions of a workload, or the template of one. */
import type { AnyObject } from '../../machinery/api/object.ts';
import { CliError } from '../errors.ts';
import { objectName, objectPrinter } from '../printers/output.ts';
import { alignTabs, DESCRIBE_TABS } from '../printers/tabwriter.ts';
import { actOnEach, type Found, fetchObjects, requireAsked } from '../resources/fetch.ts';
import { checkKind, recordedTemplate, revisionsOf } from '../rollout/kinds.ts';
import type { Session } from '../session.ts';
import type { Verb } from '../verb.ts';
import { FILE_FLAGS, OUTPUT_FLAGS, SELECTOR_FLAGS } from '../verb-flags.ts';

export const verb: Verb = {
  usage: '(TYPE NAME | TYPE/NAME) [flags]',
  flags: {
    ...FILE_FLAGS,
    ...OUTPUT_FLAGS,
    ...SELECTOR_FLAGS,
    revision: { type: 'integer', default: 0, help: 'See the details, including podTemplate of the revision specified' },
  },
  run: history,
};

async function history(session: Session, args: readonly string[]): Promise<void> {
  requireAsked(session, args);
  if (session.flags.integer('revision') < 0)
    throw new CliError(`revision must be a positive integer: ${session.flags.integer('revision')}`);
  const print = await objectPrinter(session.flags);
  const { found, errors } = await fetchObjects(session, args);
  await actOnEach(found, errors, async (item) => {
    checkKind(item.object, 'history viewer');
    session.out(print ? await revisionObjects(session, item, print) : await historyText(session, item));
  });
}

async function revisionObjects(session: Session, item: Found, print: (object: AnyObject) => string): Promise<string> {
  const wanted = session.flags.integer('revision');
  const revisions = await revisionsOf(session, item);
  const chosen = wanted > 0 ? revisions.filter((r) => r.number === wanted) : revisions.slice(-1);
  if (chosen.length === 0) throw new CliError(`unable to find the specified revision`);
  return chosen.map((r) => print(r.object)).join('');
}

async function historyText(session: Session, item: Found): Promise<string> {
  const wanted = session.flags.integer('revision');
  const revisions = await revisionsOf(session, item);
  if (wanted > 0) {
    const chosen = revisions.find((r) => r.number === wanted);
    if (!chosen) throw new CliError('unable to find the specified revision');
    const { describeTemplate } = await import('../describe/pod-template.ts');
    return `${objectName(item.object)} with revision #${wanted}\n${describeTemplate(recordedTemplate(chosen), chosen.object.metadata.annotations)}\n`;
  }
  if (revisions.length === 0) return `${objectName(item.object)} \nNo rollout history found.\n`;
  const rows = revisions.map((r) => `${r.number}\t${r.changeCause}\n`).join('');
  return `${objectName(item.object)} \n${alignTabs(`REVISION\tCHANGE-CAUSE\n${rows}`, DESCRIBE_TABS)}\n`;
}
