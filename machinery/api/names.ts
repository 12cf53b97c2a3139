/**
 * Rules for label keys (qualified names) and label values, which selectors are checked by. Mirrors apimachinery
 * `util/validation/validation.go`, wording included. Every function returns the complaints, none when the name is fine.
 */

const utf8Length = (text: string): number => Buffer.byteLength(text, 'utf8');

const mustBeNonEmpty = 'must be non-empty';
const maxLength = (length: number): string => `must be no more than ${length} bytes`;

/** `message (e.g. 'a',  or 'b', regex used for validation is '…')`: the odd comma is upstream's. */
function regexError(message: string, regex: string, ...examples: string[]): string {
  if (examples.length === 0) return `${message} (regex used for validation is '${regex}')`;
  return `${message} (e.g. ${examples.map((example) => `'${example}', `).join(' or ')}regex used for validation is '${regex}')`;
}

const NAME = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const NAME_TEXT = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const LABEL_VALUE = `(${NAME})?`;
const LABEL_VALUE_TEXT = `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character`;
const DNS_LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const DNS_SUBDOMAIN = `${DNS_LABEL}(\\.${DNS_LABEL})*`;

const compiled = new Map<string, RegExp>();
function fits(text: string, regex: string): boolean {
  let pattern = compiled.get(regex);
  if (pattern === undefined) {
    pattern = new RegExp(`^(?:${regex})$`);
    compiled.set(regex, pattern);
  }
  return pattern.test(text) && !text.endsWith('\n');
}

/** Label keys and annotation keys: `name` or `dns.subdomain/name`. */
export function qualifiedNameErrors(value: string): string[] {
  const parts = value.split('/');
  if (parts.length > 2) {
    const text = regexError(NAME_TEXT, NAME, 'MyName', 'my.name', '123-abc');
    return [`a qualified name ${text} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  const errors: string[] = [];
  const name = parts[parts.length - 1]!;
  if (parts.length === 2) {
    if (parts[0] === '') errors.push(`prefix part ${mustBeNonEmpty}`);
    else errors.push(...dns1123SubdomainErrors(parts[0]!).map((error) => `prefix part ${error}`));
  }
  if (name === '') errors.push(`name part ${mustBeNonEmpty}`);
  else if (utf8Length(name) > 63) errors.push(`name part ${maxLength(63)}`);
  if (!fits(name, NAME)) errors.push(`name part ${regexError(NAME_TEXT, NAME, 'MyName', 'my.name', '123-abc')}`);
  return errors;
}

export function labelValueErrors(value: string): string[] {
  const errors: string[] = [];
  if (utf8Length(value) > 63) errors.push(maxLength(63));
  if (!fits(value, LABEL_VALUE)) errors.push(regexError(LABEL_VALUE_TEXT, LABEL_VALUE, 'MyValue', 'my_value', '12345'));
  return errors;
}

function dns1123SubdomainErrors(value: string): string[] {
  const errors: string[] = [];
  if (utf8Length(value) > 253) errors.push(maxLength(253));
  if (!fits(value, DNS_SUBDOMAIN)) {
    const text =
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
    errors.push(regexError(text, DNS_SUBDOMAIN, 'example.com'));
  }
  return errors;
}
