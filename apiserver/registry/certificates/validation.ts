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
const FINAL_TYPES = ['Approved', 'Denied', 'Failed'];

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
  for (const label of labels) {
    for (const detail of dnsLabel(label)) errors.push(invalidValue(path, domain, `validating label ${quoteGo(label)}: ${detail}`));
  }
  if (labels.length < 2) errors.push(invalidValue(path, domain, 'should be a domain with at least two segments separated by dots'));
  for (const part of signer.split('.')) {
    for (const detail of dnsSubdomain(part)) errors.push(invalidValue(path, signer, `validating label ${quoteGo(part)}: ${detail}`));
  }
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
    try {
      new X509Certificate(der);
    } catch {
      return 'x509: malformed certificate';
    }
  }
  return blocks.length === 0 ? 'must contain at least one CERTIFICATE PEM block' : undefined;
}

/**
 * What a write of status or approval may do: final conditions stay, approval and denial come only through `approval`, and a certificate once issued
 * is never replaced.
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
  for (const type of FINAL_TYPES) {
    const now = conditions.filter((c) => c.type === type);
    const then = (old.status?.conditions ?? []).filter((c) => c.type === type);
    const forbid = (what: string): void => {
      errors.push(forbiddenField('status.conditions', `updates may not ${what} a condition of type ${quoteGo(type)}`));
    };
    if (now.length < then.length) forbid('remove');
    else if (now.length > then.length) {
      if (!approval && type !== 'Failed') forbid('add');
    } else if (!deepEqual(now, then)) forbid('modify');
  }
  if (before && certificate !== before) {
    errors.push(forbiddenField('status.certificate', 'updates may not modify existing certificate content'));
  }
  return errors;
}
