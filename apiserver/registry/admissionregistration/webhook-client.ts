/**
 * How the API server reaches a webhook: a URL or a service. Mirrors apiserver `util/webhook/validation.go`.
 */
import { type FieldError, invalidValue, quoteGo, required } from '../../../machinery/api/field-error.ts';
import { dnsSubdomain, portNumber } from '../../../machinery/api/names.ts';
import type { ServiceReference, WebhookClientConfig } from '../../../machinery/api/types/admissionregistration.k8s.io.v1.ts';

const FORM = '; desired format: https://host[/path]';

export function clientConfigErrors(config: WebhookClientConfig, path: string, errors: FieldError[]): void {
  const { url, service } = config;
  if ((url === undefined) === (service === undefined)) errors.push(required(path, 'exactly one of url or service is required'));
  else if (url !== undefined) urlErrors(url, `${path}.url`, errors);
  else if (service !== undefined) serviceErrors(service, `${path}.service`, errors);
}

function urlErrors(text: string, path: string, errors: FieldError[]): void {
  const parts = splitUrl(text);
  if (typeof parts === 'string') {
    errors.push(required(path, `url must be a valid URL: parse ${quoteGo(text)}: ${parts}${FORM}`));
    return;
  }
  if (parts.scheme !== 'https') errors.push(invalidValue(path, parts.scheme, `'https' is the only allowed URL scheme${FORM}`));
  if (parts.host === '') errors.push(invalidValue(path, '', `host must be specified${FORM}`));
  if (parts.user !== undefined) errors.push(invalidValue(path, parts.user, 'user information is not permitted in the URL'));
  if (parts.fragment !== '') errors.push(invalidValue(path, parts.fragment, 'fragments are not permitted in the URL'));
  if (parts.query !== '') errors.push(invalidValue(path, parts.query, 'query parameters are not permitted in the URL'));
}

interface UrlParts {
  readonly scheme: string;
  readonly host: string;
  readonly user: string | undefined;
  readonly fragment: string;
  readonly query: string;
}

/** The parts of a URL as Go's net/url cuts it, or what Go finds wrong. */
function splitUrl(text: string): UrlParts | string {
  if ([...text].some((c) => c < ' ' || c === '\x7f')) return 'net/url: invalid control character in URL';
  const hash = text.indexOf('#');
  const fragment = hash < 0 ? '' : text.slice(hash + 1);
  const [, name = '', afterScheme = ''] = /^([A-Za-z][-+.A-Za-z0-9]*):(.*)$/s.exec(hash < 0 ? text : text.slice(0, hash)) ?? [];
  let rest = name === '' ? text.slice(0, hash < 0 ? undefined : hash) : afterScheme;
  if (name === '' && rest.startsWith(':')) return 'missing protocol scheme';
  const mark = rest.indexOf('?');
  const query = mark < 0 ? '' : rest.slice(mark + 1);
  if (mark >= 0) rest = rest.slice(0, mark);
  if (name === '' && /^[^/]*:/.test(rest)) return 'first path segment in URL cannot contain colon';
  if (!rest.startsWith('//')) return { scheme: name.toLowerCase(), host: '', user: undefined, fragment, query };
  const authority = rest.slice(2).split('/')[0]!;
  const at = authority.lastIndexOf('@');
  const host = authority.slice(at + 1);
  const mistake = hostMistake(host);
  return mistake ?? { scheme: name.toLowerCase(), host, user: at < 0 ? undefined : authority.slice(0, at), fragment, query };
}

function hostMistake(host: string): string | undefined {
  const port = /:([^:\]]*)$/.exec(host);
  if (port && !/^[0-9]*$/.test(port[1]!)) return `invalid port ${quoteGo(port[0])} after host`;
  const bad = /[ "<>\\^`{|}]/.exec(host);
  return bad ? `invalid character ${quoteGo(bad[0])} in host name` : undefined;
}

/** The members of a missing name and a missing namespace are exchanged in the errors, as upstream has it. */
function serviceErrors(service: ServiceReference, path: string, errors: FieldError[]): void {
  if (!service.namespace) errors.push(required(`${path}.name`));
  if (!service.name) errors.push(required(`${path}.namespace`));
  const port = service.port ?? 0;
  for (const detail of portNumber(port)) errors.push(invalidValue(`${path}.port`, port, `port is not valid: ${detail}`));
  servicePathErrors(service.path ?? '', `${path}.path`, errors);
}

function servicePathErrors(text: string, path: string, errors: FieldError[]): void {
  if (text === '' || text === '/') return;
  if (text === '//') {
    errors.push(invalidValue(path, text, 'segment[0] may not be empty'));
    return;
  }
  if (!text.startsWith('/')) errors.push(invalidValue(path, text, "must start with a '/'"));
  const segments = text.slice(1).replace(/\/$/, '').split('/');
  segments.forEach((segment, i) => {
    if (segment === '') errors.push(invalidValue(path, text, `segment[${i}] may not be empty`));
    else for (const detail of dnsSubdomain(segment)) errors.push(invalidValue(path, text, `segment[${i}]: ${detail}`));
  });
}
