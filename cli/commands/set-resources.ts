/** `set resources`: `--limits` and `--requests` of the chosen containers. */
import { CliError } from '../errors.ts';
import { parsePairs } from '../generators/generator.ts';
import { changeContainers, matchesName, POD_SPEC_FLAGS } from '../resources/pod-spec.ts';
import type { Session } from '../session.ts';
import type { Verb } from '../verb.ts';

export const verb: Verb = {
  usage: '(-f FILENAME | TYPE NAME)  ([--limits=LIMITS & --requests=REQUESTS]',
  flags: {
    ...POD_SPEC_FLAGS,
    containers: {
      type: 'string',
      short: 'c',
      default: '*',
      help: 'The names of containers in the selected pod templates to change - may use wildcards',
    },
    limits: { type: 'string', help: "The resource requirement limits for this container. For example, 'cpu=100m,memory=256Mi'" },
    requests: { type: 'string', help: "The resource requirement requests for this container. For example, 'cpu=100m,memory=256Mi'" },
  },
  run: setResources,
};

async function setResources(session: Session, words: readonly string[]): Promise<void> {
  const { flags } = session;
  const [limits, requests] = ['limits', 'requests'].map((name) =>
    flags.string(name) === '' ? undefined : parsePairs(flags.string(name).split(','), 'argument value'),
  );
  if (words.length === 0 && flags.list('filename').length === 0)
    throw new CliError('one or more resources must be specified as <resource> <name> or <resource>/<name>');
  if (!limits && !requests) throw new CliError('you must specify an update to requests or limits (in the form of --requests/--limits)');
  await changeContainers(session, {
    words,
    done: 'resource requirements updated',
    change: (spec) => {
      const chosen = (spec.containers ?? []).filter((container) => matchesName(flags.string('containers'), container.name));
      if (chosen.length === 0) throw new CliError(`unable to find container named ${flags.string('containers')}`);
      return { containers: chosen.map(({ name }) => ({ name, resources: { ...(limits && { limits }), ...(requests && { requests }) } })) };
    },
  });
}
