/**
 * `apply`: makes the server's objects equal to manifests. Client-side it is a three-way merge of what was applied last (an annotation), what is applied now
 * and what is there; with --server-side the server does the merge. Mirrors kubectl `cmd/apply`.
 */

import { type AnyObject, parseApiVersion } from '../../machinery/api/object.ts';
import { createThreeWayMergePatch } from '../../machinery/api/patch/merge.ts';
import { createThreeWayPatch } from '../../machinery/api/patch/strategic.ts';
import { kindSchema } from '../../machinery/api/schema/schema.ts';
import { isReason, StatusError } from '../../machinery/api/status.ts';
import { LAST_APPLIED } from '../../machinery/api/well-known-labels.ts';
import type { WriteQuery } from '../api.ts';
import { CliError, throwAll, usageError, withSource } from '../errors.ts';
import { resultPrinter } from '../printers/output.ts';
import { type Found, fetchObjects } from '../resources/fetch.ts';
import { withLastApplied } from '../resources/last-applied.ts';
import type { Session } from '../session.ts';
import type { Verb } from '../verb.ts';
import {
  DRY_RUN_FLAG,
  type DryRun,
  dryRunOf,
  FILE_FLAGS,
  managerFlag,
  OUTPUT_FLAGS,
  SELECTOR_FLAGS,
  VALIDATE_FLAG,
  validationOf,
} from '../verb-flags.ts';

const CLIENT_MANAGER = 'kubectl-client-side-apply';
/** How often a patch is made again when somebody else wrote in between. */
const MAX_ATTEMPTS = 5;

export const verb: Verb = {
  usage: '(-f FILENAME | -k DIRECTORY)',
  flags: {
    ...FILE_FLAGS,
    ...OUTPUT_FLAGS,
    ...SELECTOR_FLAGS,
    ...DRY_RUN_FLAG,
    ...VALIDATE_FLAG,
    ...managerFlag(CLIENT_MANAGER),
    'server-side': { type: 'boolean', help: 'If true, apply runs in the server instead of the client' },
    'force-conflicts': { type: 'boolean', help: 'If true, server-side apply will force the changes against conflicts' },
    overwrite: { type: 'boolean', default: true, help: 'Automatically resolve conflicts between the modified and live configuration' },
    force: { type: 'boolean', help: 'If true, delete and create again what cannot be patched' },
    subresource: { type: 'string', help: 'If specified, apply will operate on the subresource of the requested object' },
    wait: { type: 'boolean', help: 'If true, wait for resources to be gone before returning', hidden: true },
  },
  run: apply,
};

interface Applying {
  readonly session: Session;
  readonly dryRun: DryRun;
  readonly print: (object: AnyObject, done: string) => string;
  readonly write: WriteQuery;
}

async function apply(session: Session, args: readonly string[]): Promise<void> {
  const { flags } = session;
  if (args.length > 0) throw usageError(session.verb, `Unexpected args: [${args.join(' ')}]`);
  if (flags.list('filename').length === 0) throw new CliError('must specify one of -f and -k');
  const serverSide = flags.bool('server-side');
  const dryRun = dryRunOf(flags);
  if (flags.bool('force-conflicts') && !serverSide) throw new CliError('--force-conflicts only works with --server-side');
  if (serverSide && dryRun === 'client')
    throw new CliError("--dry-run=client doesn't work with --server-side (did you mean --dry-run=server instead?)");
  if (serverSide && flags.bool('force')) throw new CliError('--force cannot be used with --server-side');
  const manager = serverSide && !flags.changed('field-manager') ? 'kubectl' : flags.string('field-manager');
  const applying = {
    session,
    dryRun,
    print: await resultPrinter(flags, dryRun),
    write: { dryRun, fieldManager: manager, fieldValidation: validationOf(flags) },
  };
  const { found, errors } = await fetchObjects(session, [], { local: true });
  for (const item of selected(found, flags.string('selector'))) {
    try {
      session.out(await (serverSide ? applyOnServer(applying, item) : applyOne(applying, item)));
    } catch (error) {
      errors.push(error);
    }
  }
  if (found.length === 0 && errors.length === 0) throw new CliError('no objects passed to apply');
  throwAll(errors);
}

function selected(found: readonly Found[], selector: string): readonly Found[] {
  if (selector === '') return found;
  const pairs = selector.split(',').map((pair) => pair.split(/==?/));
  return found.filter(({ object }) => pairs.every(([key, value]) => object.metadata.labels?.[key] === value));
}

async function applyOnServer({ session, print, write }: Applying, item: Found): Promise<string> {
  const { flags } = session;
  const { resource, namespace, name, object, source } = item;
  const where = { namespace, name, subresource: flags.string('subresource') };
  try {
    const applied = await session.api.patch(resource, where, 'application/apply-patch+yaml', object, {
      ...write,
      force: flags.bool('force-conflicts'),
    });
    return print(applied, 'serverside-applied');
  } catch (error) {
    if (isReason(error, 'Conflict')) throw new CliError(`${error.message}\n${CONFLICT_HELP}`);
    throw withSource(error, 'patching', source);
  }
}

const CONFLICT_HELP = `Please review the fields above--they currently have other managers. Here
are the ways you can resolve this warning:
* If you intend to manage all of these fields, please re-run the apply
  command with the \`--force-conflicts\` flag.
* If you do not intend to manage all of the fields, please edit your
  manifest to remove references to the fields that should keep their
  current managers.
* You may co-own fields by updating your manifest to match the existing
  value; in this case, you'll become the manager if the other manager(s)
  stop managing the field (remove it from their configuration).
See https://kubernetes.io/docs/reference/using-api/server-side-apply/#conflicts`;

