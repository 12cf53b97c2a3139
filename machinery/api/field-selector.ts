/**
 * Field selectors (`spec.nodeName=a,status.phase!=Running`). Mirrors apimachinery `fields/selector.go`: which text is accepted,
 * escapes, error wording. Which labels a kind knows is the kind's business.
 */
import { compareBytes } from './plain.ts';

export interface FieldRequirement {
  /** `metadata.name`. */
  readonly label: string;
  readonly operator: '=' | '==' | '!=';
  readonly value: string;
}

export class FieldSelectorError extends Error {}

/** Terms are taken in sorted order, empty ones skipped: `,` selects everything. Throws FieldSelectorError. */
export function parseFieldSelector(text: string): FieldRequirement[] {
  return splitTerms(text)
    .filter((term) => term !== '')
    .sort(compareBytes)
    .map((term) => {
      const split = splitTerm(term);
      if (split === undefined) throw new FieldSelectorError(`invalid selector: '${text}'; can't understand '${term}'`);
      return { label: split.label, operator: split.operator, value: unescapeValue(split.value) };
    });
}

/** At commas that no backslash precedes. */
function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let start = 0;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '\\') i++;
    else if (text[i] === ',') {
      terms.push(text.slice(start, i));
      start = i + 1;
    }
  }
  terms.push(text.slice(start));
  return terms;
}

function splitTerm(term: string): { label: string; operator: FieldRequirement['operator']; value: string } | undefined {
  const match = /!=|==|=/.exec(term);
  if (match === null) return undefined;
  return {
    label: term.slice(0, match.index),
    operator: match[0] as FieldRequirement['operator'],
    value: term.slice(match.index + match[0].length),
  };
}

function unescapeValue(text: string): string {
  if (!/[\\,=]/.test(text)) return text;
  let result = '';
  for (let i = 0; i < text.length; i++) {
    const c = text[i]!;
    if (c === '\\') {
      const next = text[++i];
      if (next !== '\\' && next !== ',' && next !== '=')
        throw new FieldSelectorError(`invalid field selector: invalid escape sequence: \\${next ?? ''}`);
      result += next;
    } else if (c === ',' || c === '=')
      throw new FieldSelectorError(`invalid field selector: unescaped character in value: ${c.charCodeAt(0)}`);
    else result += c;
  }
  return result;
}

export function matchesFields(requirements: readonly FieldRequirement[], read: (label: string) => string): boolean {
  return requirements.every(({ label, operator, value }) => (read(label) === value) === (operator !== '!='));
}

export function formatFieldSelector(requirements: readonly FieldRequirement[]): string {
  return requirements
    .map(({ label, operator, value }) => `${label}${operator === '==' ? '=' : operator}${value.replace(/[\\,=]/g, '\\$&')}`)
    .join(',');
}
