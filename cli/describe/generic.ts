/** Any other kind: its members, one level of indentation per level of nesting, names spaced into words. Mirrors kubectl's genericDescriber. */
import type { Describer } from './describer.ts';
import { describeEvents } from './events.ts';
import { DescriptionWriter } from './writer.ts';

const HIDDEN_METADATA = ['managedFields', 'name', 'namespace', 'labels', 'annotations'];

export const describeGeneric: Describer = (object, context) => {
  const w = new DescriptionWriter();
  w.scopedName(object.metadata);
  w.labelsAndAnnotations(object.metadata);
  const metadata = Object.fromEntries(Object.entries(object.metadata).filter(([key]) => !HIDDEN_METADATA.includes(key)));
  members(w, 0, { apiVersion: object.apiVersion, kind: object.kind, metadata, ...without(object) });
  describeEvents(w, context);
  return w.text();
};

function without(object: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).filter(([key]) => !['apiVersion', 'kind', 'metadata'].includes(key)));
}

/** `apiVersion` → `API Version`, `podIPs` → `Pod I Ps` as upstream's splitter does for unknown abbreviations. */
function title(name: string): string {
  const words = name.match(/[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z]+|[^A-Za-z0-9]+/g) ?? [name];
  return words.map((word) => KNOWN[word.toLowerCase()] ?? word[0].toUpperCase() + word.slice(1)).join(' ');
}
const KNOWN: Readonly<Record<string, string>> = { api: 'API', uid: 'UID', url: 'URL', osb: 'OSB', guid: 'GUID' };

function members(w: DescriptionWriter, level: number, value: Record<string, unknown>): void {
  for (const key of Object.keys(value).sort()) {
    const member = value[key];
    const name = title(key);
    if (Array.isArray(member)) listMember(w, { level, name }, member);
    else if (typeof member === 'object' && member !== null) {
      w.line(level, `${name}:`);
      members(w, level + 1, member as Record<string, unknown>);
    } else w.field(level, name, member ?? '<nil>');
  }
}

function listMember(w: DescriptionWriter, { level, name }: { level: number; name: string }, list: readonly unknown[]): void {
  w.line(level, `${name}:`);
  for (const item of list) {
    if (typeof item === 'object' && item !== null && !Array.isArray(item)) members(w, level + 1, item as Record<string, unknown>);
    else w.line(level + 1, String(item));
  }
}
