/**
 * Rules of ingresses. Mirrors kubernetes `networking/validation` ValidateIngressCreate, ValidateIngressUpdate and their parts. What an object already
 * had wrong in its TLS secrets and under its wildcard hosts may stay.
 */
import { type FieldError, invalidValue, notSupported, required } from '../../../machinery/api/field-error.ts';
import { dnsLabel, dnsSubdomain, portName, portNumber, wildcardDnsSubdomain } from '../../../machinery/api/names.ts';
import type {
  HTTPIngressPath,
  Ingress,
  IngressBackend,
  IngressRule,
  IngressRuleValue,
  IngressTLS,
} from '../../../machinery/api/types/networking.k8s.io.v1.ts';
import { ipErrors, isAddress } from '../validation/ip.ts';
import { localReferenceErrors } from '../validation/references.ts';

export const CLASS_ANNOTATION = 'kubernetes.io/ingress.class';
const PATH_TYPES = ['Exact', 'ImplementationSpecific', 'Prefix'];
const FORBIDDEN_SEQUENCES = ['//', '/./', '/../', '%2f', '%2F'];
const FORBIDDEN_ENDS = ['/..', '/.'];

export function ingressCreateErrors(object: Ingress): FieldError[] {
  const errors = specErrors(object, undefined);
  const annotation = object.metadata.annotations?.[CLASS_ANNOTATION];
  const className = object.spec?.ingressClassName;
  if (annotation !== undefined && className !== undefined && annotation !== className) {
    errors.push(invalidValue(`annotations.${CLASS_ANNOTATION}`, annotation, 'must match `ingressClassName` when both are specified'));
  }
  return errors;
}

export const ingressUpdateErrors = (object: Ingress, old: Ingress): FieldError[] => specErrors(object, old);

function specErrors({ spec = {} }: Ingress, old: Ingress | undefined): FieldError[] {
  const errors: FieldError[] = [];
  const { rules = [], tls = [], defaultBackend, ingressClassName } = spec;
  if (rules.length === 0 && !defaultBackend) {
    errors.push(invalidValue('spec', spec.rules, 'either `defaultBackend` or `rules` must be specified'));
  }
  if (defaultBackend) backendErrors(defaultBackend, 'spec.defaultBackend', errors);
  const wildcardsAreFree = (old?.spec?.rules ?? []).some((rule) => rule.host?.includes('*') && ruleValueErrors(rule, '').length > 0);
  rules.forEach((rule, i) => {
    hostErrors(rule, `spec.rules[${i}].host`, errors);
    if (!(wildcardsAreFree && rule.host?.includes('*'))) errors.push(...ruleValueErrors(rule, `spec.rules[${i}]`));
  });
  const secretsAreFree = (old?.spec?.tls ?? []).some((entry) => entry.secretName && dnsSubdomain(entry.secretName).length > 0);
  tls.forEach((entry, i) => {
    tlsErrors(entry, secretsAreFree, `spec.tls[${i}]`, errors);
  });
  if (ingressClassName !== undefined) subdomainErrors(ingressClassName, 'spec.ingressClassName', errors);
  return errors;
}

function subdomainErrors(text: string, path: string, errors: FieldError[]): void {
  for (const detail of dnsSubdomain(text)) errors.push(invalidValue(path, text, detail));
}

function wildcardOrSubdomainErrors(host: string, path: string, errors: FieldError[]): void {
  for (const detail of host.includes('*') ? wildcardDnsSubdomain(host) : dnsSubdomain(host)) {
    errors.push(invalidValue(path, host, detail));
  }
}

function hostErrors({ host = '' }: IngressRule, path: string, errors: FieldError[]): void {
  if (host === '') return;
  if (isAddress(host)) errors.push(invalidValue(path, host, 'must be a DNS name, not an IP address'));
  wildcardOrSubdomainErrors(host, path, errors);
}

function tlsErrors(entry: IngressTLS, secretsAreFree: boolean, path: string, errors: FieldError[]): void {
  (entry.hosts ?? []).forEach((host, i) => {
    wildcardOrSubdomainErrors(host, `${path}.hosts[${i}]`, errors);
  });
  if (entry.secretName && !secretsAreFree) subdomainErrors(entry.secretName, `${path}.secretName`, errors);
}

function ruleValueErrors({ http }: IngressRuleValue, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (!http) return errors;
  const at = `${path}.http.paths`;
  if ((http.paths?.length ?? 0) === 0) errors.push(required(at));
  (http.paths ?? []).forEach((entry, i) => {
    pathErrors(entry, `${at}[${i}]`, errors);
  });
  return errors;
}

function pathErrors(entry: HTTPIngressPath, at: string, errors: FieldError[]): void {
  const { path = '', pathType } = entry;
  if (pathType === undefined) {
    errors.push(required(`${at}.pathType`, 'pathType must be specified'));
    return;
  }
  const bad = (detail: string): number => errors.push(invalidValue(`${at}.path`, path, detail));
  if (pathType === 'Exact' || pathType === 'Prefix') {
    if (!path.startsWith('/')) bad('must be an absolute path');
    for (const sequence of FORBIDDEN_SEQUENCES) if (path.includes(sequence)) bad(`must not contain '${sequence}'`);
    for (const end of FORBIDDEN_ENDS) if (path.endsWith(end)) bad(`cannot end with '${end}'`);
  } else if (pathType === 'ImplementationSpecific') {
    if (path !== '' && !path.startsWith('/')) bad('must be an absolute path');
  } else errors.push(notSupported(`${at}.pathType`, pathType, PATH_TYPES));
  backendErrors(entry.backend ?? {}, `${at}.backend`, errors);
}

function backendErrors({ service, resource }: IngressBackend, path: string, errors: FieldError[]): void {
  if (service && resource) {
    errors.push(invalidValue(path, '', 'cannot set both resource and service backends'));
    return;
  }
  if (resource) localReferenceErrors(resource, `${path}.resource`, errors);
  else if (service) serviceErrors(service, path, errors);
  else errors.push(invalidValue(path, '', 'resource or service backend is required'));
}

function serviceErrors(service: NonNullable<IngressBackend['service']>, path: string, errors: FieldError[]): void {
  const { name = '' } = service;
  const { name: port = '', number = 0 } = service.port ?? {};
  if (name === '') errors.push(required(`${path}.service.name`));
  else for (const detail of dnsLabel(name)) errors.push(invalidValue(`${path}.service.name`, name, detail));
  if (port !== '' && number !== 0) errors.push(invalidValue(path, '', 'cannot set both port name & port number'));
  else if (port !== '') for (const detail of portName(port)) errors.push(invalidValue(`${path}.service.port.name`, port, detail));
  else if (number !== 0) for (const detail of portNumber(number)) errors.push(invalidValue(`${path}.service.port.number`, number, detail));
  else errors.push(required(path, 'port name or number is required'));
}

/** Addresses that were there before may stay as they are. */
export function ingressStatusErrors({ status }: Ingress, old: Ingress): FieldError[] {
  const errors: FieldError[] = [];
  const known = new Set((old.status?.loadBalancer?.ingress ?? []).map((entry) => entry.ip));
  (status?.loadBalancer?.ingress ?? []).forEach(({ ip, hostname }, i) => {
    const path = `status.loadBalancer.ingress[${i}]`;
    if (ip && !known.has(ip)) ipErrors(ip, `${path}.ip`, errors);
    if (!hostname) return;
    subdomainErrors(hostname, `${path}.hostname`, errors);
    if (isAddress(hostname)) errors.push(invalidValue(`${path}.hostname`, hostname, 'must be a DNS name, not an IP address'));
  });
  return errors;
}
