/** `create job` (from an image or a cron job) and `create cronjob`. Mirrors kubectl `cmd/create/create_{job,cronjob}.go`. */
import type { AnyObject } from '../../machinery/api/object.ts';
import { CliError } from '../errors.ts';
import type { Session } from '../session.ts';
import type { Verb } from '../verb.ts';
import { type Generated, type GeneratedResource, type GeneratorCall, generatorVerb } from './generator.ts';

const jobs: GeneratedResource = { group: 'batch', version: 'v1', resource: 'jobs', kind: 'Job', namespaced: true };

export const job: Verb = generatorVerb({
  usage: 'NAME --image=image [--from=cronjob/name] -- [COMMAND] [args...]',
  flags: {
    image: { type: 'string', help: 'Image name to run' },
    from: { type: 'string', help: 'The name of the resource to create a Job from (only cronjob is supported)' },
  },
  resource: jobs,
  noun: 'job',
  build: async ({ name, flags, command, session }) => {
    const [image, from] = [flags.string('image'), flags.string('from')];
    if ((image === '') === (from === '')) throw new CliError('either --image or --from must be specified');
    if (from !== '' && command.length > 0) throw new CliError('cannot specify --from and command');
    if (from !== '') return fromCronJob(session, from);
    return { body: { spec: { template: podTemplate(name, { image, command, restartPolicy: 'Never' }) }, status: {} } };
  },
});

function podTemplate(name: string, from: { image: string; command: readonly string[]; restartPolicy: string }): Record<string, unknown> {
  const container = { name, image: from.image, ...(from.command.length > 0 && { command: from.command }), resources: {} };
  return { metadata: { creationTimestamp: null }, spec: { containers: [container], restartPolicy: from.restartPolicy } };
}

async function fromCronJob(session: Session, from: string): Promise<Generated> {
  const [type, name] = from.split('/');
  const mapper = await session.mapper();
  const resource = mapper.resource(name === undefined ? 'cronjob' : type);
  if (resource.resource !== 'cronjobs') throw new CliError('from must be an existing cronjob');
  const cronjob = await session.api.get(resource, { namespace: session.namespace().name, name: name ?? type });
  const template = (cronjob.spec as { jobTemplate: { metadata?: AnyObject['metadata']; spec: unknown } }).jobTemplate;
  const owner = {
    apiVersion: cronjob.apiVersion,
    kind: cronjob.kind,
    name: cronjob.metadata.name,
    uid: cronjob.metadata.uid,
    controller: true,
  };
  return {
    labels: template.metadata?.labels,
    annotations: { 'cronjob.kubernetes.io/instantiate': 'manual', ...template.metadata?.annotations },
    owners: [owner],
    body: { spec: template.spec, status: {} },
  };
}

export const cronjob: Verb = generatorVerb({
  usage: "NAME --image=image --schedule='0/5 * * * ?' -- [COMMAND] [args...]",
  flags: {
    image: { type: 'string', help: 'Image name to run' },
    schedule: { type: 'string', help: 'A schedule in the Cron format the job should be run with' },
    restart: { type: 'string', help: "Job's restart policy. supported values: OnFailure, Never" },
  },
  required: ['image', 'schedule'],
  resource: { group: 'batch', version: 'v1', resource: 'cronjobs', kind: 'CronJob', namespaced: true },
  noun: 'cronjob',
  build: ({ name, flags, command }: GeneratorCall): Generated => {
    const template = podTemplate(name, { image: flags.string('image'), command, restartPolicy: flags.string('restart') || 'OnFailure' });
    const jobTemplate = { metadata: { name, creationTimestamp: null }, spec: { template } };
    return { body: { spec: { schedule: flags.string('schedule'), jobTemplate }, status: {} } };
  },
});
