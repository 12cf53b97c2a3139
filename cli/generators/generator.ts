/**
 * What all of `create KIND …` does around its generator: reads the name, prints for --dry-run=client, else creates. The object keeps Go's member order,
 * because `-o json` shows it. Mirrors kubectl `cmd/create/create.go` (CreateSubcommandOptions).
 */
import type { AnyObject, OwnerReference } from '../../machinery/api/object.ts';
import { formatApiVersion } from '../../machinery/api/object.ts';
import { CliError, errorMessage, usageError } from '../errors.ts';
import type { Flags, FlagTable } from '../flags.ts';
import { resultPrinter } from '../printers/output.ts';
import { withLastApplied } from '../resources/last-applied.ts';
import type { Session } from '../session.ts';
import type { Verb } from '../verb.ts';
import { DRY_RUN_FLAG, dryRunOf, managerFlag, OUTPUT_FLAGS, VALIDATE_FLAG, validationOf } from '../verb-flags.ts';

/** The resource a generator's object is created through; discovery is not needed for it. */
export interface GeneratedResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

export interface GeneratorCall {
  readonly name: string;
  /** Words after `--`. */
  readonly command: readonly string[];
  readonly flags: Flags;
  readonly session: Session;
}

export interface Generator {
  readonly usage: string;
  readonly flags: FlagTable;
  readonly resource: GeneratedResource;
  /** `deployment` in `failed to create deployment: …`; absent where kubectl shows the server's answer alone. */
  readonly noun?: string;
  /** Flags without which nothing can be made. */
  readonly required?: readonly string[];
  /** Everything of the object but kind, apiVersion and metadata, and what metadata has besides the name. */
  build(call: GeneratorCall): Generated | Promise<Generated>;
}

export interface Generated {
  readonly labels?: Record<string, string>;
  readonly annotations?: Record<string, string>;
  readonly owners?: readonly Record<string, unknown>[];
  readonly body: Record<string, unknown>;
}

export function generatorVerb(generator: Generator): Verb {
  return {
    usage: generator.usage,
    flags: {
      ...OUTPUT_FLAGS,
      ...DRY_RUN_FLAG,
      ...VALIDATE_FLAG,
      ...managerFlag('kubectl-create'),
      'save-config': { type: 'boolean', help: 'If true, the configuration of current object will be saved in its annotation' },
      ...generator.flags,
    },
    run: (session, args, flags) => generate(generator, { session, args, flags }),
  };
}

async function generate(generator: Generator, from: { session: Session; args: readonly string[]; flags: Flags }): Promise<void> {
  const { session, flags } = from;
  const dash = flags.dash < 0 ? from.args.length : flags.dash;
  const [words, command] = [from.args.slice(0, dash), from.args.slice(dash)];
  const missing = (generator.required ?? []).filter((name) => !flags.changed(name));
  if (missing.length > 0) throw new CliError(`required flag(s) ${missing.map((name) => `"${name}"`).join(', ')} not set`);
  if (words.length !== 1) {
    throw usageError(session.verb, `exactly one NAME is required, got ${words.length}`);
  }
  const made = await generator.build({ name: words[0], command, flags, session });
  try {
    await createGenerated(session, generator.resource, assemble(generator.resource, words[0], { made, session }));
  } catch (error) {
    if (generator.noun === undefined || error instanceof CliError) throw error;
    throw new CliError(`failed to create ${generator.noun}: ${errorMessage(error)}`, { cause: error });
  }
}

export function assemble(resource: GeneratedResource, name: string, from: { made: Generated; session: Session }): AnyObject {
  const { made, session } = from;
  const namespace = resource.namespaced && session.flags.string('namespace') !== '' ? session.flags.string('namespace') : undefined;
  return {
    kind: resource.kind,
    apiVersion: formatApiVersion(resource),
    metadata: {
      name,
      ...(namespace && { namespace }),
      creationTimestamp: null as unknown as string,
      ...(made.labels && { labels: made.labels }),
      ...(made.annotations && { annotations: made.annotations }),
      ...(made.owners && { ownerReferences: made.owners as unknown as OwnerReference[] }),
    },
    ...made.body,
  };
}

/** Creates what a generator made, or only prints it, as --dry-run says. */
export async function createGenerated(session: Session, resource: GeneratedResource, object: AnyObject): Promise<void> {
  const { flags } = session;
  const dryRun = dryRunOf(flags);
  const toCreate = flags.bool('save-config') ? withLastApplied(object) : object;
  if (dryRun === 'client') {
    const print = await resultPrinter(flags, dryRun, { typed: true });
    session.out(print(toCreate, 'created'));
    return;
  }
  const print = await resultPrinter(flags, dryRun);
  const namespace = resource.namespaced ? session.namespace().name : '';
  const write = {
    dryRun,
    fieldManager: flags.string('field-manager'),
    fieldValidation: flags.has('validate') ? validationOf(flags) : undefined,
  };
  const where = { ...resource, singular: '', shortNames: [], categories: [], verbs: [], subresources: [] };
  const created = await session.api.create(where, { namespace }, toCreate, write);
  session.out(print(created, 'created'));
}

/** `["a=1", "b=2"]` → {a: '1', b: '2'}. */
export function parsePairs(pairs: readonly string[], what: string): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const equals = pair.indexOf('=');
      if (equals <= 0) throw new CliError(`invalid ${what} ${pair}, expected key=value`);
      return [pair.slice(0, equals), pair.slice(equals + 1)];
    }),
  );
}
