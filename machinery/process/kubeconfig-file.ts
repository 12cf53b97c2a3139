/**
 * Writes kubeconfig files: what kubectl and every client library read to find and trust the API server. The cluster extension `flyball` carries the
 * Unix socket of a server on this machine, valid for this address only (whoever edits the address means the address); other clients ignore it.
 */
import { writeFileAtomically } from './files.ts';
import type { KeyPair } from './pki.ts';

export interface KubeconfigContent {
  /** `https://127.0.0.1:6443`. */
  readonly server: string;
  /** PEM of the CA. */
  readonly ca: string;
  /** Names of the cluster, context and user entries. */
  readonly cluster?: string;
  readonly user: string;
  readonly client: KeyPair;
  readonly unixSocket?: string | undefined;
}

export function formatKubeconfig(content: KubeconfigContent): string {
  const cluster = JSON.stringify(content.cluster ?? 'flyball');
  const user = JSON.stringify(content.user);
  const context = JSON.stringify(
    content.user === 'admin' ? (content.cluster ?? 'flyball') : `${content.user}@${content.cluster ?? 'flyball'}`,
  );
  const base64 = (pem: string): string => Buffer.from(pem).toString('base64');
  const extension = content.unixSocket
    ? [
        '    extensions:',
        '    - name: flyball',
        '      extension:',
        `        server: ${JSON.stringify(content.server)}`,
        `        unixSocket: ${JSON.stringify(content.unixSocket)}`,
      ]
    : [];
  return [
    'apiVersion: v1',
    'kind: Config',
    'clusters:',
    `- name: ${cluster}`,
    '  cluster:',
    `    server: ${JSON.stringify(content.server)}`,
    `    certificate-authority-data: ${base64(content.ca)}`,
    ...extension,
    'contexts:',
    `- name: ${context}`,
    '  context:',
    `    cluster: ${cluster}`,
    `    user: ${user}`,
    `current-context: ${context}`,
    'users:',
    `- name: ${user}`,
    '  user:',
    `    client-certificate-data: ${base64(content.client.cert)}`,
    `    client-key-data: ${base64(content.client.key)}`,
    '',
  ].join('\n');
}

/** Mode 0600: the file is a credential. */
export function writeKubeconfig(path: string, content: KubeconfigContent): void {
  writeFileAtomically(path, formatKubeconfig(content), 0o600);
}
