/**
 * Reads kubeconfig files as client-go's `clientcmd` does: the current context names a cluster and a user; several files merge, the first to say
 * something wins; relative paths are relative to the file.
 */
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseYaml } from '../api/yaml.ts';

/** Where the server is and who we are: everything the transport needs. */
export interface ClientConfig {
  /** `https://127.0.0.1:6443`, without trailing slash. */
  readonly server: string;
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  readonly insecureSkipTlsVerify?: boolean | undefined;
  readonly tlsServerName?: string | undefined;
  readonly token?: string | undefined;
  /** Read again every minute: service account tokens are rotated. */
  readonly tokenFile?: string | undefined;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly impersonate?:
    | {
        readonly user: string;
        readonly uid?: string;
        readonly groups?: readonly string[];
        readonly extra?: Readonly<Record<string, readonly string[]>>;
      }
    | undefined;
  /** Used instead of the network while the file exists. */
  readonly unixSocket?: string | undefined;
  /** Of the context; 'default' when it names none. */
  readonly namespace?: string | undefined;
}

export interface Kubeconfig {
  currentContext: string;
  readonly clusters: Map<string, ClusterEntry>;
  readonly users: Map<string, UserEntry>;
  readonly contexts: Map<string, ContextEntry>;
}
export interface ClusterEntry {
  readonly server?: string;
  readonly 'certificate-authority'?: string;
  readonly 'certificate-authority-data'?: string;
  readonly 'insecure-skip-tls-verify'?: boolean;
  readonly 'tls-server-name'?: string;
  readonly extensions?: readonly {
    readonly name?: string;
    readonly extension?: { readonly unixSocket?: string; readonly server?: string };
  }[];
}
export interface UserEntry {
  readonly 'client-certificate'?: string;
  readonly 'client-certificate-data'?: string;
  readonly 'client-key'?: string;
  readonly 'client-key-data'?: string;
  readonly token?: string;
  readonly tokenFile?: string;
  readonly username?: string;
  readonly password?: string;
  readonly as?: string;
  readonly 'as-uid'?: string;
  readonly 'as-groups'?: readonly string[];
  readonly 'as-user-extra'?: Readonly<Record<string, readonly string[]>>;
  readonly exec?: unknown;
  readonly 'auth-provider'?: unknown;
}
export interface ContextEntry {
  readonly cluster?: string;
  readonly user?: string;
  readonly namespace?: string;
}

const PATHS = ['certificate-authority', 'client-certificate', 'client-key', 'tokenFile'];

/** `directory` is what relative paths in it are relative to. Throws an Error that says what is wrong with the text. */
export function parseKubeconfig(text: string, directory: string): Kubeconfig {
  const raw: unknown = text.trim() === '' ? {} : parseYaml(text);
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) throw new Error('a kubeconfig must be a mapping');
  const file = raw as Record<string, unknown>;
  if (file['kind'] !== undefined && file['kind'] !== 'Config')
    throw new Error(`no kind "${String(file['kind'])}" is registered for a kubeconfig; it must be Config`);
  return {
    currentContext: typeof file['current-context'] === 'string' ? file['current-context'] : '',
    clusters: named<ClusterEntry>(file['clusters'], 'cluster', directory),
    users: named<UserEntry>(file['users'], 'user', directory),
    contexts: named<ContextEntry>(file['contexts'], 'context', directory),
  };
}

function named<T extends object>(list: unknown, member: string, directory: string): Map<string, T> {
  const entries = new Map<string, T>();
  if (!Array.isArray(list)) return entries;
  for (const item of list as Record<string, unknown>[]) {
    const name = item?.['name'];
    if (typeof name !== 'string' || entries.has(name)) continue;
    const entry: Record<string, unknown> = { ...(item[member] as object | undefined) };
    for (const path of PATHS)
      if (typeof entry[path] === 'string' && entry[path] !== '') entry[path] = resolve(directory, entry[path] as string);
    entries.set(name, entry as T);
  }
  return entries;
}

