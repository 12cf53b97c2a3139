/**
 * Makes one X.509 certificate (RFC 5280) for a new EC P-256 key. Written out here because the libraries for it take a tenth of a second to load,
 * which is a third of the time an API server has to be ready in; what our certificates need of the format is little and fixed.
 */
import { createHash, generateKeyPairSync, sign as signBytes, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { BIT_STRING, der, derChildren, derElements, OBJECT_IDENTIFIER, SEQUENCE, SET } from './der.ts';
import type { KeyPair } from './pki.ts';

/** Organizations (groups), then the common name. */
export type Subject = readonly (readonly [attribute: 'O' | 'CN', value: string])[];

export interface CertificateRequest {
  readonly subject: Subject;
  readonly days: number;
  readonly authority?: boolean;
  /** Subject alternative names: DNS names and IP addresses. */
  readonly hosts: readonly string[];
  readonly usages: readonly ('server' | 'client')[];
}

const DAY_MS = 24 * 3_600_000;
/** Clocks of clients may be behind. */
const BACKDATE_MS = 5 * 60_000;

const BOOLEAN = 0x01;
const INTEGER = 0x02;
const OCTET_STRING = 0x04;
const UTF8_STRING = 0x0c;
const UTC_TIME = 0x17;
const GENERALIZED_TIME = 0x18;
/** Tags of their own in their place: [0], [2] …; constructed ones hold elements. */
const context = (number: number, constructed = false): number => 0x80 + (constructed ? 0x20 : 0) + number;

const oid = (hex: string): Buffer => der(OBJECT_IDENTIFIER, Buffer.from(hex, 'hex'));
const ECDSA_WITH_SHA256 = der(SEQUENCE, oid('2a8648ce3d040302'));
const ATTRIBUTES = { O: oid('55040a'), CN: oid('550403') } as const;
const USAGES = { server: oid('2b06010505070301'), client: oid('2b06010505070302') } as const;
const TRUE = der(BOOLEAN, Buffer.from([0xff]));

/** Signed by `ca`, or by itself when there is none. */
export function signCertificate(request: CertificateRequest, now: Date, ca?: KeyPair): KeyPair {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  const subject = nameOf(request.subject);
  const authority = ca && new X509Certificate(ca.cert);
  const content = der(
    SEQUENCE,
    der(context(0, true), der(INTEGER, Buffer.from([2]))),
    der(INTEGER, serial(spki)),
    ECDSA_WITH_SHA256,
    authority === undefined ? subject : subjectOf(authority),
    der(SEQUENCE, time(new Date(now.getTime() - BACKDATE_MS)), time(new Date(now.getTime() + request.days * DAY_MS))),
    subject,
    spki,
    der(context(3, true), der(SEQUENCE, ...extensionsOf(request, spki, authority))),
  );
  const signature = signBytes('sha256', content, ca?.key ?? privateKey);
  const certificate = der(SEQUENCE, content, ECDSA_WITH_SHA256, bits(0, signature));
  return { cert: pemOf(certificate), key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string };
}

const nameOf = (subject: Subject): Buffer =>
  der(
    SEQUENCE,
    ...subject.map(([attribute, value]) => der(SET, der(SEQUENCE, ATTRIBUTES[attribute], der(UTF8_STRING, Buffer.from(value))))),
  );

/** The name as it stands in the certificate, byte for byte: an issuer must be repeated so. It follows version, serial, algorithm, issuer, validity. */
function subjectOf(certificate: X509Certificate): Buffer {
  const [whole] = derElements(certificate.raw);
  const [content] = derChildren(whole, SEQUENCE);
  return derChildren(content, SEQUENCE)[5]!.bytes;
}

/** Two digits of the year until 2049, four from then on. */
function time(date: Date): Buffer {
  const text = `${date.toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`;
  return date.getUTCFullYear() < 2050 ? der(UTC_TIME, Buffer.from(text.slice(2))) : der(GENERALIZED_TIME, Buffer.from(text));
}

const bits = (unused: number, bytes: Buffer): Buffer => der(BIT_STRING, Buffer.from([unused]), bytes);

/** digitalSignature, keyCertSign and cRLSign; digitalSignature and keyEncipherment. */
const KEY_USAGE = { authority: bits(1, Buffer.from([0x86])), leaf: bits(5, Buffer.from([0xa0])) } as const;

function extensionsOf(request: CertificateRequest, spki: Buffer, ca: X509Certificate | undefined): Buffer[] {
  const extension = (id: string, value: Buffer, critical = false): Buffer =>
    der(SEQUENCE, oid(id), ...(critical ? [TRUE] : []), der(OCTET_STRING, value));
  const extensions = [
    extension('551d13', der(SEQUENCE, ...(request.authority ? [TRUE] : [])), true),
    extension('551d0f', request.authority ? KEY_USAGE.authority : KEY_USAGE.leaf, true),
    extension('551d0e', der(OCTET_STRING, keyIdentifier(spki))),
  ];
  if (ca !== undefined) {
    const issuer = keyIdentifier(ca.publicKey.export({ type: 'spki', format: 'der' }));
    extensions.push(extension('551d23', der(SEQUENCE, der(context(0), issuer))));
  }
  if (request.usages.length > 0) extensions.push(extension('551d25', der(SEQUENCE, ...request.usages.map((usage) => USAGES[usage]))));
  if (request.hosts.length > 0) extensions.push(extension('551d11', der(SEQUENCE, ...request.hosts.map(hostName))));
  return extensions;
}

/** SHA-1 of the key's bits, as RFC 5280 suggests it. */
function keyIdentifier(spki: Buffer): Buffer {
  const key = derChildren(derElements(spki)[0], SEQUENCE)[1]!;
  return createHash('sha1').update(key.content.subarray(1)).digest();
}

const hostName = (host: string): Buffer =>
  isIP(host) ? der(context(7), Buffer.from(ipaddr.parse(host).toByteArray())) : der(context(2), Buffer.from(host));

/** 127 bits that are as random as the key, never 0: RFC 5280 wants a positive serial of at most 20 bytes. */
function serial(spki: Buffer): Buffer {
  const bytes = createHash('sha256').update(spki).digest().subarray(0, 16);
  bytes[0] = (bytes[0]! & 0x7f) | 0x01;
  return bytes;
}

const pemOf = (bytes: Buffer): string =>
  `-----BEGIN CERTIFICATE-----\n${bytes.toString('base64').replace(/.{1,64}/g, '$&\n')}-----END CERTIFICATE-----\n`;
