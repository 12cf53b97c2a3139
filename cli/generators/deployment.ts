/** `create deployment NAME --image=I [-- COMMAND]`. Mirrors kubectl `cmd/create/create_deployment.go`. */
import { CliError } from '../errors.ts';
import { type Generated, type GeneratorCall, generatorVerb } from './generator.ts';

export const verb = generatorVerb({
  usage: 'NAME --image=image -- [COMMAND] [args...]',
  flags: {
    image: { type: 'list', help: 'Image names to run. A deployment can have multiple images set for multi-container pod' },
    port: { type: 'integer', default: -1, help: 'The containerPort that this deployment exposes' },
    replicas: { type: 'integer', short: 'r', default: 1, help: 'Number of replicas to create' },
  },
  required: ['image'],
  resource: { group: 'apps', version: 'v1', resource: 'deployments', kind: 'Deployment', namespaced: true },
  noun: 'deployment',
  build,
});

function build({ name, flags, command }: GeneratorCall): Generated {
  const images = flags.list('image');
  if (images.length > 1 && command.length > 0) throw new CliError('cannot specify multiple --image options and command');
  const labels = { app: name };
  const names = containerNames(images);
  const port = flags.integer('port');
  const containers = images.map((image, i) => ({
    name: names[i],
    image,
    ...(command.length > 0 && { command }),
    ...(port >= 0 && i === 0 && { ports: [{ containerPort: port }] }),
    resources: {},
  }));
  const template = { metadata: { creationTimestamp: null, labels }, spec: { containers } };
  const spec = { replicas: flags.integer('replicas'), selector: { matchLabels: labels }, template, strategy: {} };
  return { labels, body: { spec, status: {} } };
}

/** The last part of the image without tag and digest; odd characters become dashes. */
export function containerName(image: string): string {
  const last = image.slice(image.lastIndexOf('/') + 1);
  return last.split('@')[0].split(':')[0].replaceAll('_', '-').toLowerCase();
}

/** Names in the order of the images; repeated ones get a short suffix from their own image, so that a pod can hold both. */
function containerNames(images: readonly string[]): string[] {
  const seen = new Map<string, number>();
  return images.map((image) => {
    const name = containerName(image);
    const count = seen.get(name) ?? 0;
    seen.set(name, count + 1);
    return count === 0 ? name : `${name}-${count}`;
  });
}
