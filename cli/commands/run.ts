/** `run`: creates one pod from an image. Mirrors kubectl `cmd/run` (without attaching: simulated containers have no terminal). */

import type { AnyObject } from '../../machinery/api/object.ts';
import { mergePatch } from '../../machinery/api/patch/merge.ts';
import { CliError, usageError } from '../errors.ts';
import type { Flags } from '../flags.ts';
import { assemble, createGenerated, parsePairs } from '../generators/generator.ts';
import type { Session } from '../session.ts';
import type { Verb } from '../verb.ts';
import { DRY_RUN_FLAG, managerFlag, OUTPUT_FLAGS } from '../verb-flags.ts';
import { labelPairs, SERVICES } from './expose.ts';

const PODS = { group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true };

export const verb: Verb = {
  usage:
    'NAME --image=image [--env="key=value"] [--port=port] [--dry-run=server|client] [--overrides=inline-json] [--command] -- [COMMAND] [args...]',
  flags: {
    ...OUTPUT_FLAGS,
    ...DRY_RUN_FLAG,
    ...managerFlag('kubectl-run'),
    image: { type: 'string', help: 'The image for the container to run' },
    'image-pull-policy': { type: 'string', help: 'The image pull policy for the container' },
    env: { type: 'array', help: 'Environment variables to set in the container' },
    port: { type: 'string', help: 'The port that this container exposes' },
    labels: { type: 'string', short: 'l', help: 'Comma separated labels to apply to the pod. Will override previous values' },
    annotations: { type: 'array', help: 'Annotations to apply to the pod' },
    command: { type: 'boolean', help: "If true and extra arguments are present, use them as the 'command' field in the container" },
    restart: { type: 'string', default: 'Always', help: 'The restart policy for this Pod.  Legal values [Always, OnFailure, Never]' },
    overrides: { type: 'string', help: 'An inline JSON override for the generated object' },
    expose: { type: 'boolean', help: 'If true, create a ClusterIP service associated with the pod.  Requires `--port`' },
    privileged: { type: 'boolean', help: 'If true, run the container in privileged mode' },
    stdin: { type: 'boolean', short: 'i', help: 'Keep stdin open on the container in the pod, even if nothing is attached' },
    tty: { type: 'boolean', short: 't', help: 'Allocate a TTY for the container in the pod' },
    attach: { type: 'boolean', help: 'Attaching is not supported', hidden: true },
    rm: { type: 'boolean', help: 'Deleting after attaching is not supported', hidden: true },
    quiet: { type: 'boolean', short: 'q', help: 'If true, suppress prompt messages' },
    'save-config': { type: 'boolean', help: 'If true, the configuration of current object will be saved in its annotation' },
  },
  run,
};

async function run(session: Session, args: readonly string[], flags: Flags): Promise<void> {
  if (args.length === 0 || flags.dash === 0) throw usageError(session.verb, 'NAME is required for run');
  if (!flags.changed('image')) throw new CliError('required flag(s) "image" not set');
  if (flags.string('image') === '') throw new CliError('--image is required');
  if (/\s/.test(flags.string('image'))) throw new CliError(`Invalid image name "${flags.string('image')}": invalid reference format`);
  if (!['Always', 'OnFailure', 'Never'].includes(flags.string('restart')))
    throw new CliError(`invalid restart policy: ${flags.string('restart')}`);
  if (flags.bool('expose') && flags.string('port') === '') throw new CliError('--port must be set when exposing a service');
  if (flags.bool('rm') || flags.bool('attach'))
    throw new CliError('--rm and --attach are not supported: a simulated container has no terminal');
  const [name, ...command] = args;
  const labels = flags.string('labels') === '' ? { run: name } : labelPairs(flags.string('labels'));
  const annotations = flags.list('annotations').length > 0 ? parsePairs(flags.list('annotations'), 'annotation') : undefined;
  const made = { labels, annotations, body: { spec: podSpec(name, command, flags), status: {} } };
  const pod = overridden(assemble(PODS, name, { made, session }), flags.string('overrides'));
  if (flags.bool('expose')) {
    await createGenerated(session, SERVICES, serviceFor(session, name, { labels, port: Number(flags.string('port')) }));
    if (flags.string('output') === 'yaml') session.out('---\n---\n');
  }
  await createGenerated(session, PODS, pod);
}

function podSpec(name: string, command: readonly string[], flags: Flags): Record<string, unknown> {
  const env = flags.list('env').map((pair) => {
    const equals = pair.indexOf('=');
    if (equals < 1) throw new CliError(`invalid env: ${pair}`);
    return { name: pair.slice(0, equals), value: pair.slice(equals + 1) };
  });
  const port = flags.string('port');
  if (port !== '' && !/^\d+$/.test(port)) throw new CliError(`strconv.Atoi: parsing "${port}": invalid syntax`);
  const container = {
    name,
    image: flags.string('image'),
    ...(command.length > 0 && { [flags.bool('command') ? 'command' : 'args']: command }),
    ...(port !== '' && { ports: [{ containerPort: Number(port) }] }),
    ...(env.length > 0 && { env }),
    resources: {},
    ...(flags.string('image-pull-policy') && { imagePullPolicy: flags.string('image-pull-policy') }),
    ...(flags.bool('privileged') && { securityContext: { privileged: true } }),
    ...(flags.bool('stdin') && { stdin: true, stdinOnce: true }),
    ...(flags.bool('tty') && { tty: true }),
  };
  return { containers: [container], restartPolicy: flags.string('restart'), dnsPolicy: 'ClusterFirst' };
}

function overridden(pod: AnyObject, overrides: string): AnyObject {
  if (overrides === '') return pod;
  try {
    return mergePatch(pod, JSON.parse(overrides)) as AnyObject;
  } catch (error) {
    throw new CliError(`Invalid overrides: ${(error as Error).message}`);
  }
}

function serviceFor(session: Session, name: string, from: { labels: Record<string, string>; port: number }): AnyObject {
  const spec = { ports: [{ protocol: 'TCP', port: from.port, targetPort: from.port }], selector: from.labels };
  return assemble(SERVICES, name, { made: { body: { spec, status: { loadBalancer: {} } } }, session });
}