async function applyOne(applying: Applying, item: Found): Promise<string> {
  const { session, dryRun, print, write } = applying;
  const { resource, namespace, name, object, source } = item;
  if (name === '') {
    if (object.metadata.generateName) throw new CliError(`from ${object.metadata.generateName}: cannot use generate name with apply`);
    throw new CliError(
      `error when retrieving current configuration of:\nResource: "${groupVersionResource(item)}", GroupVersionKind: "${groupVersionKind(object)}"\nName: "", Namespace: "${namespace}"\nfrom server for: "${source}": resource name may not be empty`,
    );
  }
  const live = await liveObject(session, item);
  if (!live) {
    const toCreate = withLastApplied(object);
    if (dryRun === 'client') return print(toCreate, 'created');
    try {
      return print(await session.api.create(resource, { namespace }, toCreate, write), 'created');
    } catch (error) {
      throw withSource(error, 'creating', source);
    }
  }
  if (live.metadata.annotations?.[LAST_APPLIED] === undefined) session.err(missingAnnotation(item));
  if (dryRun === 'client') return print(withLastApplied(object), 'configured');
  const { result, changed } = await patchLive(applying, item, live);
  return print(result, changed || session.flags.string('output') !== '' ? 'configured' : 'unchanged');
}

const groupVersionResource = ({ resource }: Found): string =>
  `${resource.group === '' ? '' : `${resource.group}/`}${resource.version}, Resource=${resource.resource}`;
const groupVersionKind = (object: AnyObject): string => `${object.apiVersion}, Kind=${object.kind}`;

function missingAnnotation({ resource, name }: Found): string {
  return `Warning: resource ${resource.resource}/${name} is missing the ${LAST_APPLIED} annotation which is required by kubectl apply. kubectl apply should only be used on resources created declaratively by either kubectl create --save-config or kubectl apply. The missing annotation will be patched automatically.`;
}

async function liveObject(session: Session, item: Found): Promise<AnyObject | undefined> {
  const { resource, namespace, name } = item;
  try {
    return await session.api.get(resource, { namespace, name });
  } catch (error) {
    if (isReason(error, 'NotFound')) return undefined;
    if (!(error instanceof StatusError)) throw error;
    throw withSource(error, 'retrieving current configuration of', item.source);
  }
}

/** Tries again with a fresh state when the object changed under the patch. */
async function patchLive(applying: Applying, item: Found, first: AnyObject): Promise<{ result: AnyObject; changed: boolean }> {
  const { session, write } = applying;
  const { resource, namespace, name, object, source } = item;
  let live = first;
  for (let attempt = 1; ; attempt++) {
    const { patch, type } = threeWayPatch(object, live);
    if (Object.keys(patch).length === 0) return { result: live, changed: false };
    try {
      const result = await session.api.patch(resource, { namespace, name }, type, patch, write);
      return { result, changed: true };
    } catch (error) {
      if (session.flags.bool('force') && isReason(error, 'Invalid', 'Conflict'))
        return { result: await replaceByForce(applying, item), changed: true };
      if (!isReason(error, 'Conflict') || attempt >= MAX_ATTEMPTS) throw withPatch(error, patch, { item, source });
      live = await session.api.get(resource, { namespace, name });
    }
  }
}

/** kubectl says what it tried to send when the server refuses. */
function withPatch(error: unknown, patch: object, from: { item: Found; source: string }): unknown {
  if (isReason(error, 'Invalid') || !(error instanceof StatusError)) return error;
  const { item, source } = from;
  const subject = `applying patch:\n${JSON.stringify(patch)}\nto:\nResource: "${groupVersionResource(item)}", GroupVersionKind: "${groupVersionKind(item.object)}"\nName: "${item.name}", Namespace: "${item.namespace}"\nfor`;
  const { kind: _kind, apiVersion: _apiVersion, metadata: _metadata, ...status } = error.status;
  return new StatusError({ ...status, message: `error when ${subject}: "${source}": error when patching "${source}": ${error.message}` });
}

async function replaceByForce(applying: Applying, item: Found): Promise<AnyObject> {
  const { session, write } = applying;
  const { deleteAndWait } = await import('../resources/deletion.ts');
  await deleteAndWait(session, item, { propagationPolicy: 'Background', gracePeriodSeconds: 0 });
  return session.api.create(item.resource, { namespace: item.namespace }, withLastApplied(item.object), write);
}

/** Strategic for the kinds whose schema is known, a JSON merge patch for custom resources. */
export function threeWayPatch(
  object: AnyObject,
  live: AnyObject,
): { patch: Record<string, unknown>; type: 'application/strategic-merge-patch+json' | 'application/merge-patch+json' } {
  const modified = withLastApplied(object);
  const text = live.metadata.annotations?.[LAST_APPLIED];
  const original = (text === undefined ? {} : JSON.parse(text)) as Record<string, unknown>;
  const schema = kindSchema({ ...parseApiVersion(object.apiVersion), kind: object.kind });
  if (schema) {
    return {
      patch: createThreeWayPatch(schema, original, modified, live) as Record<string, unknown>,
      type: 'application/strategic-merge-patch+json',
    };
  }
  return { patch: createThreeWayMergePatch(original, modified, live) as Record<string, unknown>, type: 'application/merge-patch+json' };
}
