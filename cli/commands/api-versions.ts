/** `api-versions`: the groups and versions the server serves, sorted. */
import { usageError } from '../errors.ts';
import type { Verb } from '../verb.ts';

export const verb: Verb = {
  usage: '[flags]',
  run: async (session, args) => {
    if (args.length > 0) throw usageError(session.verb, `unexpected arguments: [${args.join(' ')}]`);
    const { groups } = (await session.mapper()).discovered;
    const names = groups.flatMap((group) => group.versions.map((version) => (group.name === '' ? version : `${group.name}/${version}`)));
    session.out(
      names
        .sort()
        .map((name) => `${name}\n`)
        .join(''),
    );
  },
};
