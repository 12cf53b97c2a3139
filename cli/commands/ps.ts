/** `ps`: the processes of the running cluster. */
import { DATA_DIR_FLAG, runningCluster } from '../cluster/running.ts';
import { CliError } from '../errors.ts';
import { formatJson } from '../printers/json.ts';
import { RememberingTable } from '../printers/tabwriter.ts';
import type { Verb } from '../verb.ts';

export const verb: Verb = {
  usage: '[-o json]',
  flags: { ...DATA_DIR_FLAG, output: { type: 'string', short: 'o', help: 'Output format. One of: json' } },
  run: async (session, _args, flags) => {
    const output = flags.string('output');
    if (output !== '' && output !== 'json')
      throw new CliError(`unable to match a printer suitable for the output format "${output}", allowed formats are: json`);
    const processes = await runningCluster(session).processes();
    if (output === 'json') return session.out(formatJson(processes, 2));
    const rows = processes.map((p) => [
      p.name,
      p.pid === undefined ? '-' : String(p.pid),
      p.state,
      p.address || '-',
      String(p.restarts),
      p.ended ?? '',
    ]);
    session.out(new RememberingTable().format([['NAME', 'PID', 'STATE', 'ADDRESS', 'RESTARTS', 'ENDED LAST BY'], ...rows]));
  },
};
