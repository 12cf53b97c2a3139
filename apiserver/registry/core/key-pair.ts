/**
 * Why a certificate and a key do not make a pair, in the words of Go's `crypto/tls` X509KeyPair, which warns of such secrets.
 */
import { createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';

interface Block {
  readonly type: string;
  readonly der: Buffer;
}

const BEGIN = '-----BEGIN ';
const DASHES = '-----';

/** What stands between blocks of PEM is skipped, as are blocks whose content is no base64. Line by line, in one pass. */
function blocksOf(input: Buffer): Block[] {
  const blocks: Block[] = [];
  let open: { type: string; lines: string[] } | undefined;
  for (const raw of input.toString('latin1').split('\n')) {
    const line = raw.trimEnd();
    if (line.startsWith(BEGIN) && line.endsWith(DASHES)) open = { type: line.slice(BEGIN.length, -DASHES.length), lines: [] };
    else if (open !== undefined && line === `-----END ${open.type}-----`) {
      const der = decoded(open.lines);
      if (der !== undefined) blocks.push({ type: open.type, der });
      open = undefined;
    } else open?.lines.push(line);
  }
  return blocks;
}

/** Lines `Name: value` before the content are headers. */
function decoded(lines: readonly string[]): Buffer | undefined {
  const start = lines.findIndex((line) => !line.includes(':'));
  const text = start < 0 ? '' : lines.slice(start).join('');
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text) ? Buffer.from(text, 'base64') : undefined;
}

const isKey = ({ type }: Block): boolean => type === 'PRIVATE KEY' || type.endsWith(' PRIVATE KEY');
const goList = (blocks: readonly Block[]): string => `[${blocks.map(({ type }) => type).join(' ')}]`;

function certificateProblem(blocks: readonly Block[]): string {
  if (blocks.length === 0) return 'tls: failed to find any PEM data in certificate input';
  if (blocks.length === 1 && blocks[0]!.type.endsWith('PRIVATE KEY'))
    return 'tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched';
  return `tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: ${goList(blocks)}`;
}

function keyProblem(blocks: readonly Block[]): string {
  if (blocks.length === 0) return 'tls: failed to find any PEM data in key input';
  if (blocks.length === 1 && blocks[0]!.type === 'CERTIFICATE')
    return 'tls: found a certificate rather than a key in the PEM for the private key';
  return `tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the following types: ${goList(blocks)}`;
}

function parseKey(der: Buffer): KeyObject | undefined {
  for (const type of ['pkcs1', 'pkcs8', 'sec1'] as const) {
    try {
      return createPrivateKey({ key: der, format: 'der', type });
    } catch {
      // it may be of the next form
    }
  }
  return undefined;
}

export function keyPairProblem(certificate: Buffer, key: Buffer): string | undefined {
  const [certificates, keys] = [blocksOf(certificate), blocksOf(key)];
  const leaf = certificates.find(({ type }) => type === 'CERTIFICATE');
  if (leaf === undefined) return certificateProblem(certificates);
  const own = keys.find(isKey);
  if (own === undefined) return keyProblem(keys);
  let open: KeyObject;
  try {
    open = new X509Certificate(leaf.der).publicKey;
  } catch {
    return 'x509: malformed certificate';
  }
  const secret = parseKey(own.der);
  if (secret === undefined) return 'tls: failed to parse private key';
  if (secret.asymmetricKeyType !== open.asymmetricKeyType) return 'tls: private key type does not match public key type';
  return createPublicKey(secret).equals(open) ? undefined : 'tls: private key does not match public key';
}
