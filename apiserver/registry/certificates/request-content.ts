/**
 * What a certificate request says: who it is for, and that whoever asks has the key. Mirrors `ParseCSR` and `CheckSignature` of Go's crypto/x509,
 * as far as validation needs them.
 */
import { createPublicKey, verify } from 'node:crypto';
import { BIT_STRING, derChildren, derElement, objectIdentifier, SEQUENCE, SET } from '../../../machinery/process/der.ts';

const PEM_BLOCK = /-----BEGIN ([^\n]*?)-----\r?\n([\s\S]*?)-----END \1-----/g;
const ORGANIZATION = '2.5.4.10';
/** Signature algorithm → hash; ed25519 has none of its own. */
const HASHES: ReadonlyMap<string, string | null> = new Map([
  ['1.2.840.113549.1.1.11', 'sha256'],
  ['1.2.840.113549.1.1.12', 'sha384'],
  ['1.2.840.113549.1.1.13', 'sha512'],
  ['1.2.840.10045.4.3.2', 'sha256'],
  ['1.2.840.10045.4.3.3', 'sha384'],
  ['1.2.840.10045.4.3.4', 'sha512'],
  ['1.3.101.112', null],
]);

const FAILURES: Readonly<Record<string, string>> = {
  ec: 'x509: ECDSA verification failure',
  ed25519: 'x509: Ed25519 verification failure',
  rsa: 'crypto/rsa: verification error',
};

export interface PemBlock {
  readonly type: string;
  readonly hasHeaders: boolean;
  readonly der: Buffer;
}

/** The blocks of a PEM text, given in base64 as JSON carries bytes. */
export function pemBlocks(base64: string | undefined | null): PemBlock[] {
  const text = Buffer.from(base64 ?? '', 'base64').toString('latin1');
  return [...text.matchAll(PEM_BLOCK)].map(([, type = '', body = '']) => {
    const hasHeaders = /^[^\n]*:/.test(body);
    return { type, hasHeaders, der: Buffer.from(hasHeaders ? body.slice(body.search(/\r?\n\r?\n/)) : body, 'base64') };
  });
}

interface ParsedRequest {
  readonly organizations: readonly string[];
  /** What is wrong with the signature. */
  readonly mistake: string | undefined;
}

/** What is wrong with a request, or undefined. */
export function requestMistake(base64: string | undefined | null): string | undefined {
  const block = pemBlocks(base64)[0];
  if (block?.type !== 'CERTIFICATE REQUEST') return 'PEM block type must be CERTIFICATE REQUEST';
  try {
    return parseRequest(block.der).mistake;
  } catch (error) {
    return (error as Error).message;
  }
}

/** The organizations (groups) that a valid request names. */
export function requestedOrganizations(base64: string | undefined | null): readonly string[] {
  const block = pemBlocks(base64)[0];
  return block === undefined ? [] : parseRequest(block.der).organizations;
}

function parseRequest(der: Buffer): ParsedRequest {
  const request = derElement(der);
  const [info, algorithm, signature] = derChildren(request, SEQUENCE);
  if (request.bytes.length < der.length) throw new Error('asn1: syntax error: trailing data');
  const [, subject, key] = derChildren(info, SEQUENCE);
  if (signature?.tag !== BIT_STRING || key === undefined) throw new Error("asn1: structure error: tags don't match");
  const organizations: string[] = [];
  for (const set of derChildren(subject, SEQUENCE)) {
    for (const attribute of derChildren(set, SET)) {
      const [type, value] = derChildren(attribute, SEQUENCE);
      if (objectIdentifier(type) === ORGANIZATION) organizations.push(value?.content.toString('utf8') ?? '');
    }
  }
  const hash = HASHES.get(objectIdentifier(derChildren(algorithm, SEQUENCE)[0]));
  if (hash === undefined) throw new Error('x509: cannot verify signature: algorithm unimplemented');
  const publicKey = createPublicKey({ key: key.bytes, format: 'der', type: 'spki' });
  // The first byte of a bit string counts unused bits.
  const verified = verify(hash, info!.bytes, publicKey, signature.content.subarray(1));
  return { organizations, mistake: verified ? undefined : (FAILURES[publicKey.asymmetricKeyType ?? ''] ?? 'x509: signature failure') };
}
