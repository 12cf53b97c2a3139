/** From the flags and the kubeconfig to a client: which file, which context, which server, who we are. Mirrors clientcmd's overrides. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Client } from '../machinery/client/client.ts';
import { createClient } from '../machinery/client/connect.ts';
import { type ClientConfig, clientConfig, type Kubeconfig, mergeKubeconfigs, parseKubeconfig } from '../machinery/client/kubeconfig.ts';
import { CliError } from './errors.ts';
import type { Flags } from './flags.ts';
import { findKubeconfig, type Surroundings } from './options.ts';

export interface Target {
  readonly client: Client;
  readonly server: string;
  /** Of the context; '' when it names none. */
  readonly namespace: string;
}

/** Which files are read, in order of precedence. */
export function kubeconfigPaths(flags: Flags, around: Surroundings): readonly string[] {
  const given = flags.string('kubeconfig');
  return given === '' && around.kubeconfigs.length > 1 ? around.kubeconfigs : [findKubeconfig(given, around)];
}

/** Missing files are empty, unless --kubeconfig named one. Throws in kubectl's wording. */
export function loadKubeconfig(flags: Flags, around: Surroundings): Kubeconfig {
  const given = flags.string('kubeconfig');
  if (given !== '' && !existsSync(given)) throw new CliError(`stat ${given}: no such file or directory`);
  const files = kubeconfigPaths(flags, around).filter((path) => existsSync(path));
  return mergeKubeconfigs(
    files.map((path) => {
      try {
        return parseKubeconfig(readFileSync(path, 'utf8'), dirname(resolve(path)));
      } catch (error) {
        throw new CliError(`error loading config file "${path}": ${(error as Error).message.split('\n')[0]}`, { cause: error });
      }
    }),
  );
}

export function connect(flags: Flags, around: Surroundings, onWarning: (text: string) => void): Target {
  const kubeconfig = loadKubeconfig(flags, around);
  const config = configOf(kubeconfig, flags);
  return {
    client: createClient({ kubeconfig: config, userAgent: 'kubectl/v1.36.0 (flyball)', onWarning }),
    server: config.server,
    namespace: config.namespace ?? '',
  };
}

function configOf(kubeconfig: Kubeconfig, flags: Flags): ClientConfig {
  const server = flags.string('server').replace(/\/+$/, '');
  const choice = { context: flags.string('context'), cluster: flags.string('cluster'), user: flags.string('user') };
  if (server === '' && kubeconfig.clusters.size === 0 && choice.context === '') {
    return { server: 'http://localhost:8080', ...overrides(flags) };
  }
  const chosen = server !== '' && kubeconfig.clusters.size === 0 ? { server } : readContext(kubeconfig, choice);
  if (server === '' || server === chosen.server) return { ...chosen, ...overrides(flags) };
  return { ...chosen, server: /^https?:/.test(server) ? server : `http://${server}`, unixSocket: undefined, ...overrides(flags) };
}

function readContext(kubeconfig: Kubeconfig, choice: { context: string; cluster: string; user: string }): ClientConfig {
  try {
    return clientConfig(kubeconfig, choice);
  } catch (error) {
    throw new CliError((error as Error).message, { cause: error });
  }
}

function overrides(flags: Flags): Partial<ClientConfig> {
  const user = flags.string('as');
  const groups = flags.list('as-group');
  const uid = flags.string('as-uid');
  if (user === '' && (groups.length > 0 || uid !== ''))
    throw new CliError('requesting uid, groups or user-extra without impersonating a user');
  return {
    ...(flags.string('token') !== '' && { token: flags.string('token') }),
    ...(flags.bool('insecure-skip-tls-verify') && { insecureSkipTlsVerify: true, ca: undefined }),
    ...(user !== '' && { impersonate: { user, ...(uid && { uid }), ...(groups.length > 0 && { groups }) } }),
  };
}
