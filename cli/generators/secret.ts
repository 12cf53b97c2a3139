/** `create secret generic|tls|docker-registry`. Mirrors kubectl `cmd/create/create_secret*.go`. */
import { readFileSync } from 'node:fs';
import { CliError } from '../errors.ts';
import type { Verb, VerbEntry } from '../verb.ts';
import { DATA_FLAGS, readData, sortedEntries } from './data.ts';
import { type GeneratedResource, generatorVerb } from './generator.ts';

const resource: GeneratedResource = { group: '', version: 'v1', resource: 'secrets', kind: 'Secret', namespaced: true };

const generic = generatorVerb({
  usage: 'NAME [--type=string] [--from-file=[key=]source] [--from-literal=key1=value1]',
  flags: { ...DATA_FLAGS, type: { type: 'string', help: 'The type of secret to create' } },
  resource,
  noun: 'secret',
  build: ({ flags }) => {
    const data = Object.fromEntries(sortedEntries(readData(flags)).map(([key, value]) => [key, value.toString('base64')]));
    return { body: { ...(Object.keys(data).length > 0 && { data }), ...(flags.string('type') && { type: flags.string('type') }) } };
  },
});

const tls = generatorVerb({
  usage: 'NAME --cert=path/to/cert/file --key=path/to/key/file',
  flags: {
    cert: { type: 'string', help: 'Path to PEM encoded public key certificate' },
    key: { type: 'string', help: 'Path to private key associated with given certificate' },
    'append-hash': { type: 'boolean', help: 'Append a hash of the object to its name' },
  },
  resource,
  noun: 'secret',
  build: ({ flags }) => {
    const [cert, key] = [flags.string('cert'), flags.string('key')];
    if (cert === '' || key === '') throw new CliError('key and cert must be specified');
    return { body: { data: { 'tls.crt': readPem(cert), 'tls.key': readPem(key) }, type: 'kubernetes.io/tls' } };
  },
});

function readPem(path: string): string {
  try {
    return readFileSync(path).toString('base64');
  } catch {
    throw new CliError(`open ${path}: no such file or directory`);
  }
}

const dockerRegistry = generatorVerb({
  usage: 'NAME --docker-username=user --docker-password=password --docker-email=email [--docker-server=string] [--from-file=[key=]source]',
  flags: {
    'docker-username': { type: 'string', help: 'Username for Docker registry authentication' },
    'docker-password': { type: 'string', help: 'Password for Docker registry authentication' },
    'docker-email': { type: 'string', help: 'Email for Docker registry' },
    'docker-server': { type: 'string', default: 'https://index.docker.io/v1/', help: 'Server location for Docker registry' },
    'from-file': { type: 'list', help: 'Key files with the registry configuration' },
    'append-hash': { type: 'boolean', help: 'Append a hash of the object to its name' },
  },
  resource,
  noun: 'secret',
  build: ({ flags }) => {
    const [username, password, email] = ['docker-username', 'docker-password', 'docker-email'].map((name) => flags.string(name));
    if (flags.list('from-file').length === 0 && (username === '' || password === '')) {
      throw new CliError('either --from-file or the combination of --docker-username, --docker-password and --docker-server is required');
    }
    const auth = Buffer.from(`${username}:${password}`).toString('base64');
    const login = { username, password, ...(email && { email }), auth };
    const config = JSON.stringify({ auths: { [flags.string('docker-server')]: login } });
    const file = flags.list('from-file')[0];
    const value = file === undefined ? Buffer.from(config) : readFileSync(file.split('=').pop()!);
    return { body: { data: { '.dockerconfigjson': value.toString('base64') }, type: 'kubernetes.io/dockerconfigjson' } };
  },
});

const entry = (summary: string, verb: Verb): VerbEntry => ({ summary, load: async () => verb });

export const verb: Verb = {
  usage: '(docker-registry | generic | tls)',
  verbs: {
    generic: entry('Create a secret from a local file, directory, or literal value', generic),
    tls: entry('Create a TLS secret', tls),
    'docker-registry': entry('Create a secret for use with a Docker registry', dockerRegistry),
  },
};
