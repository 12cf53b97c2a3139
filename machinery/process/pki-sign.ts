/** Makes one certificate with @peculiar/x509. Loaded by `pki.ts` only when a certificate must be made: the library takes a tenth of a second. */
import 'reflect-metadata';
import { KeyObject, webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import * as x509 from '@peculiar/x509';
import type { KeyPair } from './pki.ts';

export interface CertificateRequest {
  /** RFC 4514, such as `O=system:nodes,CN=system:node:a`. */
  readonly subject: string;
  readonly days: number;
  readonly authority?: boolean;
  /** Subject alternative names: DNS names and IP addresses. */
  readonly hosts: readonly string[];
  readonly usages: readonly ('server' | 'client')[];
}

export interface Signer {
  /** Signed by `ca`, or by itself when there is none. */
  sign(request: CertificateRequest, now: Date, ca?: KeyPair): Promise<KeyPair>;
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const DAY_MS = 24 * 3_600_000;
/** Clocks of clients may be behind. */
const BACKDATE_MS = 5 * 60_000;
const USAGES = { server: x509.ExtendedKeyUsage.serverAuth, client: x509.ExtendedKeyUsage.clientAuth } as const;

export function createSigner(): Signer {
  x509.cryptoProvider.set(webcrypto as unknown as Parameters<typeof x509.cryptoProvider.set>[0]);
  return { sign };
}

async function sign(request: CertificateRequest, now: Date, ca?: KeyPair): Promise<KeyPair> {
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const common = {
    serialNumber: serial(),
    notBefore: new Date(now.getTime() - BACKDATE_MS),
    notAfter: new Date(now.getTime() + request.days * DAY_MS),
    signingAlgorithm: ALGORITHM,
    extensions: await extensionsOf(request, keys.publicKey, ca),
  };
  const cert = ca
    ? await x509.X509CertificateGenerator.create({
        ...common,
        subject: request.subject,
        issuer: new x509.X509Certificate(ca.cert).subject,
        publicKey: keys.publicKey,
        signingKey: await importKey(ca.key),
      })
    : await x509.X509CertificateGenerator.createSelfSigned({ ...common, name: request.subject, keys });
  const key = KeyObject.from(keys.privateKey).export({ type: 'pkcs8', format: 'pem' }) as string;
  return { cert: `${cert.toString('pem').trimEnd()}\n`, key };
}

async function extensionsOf(request: CertificateRequest, publicKey: webcrypto.CryptoKey, ca?: KeyPair): Promise<x509.Extension[]> {
  const usage = request.authority
    ? x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign | x509.KeyUsageFlags.digitalSignature
    : x509.KeyUsageFlags.digitalSignature | x509.KeyUsageFlags.keyEncipherment;
  const extensions: x509.Extension[] = [
    new x509.BasicConstraintsExtension(request.authority === true, undefined, true),
    new x509.KeyUsagesExtension(usage, true),
    await x509.SubjectKeyIdentifierExtension.create(publicKey),
  ];
  if (ca) extensions.push(await x509.AuthorityKeyIdentifierExtension.create(new x509.X509Certificate(ca.cert).publicKey));
  if (request.usages.length > 0) extensions.push(new x509.ExtendedKeyUsageExtension(request.usages.map((name) => USAGES[name])));
  if (request.hosts.length > 0) {
    extensions.push(
      new x509.SubjectAlternativeNameExtension(request.hosts.map((host) => ({ type: isIP(host) ? 'ip' : 'dns', value: host }))),
    );
  }
  return extensions;
}

function importKey(pem: string): Promise<webcrypto.CryptoKey> {
  const der = Buffer.from(pem.replace(/-----[^-]+-----|\s/g, ''), 'base64');
  return webcrypto.subtle.importKey('pkcs8', der, ALGORITHM, false, ['sign']);
}

/** 127 random bits, never 0: RFC 5280 wants a positive serial of at most 20 bytes. */
function serial(): string {
  const bytes = webcrypto.getRandomValues(new Uint8Array(16));
  bytes[0] = (bytes[0]! & 0x7f) | 0x01;
  return Buffer.from(bytes).toString('hex');
}
