/** `set env`: `NAME=value` sets, `NAME-` removes, --list shows, --from takes keys of a config map or secret. */
import type { Container, EnvVar, PodSpec } from '../../machinery/api/types/core.v1.ts';
import { CliError } from '../errors.ts';
import { fetchObjects } from '../resources/fetch.ts';
import { type ContainerChange, changeContainers, matchesName, POD_SPEC_FLAGS, podSpecOf } from '../resources/pod-spec.ts';
import type { Session } from '../session.ts';
import type { Verb } from '../verb.ts';

export const verb: Verb = {
  usage: 'RESOURCE/NAME KEY_1=VAL_1 ... KEY_N=VAL_N',
  flags: {
    ...POD_SPEC_FLAGS,
    env: { type: 'array', short: 'e', help: 'Specify a key-value pair for an environment variable to set into each container' },
    list: { type: 'boolean', help: 'If true, display the environment and any changes in the standard format' },
    containers: {
      type: 'string',
      short: 'c',
      default: '*',
      help: 'The names of containers in the selected pod templates to change - may use wildcards',
    },
    from: { type: 'string', help: 'The name of a resource from which to inject environment variables' },
    prefix: { type: 'string', help: 'Prefix to append to variable names' },
    keys: { type: 'list', help: 'Comma-separated list of keys to import from specified resource' },
  },
  run: setEnv,
};

const CHANGE = /^([A-Za-z_][-\w.]*)(?:=([\s\S]*)|-)$/;

async function setEnv(session: Session, args: readonly string[]): Promise<void> {
  const { flags } = session;
  const changes = [...args.filter((arg) => CHANGE.test(arg) && !arg.includes('/')), ...flags.list('env')];
  const words = args.filter((arg) => !changes.includes(arg));
  if (words.length === 0 && flags.list('filename').length === 0)
    throw new CliError('one or more resources must be specified as <resource> <name> or <resource>/<name>');
  if (flags.bool('list')) return listEnv(session, words);
  const imported = flags.string('from') === '' ? [] : await importedEnv(session, flags.string('from'));
  if (changes.length === 0 && imported.length === 0) throw new CliError('at least one environment variable must be provided');
  await changeContainers(session, {
    words,
    done: 'env updated',
    change: (spec) => changedEnv(spec, { pattern: flags.string('containers'), changes, imported }),
  });
}

async function importedEnv(session: Session, from: string): Promise<EnvVar[]> {
  const { found } = await fetchObjects(session, [from]);
  const keys = session.flags.list('keys');
  return found.flatMap(({ object }) => {
    const ref = object.kind === 'Secret' ? 'secretKeyRef' : object.kind === 'ConfigMap' ? 'configMapKeyRef' : undefined;
    if (ref === undefined) throw new CliError(`unsupported resource specified in --from`);
    const names = Object.keys((object.data as Record<string, string> | undefined) ?? {})
      .sort()
      .filter((key) => keys.length === 0 || keys.includes(key));
    return names.map(
      (key) =>
        ({
          name: session.flags.string('prefix') + key.toUpperCase().replace(/[^A-Z0-9_]/g, '_'),
          valueFrom: { [ref]: { name: object.metadata.name, key } },
        }) as EnvVar,
    );
  });
}

interface EnvChange {
  readonly pattern: string;
  readonly changes: readonly string[];
  readonly imported: readonly EnvVar[];
}

function changedEnv(spec: PodSpec, { pattern, changes, imported }: EnvChange): { containers: ContainerChange[] } {
  const chosen = (spec.containers ?? []).filter((container) => matchesName(pattern, container.name));
  if (chosen.length === 0) throw new CliError(`error: does not have any containers matching "${pattern}"`);
  const containers = chosen.map((container) => {
    const patches: Record<string, unknown>[] = [...imported.map((env) => ({ ...env }))];
    for (const change of changes) {
      const [, name, value] = CHANGE.exec(change) ?? [];
      if (value === undefined) patches.push({ name, $patch: 'delete' });
      else if (container.env?.find((env) => env.name === name)?.value !== value)
        patches.push({ name, value, ...(container.env?.some((env) => env.name === name && env.valueFrom) && { valueFrom: null }) });
    }
    return { name: container.name, env: patches as unknown as EnvVar[] };
  });
  return { containers: containers.filter((container) => container.env.length > 0) };
}

async function listEnv(session: Session, words: readonly string[]): Promise<void> {
  const { found } = await fetchObjects(session, words);
  for (const { object, resource, name } of found) {
    for (const container of podSpecOf(object).containers ?? [])
      session.out(`# ${resource.kind} ${name}, container ${container.name}\n${envLines(container)}`);
  }
}

const envLines = (container: Container): string =>
  (container.env ?? [])
    .map((env) => `${env.valueFrom ? `# ${env.name} from ${sourceText(env)}` : `${env.name}=${env.value ?? ''}`}\n`)
    .join('');

function sourceText({ valueFrom }: EnvVar): string {
  const { fieldRef, secretKeyRef, configMapKeyRef, resourceFieldRef } = valueFrom ?? {};
  if (fieldRef) return `field path ${fieldRef.fieldPath}`;
  if (secretKeyRef) return `secret ${secretKeyRef.name}, key ${secretKeyRef.key}`;
  if (configMapKeyRef) return `configmap ${configMapKeyRef.name}, key ${configMapKeyRef.key}`;
  if (resourceFieldRef) return `resource ${resourceFieldRef.resource}`;
  return 'invalid valueFrom';
}