/** The first file to define a name, or the current context, wins. */
export function mergeKubeconfigs(configs: readonly Kubeconfig[]): Kubeconfig {
  const merged: Kubeconfig = { currentContext: '', clusters: new Map(), users: new Map(), contexts: new Map() };
  for (const config of configs) {
    if (merged.currentContext === '') merged.currentContext = config.currentContext;
    for (const key of ['clusters', 'users', 'contexts'] as const) {
      const into = merged[key] as Map<string, unknown>;
      for (const [name, entry] of config[key]) if (!into.has(name)) into.set(name, entry);
    }
  }
  return merged;
}

export interface ContextChoice {
  readonly context?: string | undefined;
  readonly cluster?: string | undefined;
  readonly user?: string | undefined;
}

/** What a context says, with its files read. Throws an Error in kubectl's words when the context, cluster or user is missing. */
export function clientConfig(kubeconfig: Kubeconfig, choice: ContextChoice = {}): ClientConfig {
  const contextName = choice.context || kubeconfig.currentContext;
  const context = kubeconfig.contexts.get(contextName);
  if (choice.context && !context) throw new Error(`context "${choice.context}" does not exist`);
  const clusterName = choice.cluster || context?.cluster || '';
  const userName = choice.user || context?.user || '';
  const cluster = kubeconfig.clusters.get(clusterName);
  if (clusterName !== '' && !cluster) throw new Error(`cluster "${clusterName}" does not exist`);
  const user = kubeconfig.users.get(userName);
  if (userName !== '' && !user) throw new Error(`auth info "${userName}" does not exist`);
  if (!cluster?.server)
    throw new Error('invalid configuration: no configuration has been provided, try setting KUBERNETES_MASTER environment variable');
  return { ...clusterPart(cluster), ...userPart(user ?? {}, userName), namespace: context?.namespace };
}

function clusterPart(cluster: ClusterEntry): ClientConfig {
  const server = (cluster.server ?? '').replace(/\/+$/, '');
  const local = cluster.extensions?.find((entry) => entry.name === 'flyball')?.extension;
  return {
    server: /^https?:\/\//.test(server) ? server : `http://${server}`,
    ca: dataOrFile(cluster['certificate-authority-data'], cluster['certificate-authority'], 'certificate-authority'),
    insecureSkipTlsVerify: cluster['insecure-skip-tls-verify'],
    tlsServerName: cluster['tls-server-name'],
    // somebody who points the file at another address (a proxy, a tunnel) means that address
    unixSocket: local?.server === undefined || local.server === server ? local?.unixSocket : undefined,
  };
}

function userPart(user: UserEntry, name: string): Omit<ClientConfig, 'server'> {
  if (user.exec || user['auth-provider'])
    throw new Error(`user "${name}": credential plugins (exec, auth-provider) are not supported; use a certificate or a token`);
  return {
    cert: dataOrFile(user['client-certificate-data'], user['client-certificate'], 'client-cert'),
    key: dataOrFile(user['client-key-data'], user['client-key'], 'client-key'),
    token: user.token,
    tokenFile: user.tokenFile,
    username: user.username,
    password: user.password,
    impersonate: user.as
      ? {
          user: user.as,
          ...(user['as-uid'] && { uid: user['as-uid'] }),
          ...(user['as-groups'] && { groups: user['as-groups'] }),
          ...(user['as-user-extra'] && { extra: user['as-user-extra'] }),
        }
      : undefined,
  };
}

function dataOrFile(data: string | undefined, path: string | undefined, what: string): string | undefined {
  if (data) return Buffer.from(data, 'base64').toString('utf8');
  if (!path) return undefined;
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Error(`unable to read ${what} ${path}`, { cause: error });
  }
}

/** The client configuration of one file's current context. */
export function readKubeconfig(path: string, choice: ContextChoice = {}): ClientConfig {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new Error(`cannot read kubeconfig ${path}`, { cause: error });
  }
  try {
    return clientConfig(parseKubeconfig(text, dirname(resolve(path))), choice);
  } catch (error) {
    throw new Error(`kubeconfig ${path}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}
