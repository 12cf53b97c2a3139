/**
 * The forms of names in the API and what is said of a name that has not the form. Mirrors apimachinery `util/validation` and `api/validation/path`.
 * Every function returns the details of all mistakes; an empty list means valid. Lengths count bytes.
 */

/** Details shared by all valid names, so that the hot path allocates nothing. */
export const VALID: string[] = [];

const tooManyBytes = (max: number): string => `must be no more than ${max} bytes`;
const tooManyCharacters = (max: number): string => `must be no more than ${max} characters`;

export function regexDetail(text: string, pattern: string, ...examples: string[]): string {
  if (examples.length === 0) return `${text} (regex used for validation is '${pattern}')`;
  return `${text} (e.g. ${examples.map((e) => `'${e}', `).join(' or ')}regex used for validation is '${pattern}')`;
}

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;
const DNS1035 = '[a-z]([-a-z0-9]*[a-z0-9])?';
const QUALIFIED = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const LABEL_VALUE = `(${QUALIFIED})?`;
const CONFIG_KEY = '[-._a-zA-Z0-9]+';

const whole = (pattern: string): RegExp => new RegExp(`^(?:${pattern})$`);
const labelRegex = whole(LABEL);
const subdomainRegex = whole(SUBDOMAIN);
const dns1035Regex = whole(DNS1035);
const qualifiedRegex = whole(QUALIFIED);
const labelValueRegex = whole(LABEL_VALUE);
const configKeyRegex = whole(CONFIG_KEY);

const labelDetail = regexDetail(
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
  LABEL,
  'my-name',
  '123-abc',
);
const subdomainDetail = regexDetail(
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  SUBDOMAIN,
  'example.com',
);
const dns1035Detail = regexDetail(
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
  DNS1035,
  'my-name',
  'abc-123',
);
const qualifiedDetail = regexDetail(
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  QUALIFIED,
  'MyName',
  'my.name',
  '123-abc',
);
const labelValueDetail = regexDetail(
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  LABEL_VALUE,
  'MyValue',
  'my_value',
  '12345',
);
const configKeyDetail = regexDetail(
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
  CONFIG_KEY,
  'key.name',
  'KEY_NAME',
  'key-name',
);

const byteLength = (text: string): number => Buffer.byteLength(text);

/** `tooLong` is what is said of a text that is too long: upstream says bytes of labels, characters of names. */
function check(text: string, [max, tooLong]: readonly [number, (max: number) => string], regex: RegExp, detail: string): string[] {
  const long = text.length > max || byteLength(text) > max;
  const bad = !regex.test(text);
  if (!long && !bad) return VALID;
  return [...(long ? [tooLong(max)] : []), ...(bad ? [detail] : [])];
}

const NAME_63 = [63, tooManyCharacters] as const;
const NAME_253 = [253, tooManyCharacters] as const;
const LABEL_63 = [63, tooManyBytes] as const;

export function dnsLabel(text: string): string[] {
  const errors = check(text, NAME_63, labelRegex, labelDetail);
  // A valid subdomain that is no label can only have dots in it.
  return errors.at(-1) === labelDetail && subdomainRegex.test(text) ? [...errors.slice(0, -1), 'must not contain dots'] : errors;
}
export const dnsSubdomain = (text: string): string[] => check(text, NAME_253, subdomainRegex, subdomainDetail);
export const dns1035Label = (text: string): string[] => check(text, NAME_63, dns1035Regex, dns1035Detail);
export const labelValue = (text: string): string[] => check(text, LABEL_63, labelValueRegex, labelValueDetail);

/** `*.example.com` */
export function wildcardDnsSubdomain(text: string): string[] {
  const pattern = `\\*\\.${SUBDOMAIN}`;
  const detail = regexDetail(
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
    pattern,
    '*.example.com',
  );
  return check(text, NAME_253, whole(pattern), detail);
}

