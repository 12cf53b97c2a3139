/** `delete`: by names, selectors or manifests; graceful and waiting by default. Mirrors kubectl `cmd/delete`. */
import { isReason } from '../../machinery/api/status.ts';
import { shownResource } from '../discovery/mapper.ts';
import { CliError, Quiet, throwAll } from '../errors.ts';
import type { Flags } from '../flags.ts';
import { parseResourceWords } from '../resources/arguments.ts';
import { type Deletable, deletedUid, untilGone } from '../resources/deletion.ts';
import { fetchObjects, listAll } from '../resources/fetch.ts';
import type { Session } from '../session.ts';
import type { Verb } from '../verb.ts';
import { ALL_NAMESPACES_FLAG, DRY_RUN_FLAG, dryRunOf, FIELD_SELECTOR_FLAGS, FILE_FLAGS, SELECTOR_FLAGS } from '../verb-flags.ts';

export const verb: Verb = {
  usage: '([-f FILENAME] | TYPE [(NAME | -l label | --all)])',
  flags: {
    ...FILE_FLAGS,
    ...SELECTOR_FLAGS,
    ...FIELD_SELECTOR_FLAGS,
    ...ALL_NAMESPACES_FLAG,
    ...DRY_RUN_FLAG,
    all: { type: 'boolean', help: 'Delete all resources, in the namespace of the specified resource types' },
    cascade: { type: 'string', default: 'background', bare: 'background', help: 'Must be "background", "orphan", or "foreground"' },
    force: { type: 'boolean', help: 'If true, immediately remove resources from API and bypass graceful deletion' },
    'grace-period': {
      type: 'integer',
      default: -1,
      help: 'Period of time in seconds given to the resource to terminate gracefully. Ignored if negative',
    },
    'ignore-not-found': { type: 'boolean', help: 'Treat "resource not found" as a successful delete' },
    interactive: { type: 'boolean', short: 'i', help: 'If true, delete resource only when user confirms' },
    now: { type: 'boolean', help: 'If true, resources are signaled for immediate shutdown (same as --grace-period=1)' },
    output: { type: 'string', short: 'o', help: 'Output mode. Use "-o name" for shorter output (resource/name)' },
    raw: { type: 'string', help: 'Raw URI to DELETE to the server' },
    timeout: { type: 'duration', default: '0s', help: 'The length of time to wait before giving up on a delete' },
    wait: { type: 'boolean', default: true, help: 'If true, wait for resources to be gone before returning. This waits for finalizers' },
  },
  run: remove,
};

async function remove(session: Session, args: readonly string[]): Promise<void> {
  const { flags } = session;
  if (flags.changed('raw')) {
    session.out(await session.api.text({ method: 'DELETE', path: flags.string('raw') }));
    return;
  }
  if (flags.string('output') !== '' && flags.string('output') !== 'name')
    throw new CliError(`unexpected -o output mode: ${flags.string('output')}. We only support '-o name'`);
  const options = deleteOptions(flags);
  const dryRun = dryRunOf(flags);
  const { targets, errors } = await deletionTargets(session, args);
  if (options.gracePeriodSeconds === 0 && targets.length > 0) {
    session.err(
      'Warning: Immediate deletion does not wait for confirmation that the running resource has been terminated. The resource may continue to run on the cluster indefinitely.',
    );
  }
  if (flags.bool('interactive')) await confirm(session, targets);
  const waiting: { target: Deletable; uid: string | undefined }[] = [];
  for (const target of targets) {
    try {
      const answer =
        dryRun === 'client'
          ? undefined
          : await session.api.delete(target.resource, target, { ...options, ...(dryRun === 'server' && { dryRun: ['All'] }) });
      session.line(message(flags, target, options.gracePeriodSeconds === 0));
      if (answer && dryRun === 'none') waiting.push({ target, uid: deletedUid(answer) });
    } catch (error) {
      if (!((flags.bool('ignore-not-found') || flags.bool('all')) && isReason(error, 'NotFound'))) errors.push(error);
    }
  }
  if (targets.length === 0 && errors.length === 0) session.line('No resources found');
  const timeoutMs = flags.durationMs('timeout');
  if (flags.bool('wait')) {
    for (const { target, uid } of waiting)
      await untilGone(session, target, { uid, timeoutMs }).catch((error) => ignoreForbidden(error, errors));
  }
  throwAll(errors);
}

