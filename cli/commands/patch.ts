/** `patch`: sends a strategic, JSON merge or JSON patch. Mirrors kubectl `cmd/patch`. */
import { readFileSync } from 'node:fs';
import { type AnyObject, parseApiVersion } from '../../machinery/api/object.ts';
import { kindSchema } from '../../machinery/api/schema/schema.ts';
import { isReason } from '../../machinery/api/status.ts';
import { parseYaml } from '../../machinery/api/yaml.ts';
import type { PatchType } from '../../machinery/client/client.ts';
import { CliError, throwAll } from '../errors.ts';
import type { Flags } from '../flags.ts';
import { compactJson } from '../printers/json.ts';
import { resultPrinter, withoutManagedFields } from '../printers/output.ts';
import { fetchObjects } from '../resources/fetch.ts';
import type { Session } from '../session.ts';
import type { Verb } from '../verb.ts';
import { DRY_RUN_FLAG, dryRunOf, FILE_FLAGS, managerFlag, OUTPUT_FLAGS } from '../verb-flags.ts';

const TYPES: Record<string, PatchType> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
};

export const verb: Verb = {
  usage: '(-f FILENAME | TYPE NAME) [-p PATCH|--patch-file FILE]',
  flags: {
    ...FILE_FLAGS,
    ...OUTPUT_FLAGS,
    ...DRY_RUN_FLAG,
    ...managerFlag('kubectl-patch'),
    patch: { type: 'string', short: 'p', help: 'The patch to be applied to the resource JSON file' },
    'patch-file': { type: 'string', help: 'A file containing a patch to be applied to the resource' },
    type: { type: 'string', default: 'strategic', help: 'The type of patch being provided; one of [json merge strategic]' },
    subresource: { type: 'string', help: 'If specified, patch will operate on the subresource of the requested object' },
  },
  run: patch,
};

async function patch(session: Session, args: readonly string[]): Promise<void> {
  const { flags } = session;
  const type = TYPES[flags.string('type').toLowerCase()];
  if (type === undefined) throw new CliError(`--type must be one of [json merge strategic], not "${flags.string('type')}"`);
  const body = readPatch(flags);
  const dryRun = dryRunOf(flags);
  const print = await resultPrinter(flags);
  const { found, errors } = await fetchObjects(session, args, { needsNames: true });
  for (const { resource, namespace, name, object } of found) {
    try {
      const where = { namespace, name, subresource: flags.string('subresource') };
      const write = { dryRun, fieldManager: flags.string('field-manager') };
      const patched =
        dryRun === 'client' ? await patchedLocally(object, type, body) : await session.api.patch(resource, where, type, body, write);
      const same = compactJson(withoutManagedFields(object)) === compactJson(withoutManagedFields(patched));
      session.out(print(patched, same ? 'patched (no change)' : 'patched'));
    } catch (error) {
      errors.push(
        isReason(error, 'UnsupportedMediaType')
          ? new CliError(`${type} is not supported by ${object.apiVersion}, Kind=${object.kind}: ${error.message}`)
          : error,
      );
    }
  }
  throwAll(errors);
}

async function patchedLocally(object: AnyObject, type: PatchType, text: string): Promise<AnyObject> {
  const patch = JSON.parse(text);
  if (type === 'application/json-patch+json')
    return (await import('../../machinery/api/patch/json.ts')).jsonPatch(object, patch) as AnyObject;
  const schema = kindSchema({ ...parseApiVersion(object.apiVersion), kind: object.kind });
  if (type === 'application/merge-patch+json' || !schema)
    return (await import('../../machinery/api/patch/merge.ts')).mergePatch(object, patch) as AnyObject;
  return (await import('../../machinery/api/patch/strategic.ts')).strategicMerge(schema, object, patch) as AnyObject;
}

function readPatch(flags: Flags): string {
  const [inline, file] = [flags.string('patch'), flags.string('patch-file')];
  if (inline !== '' && file !== '') throw new CliError('cannot specify --patch and --patch-file together');
  if (inline === '' && file === '') throw new CliError('must specify --patch or --patch-file containing the contents of the patch');
  const text = file !== '' ? readPatchFile(file) : inline;
  // What begins as JSON goes to the server as it is.
  if (text.trimStart().startsWith('{')) return text;
  try {
    return JSON.stringify(parseYaml(text));
  } catch (error) {
    throw new CliError(`unable to parse "${text}": ${(error as Error).message}`);
  }
}

function readPatchFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    throw new CliError(`unable to read patch file: open ${path}: no such file or directory`);
  }
}