export function qualifiedName(text: string): string[] {
  const parts = text.split('/');
  if (parts.length > 2) {
    return [`a qualified name ${qualifiedDetail} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  const name = parts.at(-1)!;
  const errors: string[] = [];
  if (parts.length === 2) {
    if (parts[0] === '') errors.push('prefix part must be non-empty');
    else for (const detail of dnsSubdomain(parts[0]!)) errors.push(`prefix part ${detail}`);
  }
  if (name === '') errors.push('name part must be non-empty');
  else if (byteLength(name) > 63) errors.push(`name part ${tooManyBytes(63)}`);
  if (!qualifiedRegex.test(name)) errors.push(`name part ${qualifiedDetail}`);
  return errors.length === 0 ? VALID : errors;
}

export function configMapKey(text: string): string[] {
  const errors = check(text, NAME_253, configKeyRegex, configKeyDetail);
  const directory = parentDirectory(text);
  return directory === undefined ? errors : [...errors, directory];
}

/** What is wrong with a key that would escape the directory it is written into. */
function parentDirectory(text: string): string | undefined {
  if (text === '.') return "must not be '.'";
  if (text === '..') return "must not be '..'";
  return text.startsWith('..') ? "must not start with '..'" : undefined;
}

const ENV_NAME = '[ -<>-~]+';
const envRegex = whole(ENV_NAME);

/** Environment names: printable ASCII without '='. */
export function envVarName(text: string): string[] {
  if (envRegex.test(text)) return VALID;
  if (text === '') return ['environment variable name must be non-empty'];
  return ["a valid environment variable name must consist only of printable ASCII characters other than '='"];
}

const PORT_NAME_MAX = 15;

/** IANA service names: container and service port names. */
export function portName(text: string): string[] {
  const errors: string[] = [];
  if (text.length > PORT_NAME_MAX) errors.push('must be no more than 15 characters');
  if (!/^[-a-z0-9]+$/.test(text)) errors.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  if (!/[a-z]/.test(text)) errors.push('must contain at least one letter (a-z)');
  if (text.includes('--')) errors.push('must not contain consecutive hyphens');
  if (text !== '' && (text.startsWith('-') || text.endsWith('-'))) errors.push('must not begin or end with a hyphen');
  return errors;
}

export const portNumber = (port: number): string[] => (port >= 1 && port <= 65535 ? VALID : ['must be between 1 and 65535, inclusive']);

const HTTP_HEADER = '[-A-Za-z0-9]+';
const httpHeaderRegex = whole(HTTP_HEADER);
export const httpHeaderName = (text: string): string[] =>
  httpHeaderRegex.test(text)
    ? VALID
    : [regexDetail("a valid HTTP header must consist of alphanumeric characters or '-'", HTTP_HEADER, 'X-Header-Name')];

/** What no name may be or contain, since names are path segments. */
export function pathSegmentName(name: string): string[] {
  if (name === '.') return ["may not be '.'"];
  if (name === '..') return ["may not be '..'"];
  if (!name.includes('/') && !name.includes('%')) return VALID;
  return pathSegmentPrefix(name);
}

function pathSegmentPrefix(name: string): string[] {
  return [...(name.includes('/') ? ["may not contain '/'"] : []), ...(name.includes('%') ? ["may not contain '%'"] : [])];
}

/** A metadata.name rule; `prefix` is true when the text is a generateName, whose trailing dash will be followed by more. */
export type NameRule = (name: string, prefix: boolean) => string[];

const maskDash = (name: string): string => (name.length > 1 && name.endsWith('-') ? `${name.slice(0, -2)}a` : name);

export const nameIsSubdomain: NameRule = (name, prefix) => dnsSubdomain(prefix ? maskDash(name) : name);
export const nameIsLabel: NameRule = (name, prefix) => dnsLabel(prefix ? maskDash(name) : name);
export const nameIsPathSegment: NameRule = (name, prefix) => (prefix ? pathSegmentPrefix(name) : pathSegmentName(name));
export const anyName: NameRule = () => VALID;
