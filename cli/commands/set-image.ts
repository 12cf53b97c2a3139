/** `set image`: `CONTAINER=IMAGE` pairs, `*` for all containers. */
import type { PodSpec } from '../../machinery/api/types/core.v1.ts';
import { CliError } from '../errors.ts';
import { type ContainerChange, changeContainers, POD_SPEC_FLAGS } from '../resources/pod-spec.ts';
import type { Session } from '../session.ts';
import type { Verb } from '../verb.ts';

export const verb: Verb = {
  usage: '(-f FILENAME | TYPE NAME) CONTAINER_NAME_1=CONTAINER_IMAGE_1 ... CONTAINER_NAME_N=CONTAINER_IMAGE_N',
  flags: POD_SPEC_FLAGS,
  run: setImage,
};

async function setImage(session: Session, args: readonly string[]): Promise<void> {
  const pairs = args
    .filter((arg) => arg.includes('='))
    .map((arg) => [arg.slice(0, arg.indexOf('=')), arg.slice(arg.indexOf('=') + 1)] as const);
  const words = args.filter((arg) => !arg.includes('='));
  if (words.length === 0 && session.flags.list('filename').length === 0)
    throw new CliError('one or more resources must be specified as <resource> <name> or <resource>/<name>');
  if (pairs.length === 0) throw new CliError('at least one image update is required');
  if (pairs.length > 1 && pairs.some(([name]) => name === '*'))
    throw new CliError('all containers are already specified by *, but saw more than one container_name=container_image pairs');
  await changeContainers(session, { words, done: 'image updated', change: (spec) => changedImages(spec, pairs) });
}

function changedImages(
  spec: PodSpec,
  pairs: readonly (readonly [string, string])[],
): { containers: ContainerChange[]; initContainers: ContainerChange[] } {
  const [containers, initContainers]: [ContainerChange[], ContainerChange[]] = [[], []];
  for (const [name, image] of pairs) {
    const hit = <T extends { name: string }>(list: readonly T[] | undefined): T[] =>
      (list ?? []).filter((container) => name === '*' || container.name === name);
    const [found, foundInit] = [hit(spec.containers), hit(spec.initContainers)];
    if (found.length + foundInit.length === 0) throw new CliError(`unable to find container named "${name}"`);
    containers.push(...found.filter((container) => container.image !== image).map((container) => ({ name: container.name, image })));
    initContainers.push(
      ...foundInit.filter((container) => container.image !== image).map((container) => ({ name: container.name, image })),
    );
  }
  return { containers, initContainers };
}
