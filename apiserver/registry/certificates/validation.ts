/**
 * Rules of certificate signing requests. Mirrors kubernetes `certificates/validation` and core's ValidateSignerName.
 */
import { X509Certificate } from 'node:crypto';
import { deepEqual } from '../../../machinery/api/equality.ts';
import {
  duplicate,
  type FieldError,
  forbiddenField,
  invalidValue,
  notSupported,
  quoteGo,
  required,
  tooLong,
} from '../../../machinery/api/field-error.ts';
import { dnsLabel, dnsSubdomain } from '../../../machinery/api/names.ts';
import type {
  CertificateSigningRequest,
  CertificateSigningRequestCondition,
  CertificateSigningRequestSpec,
} from '../../../machinery/api/types/certificates.k8s.io.v1.ts';
import { pemBlocks, requestMistake } from './request-content.ts';

const LEGACY_SIGNER = 'kubernetes.io/legacy-unknown';
const MIN_EXPIRATION_SECONDS = 600;
const MAX_DOMAIN = 253;
/** A domain, a slash, a namespace, a dot and a name. */
const MAX_SIGNER = MAX_DOMAIN + 1 + 63 + 1 + 253;
const USAGES = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
];
const STATUSES = ['False', 'True', 'Unknown'];
/** What is decided through `approval` only. */
const APPROVAL_TYPES = ['Approved', 'Denied'];
const FINAL_TYPES = [...APPROVAL_TYPES, 'Failed'];

export function requestErrors({ spec }: CertificateSigningRequest): FieldError[] {
  const errors: FieldError[] = [];
  const { request, usages = [], signerName, expirationSeconds }: Partial<CertificateSigningRequestSpec> = spec ?? {};
  const mistake = requestMistake(request);
  if (mistake !== undefined) errors.push(invalidValue('spec.request', request || null, mistake));
  if (usages.length === 0) errors.push(required('spec.usages'));
  usages.forEach((usage, i) => {
    if (!USAGES.includes(usage)) errors.push(notSupported(`spec.usages[${i}]`, usage, USAGES));
  });
  usages.forEach((usage, i) => {
    if (usages.indexOf(usage) < i) errors.push(duplicate(`spec.usages[${i}]`, usage));
  });
  if (signerName === LEGACY_SIGNER) {
    errors.push(invalidValue('spec.signerName', signerName, 'the legacy signerName is not allowed via this API version'));
  } else signerNameErrors(signerName ?? '', 'spec.signerName', errors);
  if (expirationSeconds !== undefined && expirationSeconds < MIN_EXPIRATION_SECONDS) {
    const detail = `may not specify a duration less than ${MIN_EXPIRATION_SECONDS} seconds (10 minutes)`;
    errors.push(invalidValue('spec.expirationSeconds', expirationSeconds, detail));
  }
  return errors;
}

/** `example.com/name`: a domain of at least two labels, and a name. */
export function signerNameErrors(name: string, path: string, errors: FieldError[]): void {
  if (name === '') {
    errors.push(required(path));
    return;
  }
  const [domain = '', signer = '', ...more] = name.split('/');
  if (!name.includes('/') || more.length > 0) {
    errors.push(invalidValue(path, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'"));
    return;
  }
  if (domain.length > MAX_DOMAIN) errors.push(tooLong(path, MAX_DOMAIN));
  const labels = domain.split('.');
  firstBadLabelErrors(domain, dnsLabel, path, errors);
  if (labels.length < 2) errors.push(invalidValue(path, domain, 'should be a domain with at least two segments separated by dots'));
  firstBadLabelErrors(signer, dnsSubdomain, path, errors);
  if (Buffer.byteLength(name) > MAX_SIGNER) errors.push(tooLong(path, MAX_SIGNER));
}

/** Of several bad labels only the first is told. */
function firstBadLabelErrors(text: string, rule: (label: string) => string[], path: string, errors: FieldError[]): void {
  const label = text.split('.').find((part) => rule(part).length > 0);
  if (label === undefined) return;
  for (const detail of rule(label)) errors.push(invalidValue(path, text, `validating label ${quoteGo(label)}: ${detail}`));
}

function conditionErrors(conditions: readonly CertificateSigningRequestCondition[], errors: FieldError[]): void {
  const seen = new Set<string>();
  conditions.forEach((condition, i) => {
    const path = `status.conditions[${i}]`;
    const type: string = condition.type ?? '';
    const status: string = condition.status ?? '';
    if (type === '') errors.push(required(`${path}.type`));
    const allowed = FINAL_TYPES.includes(type) ? ['True'] : STATUSES;
    if (status === '') errors.push(required(`${path}.status`));
    else if (!allowed.includes(status)) errors.push(notSupported(`${path}.status`, status, allowed));
    if ((type === 'Approved' && seen.has('Denied')) || (type === 'Denied' && seen.has('Approved'))) {
      errors.push(invalidValue(`${path}.type`, type, 'Approved and Denied conditions are mutually exclusive'));
    }
    if (seen.has(type)) errors.push(duplicate(`${path}.type`, type));
    seen.add(type);
  });
}

function certificateMistake(certificate: string): string | undefined {
  const blocks = pemBlocks(certificate);
  for (const { type, hasHeaders, der } of blocks) {
    if (type !== 'CERTIFICATE') return `only CERTIFICATE PEM blocks are allowed, found ${quoteGo(type)}`;
    if (hasHeaders) return 'no PEM block headers are permitted';
    if (der.length === 0) return 'found CERTIFICATE PEM block containing 0 certificates';
    try {
      new X509Certificate(der);
    } catch {
      return 'x509: malformed certificate';
    }
  }
  return blocks.length === 0 ? 'must contain at least one CERTIFICATE PEM block' : undefined;
}

const byType =
  (conditions: readonly CertificateSigningRequestCondition[]) =>
  (type: string): CertificateSigningRequestCondition[] =>
    conditions.filter((c) => c.type === type);

/**
 * What a write of status or approval may do: final conditions are not removed, approval and denial come and change only through `approval`, and a
 * certificate once issued is never replaced.
 */
export function statusUpdateErrors(object: CertificateSigningRequest, old: CertificateSigningRequest, approval: boolean): FieldError[] {
  const errors: FieldError[] = [];
  const { conditions = [], certificate } = object.status ?? {};
  conditionErrors(conditions, errors);
  const before = old.status?.certificate;
  if (certificate && certificate !== before) {
    const mistake = certificateMistake(certificate);
    if (mistake !== undefined) errors.push(invalidValue('status.certificate', '<certificate data>', mistake));
  }
  const now = byType(conditions);
  const then = byType(old.status?.conditions ?? []);
  const forbid = (what: string, type: string): void => {
    errors.push(forbiddenField('status.conditions', `updates may not ${what} a condition of type ${quoteGo(type)}`));
  };
  for (const type of FINAL_TYPES) if (now(type).length < then(type).length) forbid('remove', type);
  for (const type of approval ? [] : APPROVAL_TYPES) {
    if (now(type).length > then(type).length) forbid('add', type);
    else if (now(type).length === then(type).length && !deepEqual(now(type), then(type))) forbid('modify', type);
  }
  if (before && certificate !== before) {
    errors.push(forbiddenField('status.certificate', 'updates may not modify existing certificate content'));
  }
  return errors;
}
