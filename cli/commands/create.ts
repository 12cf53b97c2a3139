/** `create`: objects from manifests, or of one kind by a generator (`generators/`). Mirrors kubectl `cmd/create/create.go`. */
import { CliError, throwAll, usageError, withSource } from '../errors.ts';
import { resultPrinter } from '../printers/output.ts';
import { fetchObjects } from '../resources/fetch.ts';
import { withLastApplied } from '../resources/last-applied.ts';
import type { Session } from '../session.ts';
import type { Verb, VerbEntry } from '../verb.ts';
import {
  DRY_RUN_FLAG,
  dryRunOf,
  FILE_FLAGS,
  managerFlag,
  OUTPUT_FLAGS,
  SELECTOR_FLAGS,
  VALIDATE_FLAG,
  validationOf,
} from '../verb-flags.ts';

const entry = (summary: string, load: () => Promise<Verb>): VerbEntry => ({ summary, load });
const simple = (name: 'namespace' | 'serviceaccount' | 'priorityclass' | 'quota' | 'poddisruptionbudget') => async () =>
  (await import('../generators/simple.ts'))[name];
const rbac = (name: 'role' | 'clusterrole' | 'rolebinding' | 'clusterrolebinding') => async () =>
  (await import('../generators/rbac.ts'))[name];

const GENERATORS: Record<string, VerbEntry> = {
  clusterrole: entry('Create a cluster role', rbac('clusterrole')),
  clusterrolebinding: entry('Create a cluster role binding for a particular cluster role', rbac('clusterrolebinding')),
  configmap: entry(
    'Create a config map from a local file, directory or literal value',
    async () => (await import('../generators/configmap.ts')).verb,
  ),
  cronjob: entry('Create a cron job with the specified name', async () => (await import('../generators/job.ts')).cronjob),
  deployment: entry('Create a deployment with the specified name', async () => (await import('../generators/deployment.ts')).verb),
  job: entry('Create a job with the specified name', async () => (await import('../generators/job.ts')).job),
  namespace: entry('Create a namespace with the specified name', simple('namespace')),
  poddisruptionbudget: entry('Create a pod disruption budget with the specified name', simple('poddisruptionbudget')),
  priorityclass: entry('Create a priority class with the specified name', simple('priorityclass')),
  quota: entry('Create a quota with the specified name', simple('quota')),
  role: entry('Create a role with single rule', rbac('role')),
  rolebinding: entry('Create a role binding for a particular role or cluster role', rbac('rolebinding')),
  secret: entry('Create a secret using a specified subcommand', async () => (await import('../generators/secret.ts')).verb),
  service: entry('Create a service using a specified subcommand', async () => (await import('../generators/service.ts')).verb),
  serviceaccount: entry('Create a service account with the specified name', simple('serviceaccount')),
  token: entry('Request a service account token', async () => (await import('../generators/token.ts')).verb),
};
const ALIASES: Record<string, string> = {
  cm: 'configmap',
  cj: 'cronjob',
  deploy: 'deployment',
  ns: 'namespace',
  pdb: 'poddisruptionbudget',
  pc: 'priorityclass',
  resourcequota: 'quota',
  svc: 'service',
  sa: 'serviceaccount',
};

export const verb: Verb = {
  usage: '-f FILENAME | KIND NAME …',
  flags: {
    ...FILE_FLAGS,
    ...OUTPUT_FLAGS,
    ...SELECTOR_FLAGS,
    ...DRY_RUN_FLAG,
    ...VALIDATE_FLAG,
    ...managerFlag('kubectl-create'),
    edit: { type: 'boolean', help: 'Edit the API resource before creating', hidden: true },
    'save-config': { type: 'boolean', help: 'If true, the configuration of current object will be saved in its annotation' },
    raw: { type: 'string', help: 'Raw URI to POST to the server' },
  },
  verbs: { ...GENERATORS, ...Object.fromEntries(Object.entries(ALIASES).map(([short, name]) => [short, GENERATORS[name]])) },
  run: create,
};

async function create(session: Session, args: readonly string[]): Promise<void> {
  const { flags } = session;
  if (args.length > 0) throw usageError(session.verb, `Unexpected args: [${args.join(' ')}]`);
  if (flags.list('filename').length === 0) throw new CliError('must specify one of -f and -k');
  if (flags.changed('raw')) {
    const { readFileSync } = await import('node:fs');
    const [path] = flags.list('filename');
    session.out(
      await session.api.text({
        method: 'POST',
        path: flags.string('raw'),
        body: path === '-' ? await session.stdin() : readFileSync(path),
      }),
    );
    return;
  }
  const dryRun = dryRunOf(flags);
  const print = await resultPrinter(flags, dryRun);
  const { found, errors } = await fetchObjects(session, [], { local: true });
  for (const { resource, namespace, object, source } of found) {
    const toCreate = flags.bool('save-config') ? withLastApplied(object) : object;
    try {
      const write = { dryRun, fieldManager: flags.string('field-manager'), fieldValidation: validationOf(flags) };
      session.out(print(dryRun === 'client' ? toCreate : await session.api.create(resource, { namespace }, toCreate, write), 'created'));
    } catch (error) {
      errors.push(withSource(error, 'creating', source));
    }
  }
  if (found.length === 0 && errors.length === 0) throw new CliError('no objects passed to create');
  throwAll(errors);
}
