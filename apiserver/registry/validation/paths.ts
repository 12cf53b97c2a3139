/**
 * File paths inside volumes: relative, and never upwards; and paths that begin with a domain. Mirrors kubernetes `core/validation`
 * validateLocalDescendingPath and its kin, and apimachinery `util/validation` IsDomainPrefixedPath.
 */
import { type FieldError, invalidValue, required } from '../../../machinery/api/field-error.ts';
import { dnsSubdomain } from '../../../machinery/api/names.ts';

export const hasBacksteps = (path: string): boolean => path.split('/').includes('..');

export function noBackstepErrors(text: string, path: string, errors: FieldError[]): void {
  if (hasBacksteps(text)) errors.push(invalidValue(path, text, "must not contain '..'"));
}

export function localDescendingPathErrors(text: string, path: string, errors: FieldError[]): void {
  if (text.startsWith('/')) errors.push(invalidValue(path, text, 'must be a relative path'));
  noBackstepErrors(text, path, errors);
}

/** The same, and the first part may not begin with two dots, which the volume's own writer uses. */
export function localNonReservedPathErrors(text: string, path: string, errors: FieldError[]): void {
  localDescendingPathErrors(text, path, errors);
  if (text.startsWith('..') && !text.startsWith('../')) errors.push(invalidValue(path, text, "must not start with '..'"));
}

const HTTP_PATH = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";
const httpPath = new RegExp(`^(?:${HTTP_PATH})$`);

/** `example.com/some/path`: who gives the name, then any path. */
export function domainPrefixedPathErrors(text: string, path: string, errors: FieldError[]): void {
  if (text === '') {
    errors.push(required(path));
    return;
  }
  const slash = text.indexOf('/');
  if (slash <= 0 || slash === text.length - 1) {
    errors.push(invalidValue(path, text, 'must be a domain-prefixed path (such as "acme.io/foo")'));
    return;
  }
  const domain = text.slice(0, slash);
  for (const detail of dnsSubdomain(domain)) errors.push(invalidValue(path, domain, detail));
  const rest = text.slice(slash + 1);
  if (!httpPath.test(rest)) {
    errors.push(invalidValue(path, rest, `Invalid path (regex used for validation is '${HTTP_PATH}')`));
  }
}
