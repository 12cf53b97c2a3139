/**
 * The certificates of a cluster: one self-made CA, the API server's certificate, and a client certificate per component. File names as kubeadm's
 * `/etc/kubernetes/pki`. Keys are EC P-256 and 0600. What exists and is still good is kept.
 *
 * Invariant: a file is complete or absent (written aside, then renamed), so a crash in the middle leaves nothing half written.
 */
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { type Clock, systemClock } from './clock.ts';
import { readIfExists, writeFileAtomically } from './files.ts';
import { type CertificateRequest, type Subject, signCertificate } from './pki-sign.ts';

export interface KeyPair {
  /** PEM. */
  readonly cert: string;
  /** PEM, PKCS#8. */
  readonly key: string;
}

export interface Pki {
  /** `<data dir>/pki`. */
  readonly directory: string;
  readonly ca: KeyPair;
  readonly apiserver: KeyPair;
  /** What the API server shows to kubelets. */
  readonly apiserverKubeletClient: KeyPair;
  /** Signs service account tokens (PEM). */
  readonly serviceAccountKey: string;
  readonly serviceAccountPublicKey: string;
}

export interface PkiOptions {
  /** Further names and addresses of the API server's certificate. */
  readonly hosts?: readonly string[];
  /** First address of the service range. Default 10.96.0.1. */
  readonly serviceIp?: string;
  readonly clock?: Clock;
}

const DAY_MS = 24 * 3_600_000;
const CA_DAYS = 3650;
const LEAF_DAYS = 365;
/** A certificate with less than this left is made anew at the next start. */
const RENEW_DAYS = 30;

const ALWAYS = [
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
  'kubernetes.default.svc.cluster.local',
  'localhost',
  '127.0.0.1',
  '::1',
];

/** Makes what is missing in `<dataDir>/pki` and returns all of it. */
export async function ensurePki(dataDir: string, options: PkiOptions = {}): Promise<Pki> {
  const directory = join(dataDir, 'pki');
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  chmodSync(directory, 0o700);
  const clock = options.clock ?? systemClock;
  const ca = await ensurePair(
    'ca',
    { subject: [['CN', 'flyball-ca']], days: CA_DAYS, authority: true, hosts: [], usages: [] },
    { directory, clock },
  );
  const hosts = [...new Set([...ALWAYS, options.serviceIp ?? '10.96.0.1', ...(options.hosts ?? [])])].filter((host) => host !== '');
  const signed = { directory, clock, ca };
  const apiserver = await ensurePair(
    'apiserver',
    { subject: [['CN', 'kube-apiserver']], days: LEAF_DAYS, hosts, usages: ['server'] },
    signed,
  );
  const kubeletClient = await ensurePair(
    'apiserver-kubelet-client',
    {
      subject: [
        ['O', 'system:masters'],
        ['CN', 'kube-apiserver-kubelet-client'],
      ],
      days: LEAF_DAYS,
      hosts: [],
      usages: ['client'],
    },
    signed,
  );
  const serviceAccountKey = ensureKey(directory, 'sa.key');
  const serviceAccountPublicKey = readFileSync(join(directory, 'sa.pub'), 'utf8');
  return { directory, ca, apiserver, apiserverKubeletClient: kubeletClient, serviceAccountKey, serviceAccountPublicKey };
}

export interface ClientIdentity {
  /** The user: CN of the certificate. */
  readonly user: string;
  /** Its groups: O of the certificate. */
  readonly groups?: readonly string[];
  /** Names and addresses, for a certificate that also serves (a kubelet's). */
  readonly hosts?: readonly string[];
  readonly days?: number;
}

/** A new key and a certificate for it, signed by the CA. */
export async function issueClientCertificate(pki: Pick<Pki, 'ca'>, identity: ClientIdentity, clock: Clock = systemClock): Promise<KeyPair> {
  const subject: Subject = [...(identity.groups ?? []).map((group) => ['O', group] as const), ['CN', identity.user]];
  const hosts = identity.hosts ?? [];
  const usages = hosts.length > 0 ? (['client', 'server'] as const) : (['client'] as const);
  return signCertificate({ subject, days: identity.days ?? LEAF_DAYS, hosts, usages: [...usages] }, clock.now(), pki.ca);
}

interface PairDeps {
  readonly directory: string;
  readonly clock: Clock;
  /** Who signs; absent: the pair signs itself. */
  readonly ca?: KeyPair;
}

async function ensurePair(name: string, request: CertificateRequest, { directory, clock, ca }: PairDeps): Promise<KeyPair> {
  const cert = readIfExists(join(directory, `${name}.crt`));
  const key = readIfExists(join(directory, `${name}.key`));
  if (cert !== undefined && key !== undefined && isGood(cert, request, clock, ca)) return { cert, key };
  const made = signCertificate(request, clock.now(), ca);
  writeFileAtomically(join(directory, `${name}.key`), made.key, 0o600);
  writeFileAtomically(join(directory, `${name}.crt`), made.cert, 0o644);
  return made;
}

/** Signed by this CA, not near its end, and good for every host asked for. */
function isGood(pem: string, request: CertificateRequest, clock: Clock, ca: KeyPair | undefined): boolean {
  try {
    const cert = new X509Certificate(pem);
    if (Date.parse(cert.validTo) - clock.now().getTime() < RENEW_DAYS * DAY_MS) return false;
    if (ca && !cert.verify(new X509Certificate(ca.cert).publicKey)) return false;
    return request.hosts.every((host) => (isIP(host) ? cert.checkIP(host) : cert.checkHost(host)) !== undefined);
  } catch {
    return false;
  }
}

function ensureKey(directory: string, name: string): string {
  const path = join(directory, name);
  const existing = readIfExists(path);
  if (existing !== undefined && readIfExists(join(directory, 'sa.pub')) !== undefined) return existing;
  const pair = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  writeFileAtomically(join(directory, 'sa.pub'), pair.publicKey, 0o644);
  writeFileAtomically(path, pair.privateKey, 0o600);
  return pair.privateKey;
}
