/** `version`: of this client and of the server. */

import { CliError } from '../errors.ts';
import { formatJson } from '../printers/json.ts';
import type { Verb } from '../verb.ts';

/** The Kubernetes version whose kubectl this client follows. */
const CLIENT = { major: '1', minor: '36', gitVersion: 'v1.36.0-flyball' };

export const verb: Verb = {
  usage: '[flags]',
  flags: {
    client: { type: 'boolean', help: 'If true, shows client version only (no server required)' },
    output: { type: 'string', short: 'o', help: "One of 'yaml' or 'json'" },
  },
  run: async (session, _args, flags) => {
    const output = flags.string('output');
    if (!['', 'json', 'yaml'].includes(output)) throw new CliError("--output must be 'yaml' or 'json'");
    const server = flags.bool('client') ? undefined : await session.api.json<{ gitVersion: string }>({ path: '/version' });
    const both = { clientVersion: CLIENT, ...(server && { serverVersion: server }) };
    if (output === 'json') session.out(formatJson(both, 2));
    else if (output === 'yaml') session.out((await import('../../machinery/api/yaml.ts')).formatYaml(both));
    else session.out(`Client Version: ${CLIENT.gitVersion}\n${server ? `Server Version: ${server.gitVersion}\n` : ''}`);
  },
};
