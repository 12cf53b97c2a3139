/** `config`: shows kubeconfig files and chooses the current context. Mirrors the reading half of kubectl `cmd/config`. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { formatYaml, parseYaml } from '../../machinery/api/yaml.ts';
import { kubeconfigPaths, loadKubeconfig } from '../connection.ts';
import { CliError, usageError } from '../errors.ts';
import { formatJson } from '../printers/json.ts';
import { RememberingTable } from '../printers/tabwriter.ts';
import type { Session } from '../session.ts';
import type { Verb } from '../verb.ts';

type Entry = { name: string } & Record<string, unknown>;
interface ConfigFile {
  apiVersion: string;
  kind: string;
  clusters: Entry[] | null;
  contexts: Entry[] | null;
  'current-context': string;
  preferences?: unknown;
  users: Entry[] | null;
}

const SECRET = ['client-key-data', 'client-certificate-data', 'certificate-authority-data', 'token', 'password'];

/** Replaces what must not be shown, as kubectl does. */
function redacted(entries: Entry[] | null, member: string): Entry[] | null {
  return (
    entries?.map((entry) => {
      const body = Object.entries((entry[member] as Record<string, unknown>) ?? {}).map(([key, value]) => {
        if (!SECRET.includes(key)) return [key, value];
        return [
          key,
          key.endsWith('-data') && key !== 'client-key-data' ? 'DATA+OMITTED' : key === 'client-key-data' ? 'DATA+OMITTED' : 'REDACTED',
        ];
      });
      return { ...entry, [member]: Object.fromEntries(body) };
    }) ?? null
  );
}

function readFiles(session: Session): ConfigFile {
  loadKubeconfig(session.flags, session.deps.surroundings);
  const merged: ConfigFile = {
    apiVersion: 'v1',
    clusters: null,
    contexts: null,
    'current-context': '',
    kind: 'Config',
    preferences: {},
    users: null,
  };
  for (const path of kubeconfigPaths(session.flags, session.deps.surroundings).filter((file) => existsSync(file))) {
    const file = (parseYaml(readFileSync(path, 'utf8')) ?? {}) as Partial<ConfigFile>;
    for (const list of ['clusters', 'contexts', 'users'] as const) {
      const known = merged[list] ?? [];
      const added = (file[list] ?? []).filter((entry) => !known.some((k) => k.name === entry.name));
      if (known.length + added.length > 0) merged[list] = [...known, ...added].sort((a, b) => (a.name < b.name ? -1 : 1));
    }
    merged['current-context'] ||= file['current-context'] ?? '';
  }
  return merged;
}

const view: Verb = {
  usage: '[flags]',
  flags: {
    output: { type: 'string', short: 'o', default: 'yaml', help: 'Output format. One of: json, yaml' },
    raw: { type: 'boolean', help: 'Display raw byte data and sensitive data' },
    minify: { type: 'boolean', help: 'Remove all information not used by current-context from the output' },
    flatten: { type: 'boolean', help: 'Flatten the resulting kubeconfig file into self-contained output', hidden: true },
  },
  run: async (session, _args, flags) => {
    const file = flags.bool('minify') ? minified(readFiles(session), session) : readFiles(session);
    const shown = flags.bool('raw') ? file : { ...file, clusters: redacted(file.clusters, 'cluster'), users: redacted(file.users, 'user') };
    session.out(flags.string('output') === 'json' ? formatJson(inGoOrder(shown)) : formatYaml(shown));
  },
};

/** JSON shows the members in the order of Go's struct. */
function inGoOrder({ kind, apiVersion, preferences, clusters, users, contexts, ...rest }: ConfigFile): Record<string, unknown> {
  return { kind, apiVersion, preferences, clusters, users, contexts, ...rest };
}

function minified(file: ConfigFile, session: Session): ConfigFile {
  const name = session.flags.string('context') || file['current-context'];
  const context = file.contexts?.find((entry) => entry.name === name);
  if (!context) throw new CliError(name === '' ? 'current-context must exist in order to minify' : `cannot locate context ${name}`);
  const { cluster, user } = context.context as { cluster?: string; user?: string };
  const only = (entries: Entry[] | null, wanted: string | undefined): Entry[] | null =>
    entries?.filter((entry) => entry.name === wanted) ?? null;
  return { ...file, contexts: [context], clusters: only(file.clusters, cluster), users: only(file.users, user), 'current-context': name };
}

const currentContext: Verb = {
  usage: '',
  run: async (session) => {
    const name = readFiles(session)['current-context'];
    if (name === '') throw new CliError('current-context is not set');
    session.line(name);
  },
};

const getContexts: Verb = {
  usage: '[(-o|--output=)name)]',
  flags: {
    output: { type: 'string', short: 'o', help: 'Output format. One of: (name)' },
    'no-headers': { type: 'boolean', help: "When using the default or custom-column output format, don't print headers" },
  },
  run: async (session, args, flags) => {
    const file = readFiles(session);
    const chosen = (file.contexts ?? []).filter((entry) => args.length === 0 || args.includes(entry.name));
    const missing = args.find((name) => !chosen.some((entry) => entry.name === name));
    if (missing !== undefined) throw new CliError(`context ${missing} not found`);
    if (flags.string('output') === 'name') return session.out(chosen.map((entry) => `${entry.name}\n`).join(''));
    const rows = chosen.map((entry) => {
      const { cluster = '', user = '', namespace = '' } = entry.context as Record<string, string>;
      return [entry.name === file['current-context'] ? '*' : '', entry.name, cluster, user, namespace];
    });
    const header = flags.bool('no-headers') ? [] : [['CURRENT', 'NAME', 'CLUSTER', 'AUTHINFO', 'NAMESPACE']];
    session.out(new RememberingTable().format([...header, ...rows]));
  },
};

const useContext: Verb = {
  usage: 'CONTEXT_NAME',
  run: async (session, args) => {
    if (args.length !== 1) throw usageError(session.verb, 'Unexpected args: expected exactly one context name');
    const [name] = args;
    if (!readFiles(session).contexts?.some((entry) => entry.name === name))
      throw new CliError(`no context exists with the name: "${name}"`);
    const [path] = kubeconfigPaths(session.flags, session.deps.surroundings);
    const file = parseYaml(readFileSync(path, 'utf8')) as ConfigFile;
    writeFileSync(path, formatYaml({ ...file, 'current-context': name }), { mode: 0o600 });
    session.line(`Switched to context "${name}".`);
  },
};

export const verb: Verb = {
  usage: 'SUBCOMMAND',
  verbs: {
    'current-context': { summary: 'Display the current-context', load: async () => currentContext },
    'get-contexts': { summary: 'Describe one or many contexts', load: async () => getContexts },
    'use-context': { summary: 'Set the current-context in a kubeconfig file', load: async () => useContext },
    view: { summary: 'Display merged kubeconfig settings or a specified kubeconfig file', load: async () => view },
  },
};
