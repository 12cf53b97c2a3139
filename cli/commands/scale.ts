/** `scale`: sets the replicas through the scale subresource. Mirrors kubectl `cmd/scale`. */
import { CliError, errorMessage, throwAll, usageError } from '../errors.ts';
import { resultPrinter } from '../printers/output.ts';
import { type Found, fetchObjects } from '../resources/fetch.ts';
import type { Session } from '../session.ts';
import type { Verb } from '../verb.ts';
import { DRY_RUN_FLAG, dryRunOf, FILE_FLAGS, OUTPUT_FLAGS, SELECTOR_FLAGS } from '../verb-flags.ts';

export const verb: Verb = {
  usage: '[--resource-version=version] [--current-replicas=count] --replicas=COUNT (-f FILENAME | TYPE NAME)',
  flags: {
    ...FILE_FLAGS,
    ...OUTPUT_FLAGS,
    ...SELECTOR_FLAGS,
    ...DRY_RUN_FLAG,
    replicas: { type: 'integer', default: -1, help: 'The new desired number of replicas. Required' },
    'current-replicas': {
      type: 'integer',
      default: -1,
      help: 'Precondition for current size. Requires that the current size of the resource match this value',
    },
    'resource-version': { type: 'string', help: 'Precondition for resource version' },
    timeout: {
      type: 'duration',
      default: '0s',
      help: "The length of time to wait before giving up on a scale operation, zero means don't wait",
    },
    all: { type: 'boolean', help: 'Select all resources in the namespace of the specified resource types' },
  },
  run: scale,
};

async function scale(session: Session, args: readonly string[]): Promise<void> {
  const { flags } = session;
  const replicas = flags.integer('replicas');
  if (replicas < 0) throw new CliError('The --replicas=COUNT flag is required, and COUNT must be greater than or equal to 0');
  if (args.length === 0 && flags.list('filename').length === 0) throw usageError(session.verb, 'must specify one of -f and -k');
  const dryRun = dryRunOf(flags);
  const print = await resultPrinter(flags, dryRun);
  const { found, errors } = await fetchObjects(session, args, { needsNames: true });
  for (const item of found) {
    try {
      await checkPreconditions(session, item);
      const { resource, namespace, name } = item;
      if (dryRun !== 'client') {
        const where = { namespace, name, subresource: 'scale' };
        await session.api.patch(resource, where, 'application/merge-patch+json', { spec: { replicas } }, { dryRun });
      }
      session.out(print(flags.string('output') === '' ? item.object : await session.api.get(resource, item), 'scaled'));
      if (flags.durationMs('timeout') > 0 && dryRun === 'none') await untilScaled(session, item, replicas);
    } catch (error) {
      errors.push(error);
    }
  }
  if (found.length === 0) throw new CliError(['no objects passed to scale', ...errors.map(errorMessage)].join(' '));
  throwAll(errors);
}

async function checkPreconditions(session: Session, { resource, namespace, name }: Found): Promise<void> {
  const [current, version] = [session.flags.integer('current-replicas'), session.flags.string('resource-version')];
  if (current < 0 && version === '') return;
  const now = await session.api.get(resource, { namespace, name, subresource: 'scale' });
  const replicas = (now.spec as { replicas?: number } | undefined)?.replicas ?? 0;
  if (current >= 0 && replicas !== current) throw new CliError(`Expected replicas to be ${current}, was ${replicas}`);
  if (version !== '' && now.metadata.resourceVersion !== version)
    throw new CliError(`Expected resource version to be ${version}, was ${now.metadata.resourceVersion}`);
}

async function untilScaled(session: Session, { resource, namespace, name }: Found, replicas: number): Promise<void> {
  const deadline = session.clock.monotonicMs() + session.flags.durationMs('timeout');
  for (;;) {
    const now = await session.api.get(resource, { namespace, name, subresource: 'scale' });
    if (((now.status as { replicas?: number } | undefined)?.replicas ?? 0) === replicas) return;
    if (session.clock.monotonicMs() > deadline) throw new CliError('timed out waiting for the condition');
    await session.clock.sleep(200, session.signal);
  }
}