function ignoreForbidden(error: unknown, errors: unknown[]): void {
  if (!isReason(error, 'Forbidden', 'MethodNotAllowed', 'NotFound')) errors.push(error);
}

function deleteOptions(flags: Flags): { propagationPolicy: string; gracePeriodSeconds?: number } {
  const policies: Record<string, string> = {
    background: 'Background',
    foreground: 'Foreground',
    orphan: 'Orphan',
    true: 'Background',
    false: 'Orphan',
  };
  const cascade = flags.string('cascade');
  if (!Object.hasOwn(policies, cascade))
    throw new CliError(`invalid cascade value (${cascade}). Must be "background", "foreground", or "orphan"`);
  let grace = flags.integer('grace-period');
  if (flags.bool('now')) {
    if (grace !== -1) throw new CliError('--now and --grace-period cannot be specified together');
    grace = 1;
  }
  if (flags.bool('force') && grace < 0) grace = 0;
  if (grace === 0 && !flags.bool('force')) grace = 1;
  if (flags.bool('force') && grace > 0) throw new CliError('--force and --grace-period greater than 0 cannot be specified together');
  return { propagationPolicy: policies[cascade], ...(grace >= 0 && { gracePeriodSeconds: grace }) };
}

async function deletionTargets(session: Session, args: readonly string[]): Promise<{ targets: Deletable[]; errors: unknown[] }> {
  const { flags } = session;
  if (flags.list('filename').length > 0) {
    const { found, errors } = await fetchObjects(session, args, { local: true });
    return { targets: found, errors };
  }
  if (args.length === 0)
    throw new CliError(
      "You must provide one or more resources by argument or filename.\nExample resource specifications include:\n   '-f rsrc.yaml'\n   '--filename=rsrc.json'\n   '<resource> <name>'\n   '<resource>'",
    );
  const [selector, fieldSelector] = [flags.string('selector'), flags.string('field-selector')];
  const { wanted } = parseResourceWords(args, await session.mapper());
  const named = wanted.some((w) => w.name !== undefined);
  if (named && (selector !== '' || fieldSelector !== '')) throw new CliError('name cannot be provided when a selector is specified');
  if (flags.bool('all') && selector !== '') throw new CliError("setting 'all' parameter but found a non empty selector. ");
  if (named && flags.bool('all')) throw new CliError('name cannot be provided when a selector is specified');
  if (named && flags.bool('all-namespaces')) throw new CliError('a resource cannot be retrieved by name across all namespaces');
  if (!named && selector === '' && fieldSelector === '' && !flags.bool('all'))
    throw new CliError('resource(s) were provided, but no name was specified');
  const { name: own, explicit } = session.namespace();
  if (explicit && wanted.some((w) => !w.resource.namespaced))
    session.err('warning: deleting cluster-scoped resources, not scoped to the provided namespace');
  const scope = flags.bool('all-namespaces') ? '' : own;
  const targets: Deletable[] = [];
  const errors: unknown[] = [];
  for (const { resource, name } of wanted) {
    const namespace = resource.namespaced ? scope : '';
    if (name !== undefined) targets.push({ resource, namespace, name });
    else {
      try {
        const items = await listAll(session, resource, { namespace, query: { labelSelector: selector, fieldSelector } });
        targets.push(...items.map((item) => ({ resource, namespace: item.metadata.namespace ?? '', name: item.metadata.name ?? '' })));
      } catch (error) {
        errors.push(error);
      }
    }
  }
  return { targets, errors };
}

function message(flags: Flags, { resource, name }: Deletable, forced: boolean): string {
  if (flags.string('output') === 'name') return `${shownResource(resource)}/${name}`;
  const suffix = { none: '', client: ' (dry run)', server: ' (server dry run)' }[dryRunOf(flags)];
  return `${shownResource(resource)} "${name}" ${forced ? 'force deleted' : 'deleted'}${suffix}`;
}

async function confirm(session: Session, targets: readonly Deletable[]): Promise<void> {
  session.line('You are about to delete the following resource(s):');
  for (const { resource, name } of targets) session.line(`${shownResource(resource)}/${name}`);
  session.out('Do you want to continue? (y/N): ');
  if ((await session.stdin()).trim().toLowerCase() === 'y') return;
  session.line('deletion is cancelled');
  throw new Quiet(0);
}
