/**
 * Makes the certificates and kubeconfigs of a cluster, or keeps those that are still good: a second start makes none.
 *
 * Invariant: a kept kubeconfig belongs to the CA and the address of this start, and lasts at least a month.
 */
import { X509Certificate } from 'node:crypto';
import { type ClientConfig, readKubeconfig } from '../machinery/client/kubeconfig.ts';
import type { Clock } from '../machinery/process/clock.ts';
import { writeKubeconfig } from '../machinery/process/kubeconfig-file.ts';
import { type ClientIdentity, ensurePki, issueClientCertificate, type Pki } from '../machinery/process/pki.ts';
import type { ProcessPlan } from './components.ts';
import type { Layout } from './layout.ts';

const MONTH_MS = 30 * 24 * 3_600_000;
const ADMIN: ClientIdentity = { user: 'kubernetes-admin', groups: ['system:masters'] };

export interface CredentialsDeps {
  readonly layout: Layout;
  readonly server: string;
  readonly bindAddress: string;
  readonly clock: Clock;
}

export async function ensureCredentials(plans: readonly ProcessPlan[], deps: CredentialsDeps): Promise<void> {
  const { layout, bindAddress, clock } = deps;
  const pki = await ensurePki(layout.dataDir, { hosts: bindAddress === '0.0.0.0' ? [] : [bindAddress], clock });
  await ensureKubeconfig({ path: layout.kubeconfig, user: 'admin', identity: ADMIN }, pki, deps);
  for (const { spec, nodes } of plans) {
    if (!spec.identity) continue;
    const identity = spec.identity(nodes);
    await ensureKubeconfig({ path: layout.kubeconfigOf(nodes.name || spec.module), user: identity.user, identity }, pki, deps);
  }
}

interface Wanted {
  readonly path: string;
  /** Name of the user entry in the file. */
  readonly user: string;
  readonly identity: ClientIdentity;
}

async function ensureKubeconfig({ path, user, identity }: Wanted, pki: Pki, deps: CredentialsDeps): Promise<void> {
  if (isGood(path, identity, pki, deps)) return;
  const client = await issueClientCertificate(pki, identity, deps.clock);
  writeKubeconfig(path, { server: deps.server, ca: pki.ca.cert, user, client, unixSocket: deps.layout.apiSocket });
}

function isGood(path: string, identity: ClientIdentity, pki: Pki, { server, layout, clock }: CredentialsDeps): boolean {
  let config: ClientConfig;
  try {
    config = readKubeconfig(path);
  } catch {
    return false;
  }
  if (config.server !== server || config.ca !== pki.ca.cert || config.unixSocket !== layout.apiSocket || !config.cert || !config.key)
    return false;
  try {
    const cert = new X509Certificate(config.cert);
    const names = cert.subject.split('\n');
    return (
      names.includes(`CN=${identity.user}`) &&
      cert.verify(new X509Certificate(pki.ca.cert).publicKey) &&
      Date.parse(cert.validTo) - clock.now().getTime() > MONTH_MS
    );
  } catch {
    return false;
  }
}
