/** `create token SERVICEACCOUNT`: asks for a token of a service account and prints it. */

import { usageError } from '../errors.ts';
import { formatJson } from '../printers/json.ts';
import type { Verb } from '../verb.ts';
import { OUTPUT_FLAGS } from '../verb-flags.ts';

export const verb: Verb = {
  usage: 'SERVICE_ACCOUNT_NAME',
  flags: {
    ...OUTPUT_FLAGS,
    audience: { type: 'array', help: 'Audience of the requested token' },
    duration: { type: 'duration', default: '0s', help: 'Requested lifetime of the issued token' },
    'bound-object-kind': { type: 'string', help: 'Kind of an object to bind the token to' },
    'bound-object-name': { type: 'string', help: 'Name of an object to bind the token to' },
    'bound-object-uid': { type: 'string', help: 'UID of an object to bind the token to' },
  },
  run: async (session, args, flags) => {
    if (args.length !== 1) throw usageError(session.verb, `exactly one NAME is required, got ${args.length}`);
    const seconds = Math.floor(flags.durationMs('duration') / 1000);
    const bound = flags.string('bound-object-kind');
    const spec = {
      audiences: flags.list('audience'),
      ...(seconds > 0 && { expirationSeconds: seconds }),
      ...(bound && {
        boundObjectRef: { kind: bound, apiVersion: 'v1', name: flags.string('bound-object-name'), uid: flags.string('bound-object-uid') },
      }),
    };
    const path = `/api/v1/namespaces/${session.namespace().name}/serviceaccounts/${args[0]}/token`;
    const answer = await session.api.json<{ status: { token: string } }>({
      method: 'POST',
      path,
      body: { kind: 'TokenRequest', apiVersion: 'authentication.k8s.io/v1', metadata: {}, spec },
    });
    session.out(flags.string('output') === 'json' ? formatJson(answer) : `${answer.status.token}\n`);
  },
};
