/**
 * Regenerates `machinery/api/schema/data/*.json` (the compact facts of the Kubernetes API) and `machinery/api/types/*.ts`.
 *
 *   npm run generate                      types only, from the committed compact facts
 *   npm run generate -- --facts DIR       compact facts from DIR first (the form its own README describes), then the types
 *
 * The compact form of a field is a row `[name, type, flags, protobufNumber, extras?]`; `machinery/api/schema/schema.ts` reads it.
 * Flags: o omitempty, z omitzero, p pointer, r required, i inlined.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

interface FactField {
  name: string;
  type: string;
  inline?: boolean;
  omitempty?: boolean;
  omitzero?: boolean;
  ptr?: boolean;
  required?: boolean;
  pb?: number;
  wire?: string;
  [extra: string]: unknown;
}
interface FactType {
  alias?: string;
  enum?: string[];
  pbWrapper?: boolean;
  openapi?: string;
  schema?: string;
  gvk?: string[];
  json?: string;
  fields?: FactField[];
  [extra: string]: unknown;
}
type Row = [string, string, string, number, Record<string, unknown>?];
interface CompactType {
  alias?: string;
  enum?: string[];
  pbWrapper?: boolean;
  openapi?: string;
  hidden?: true;
  gvk?: string[];
  json?: string;
  inlineRequired?: string[];
  mapType?: string;
  unions?: unknown;
  fields?: Row[];
}

const dataDir = new URL('../machinery/api/schema/data/', import.meta.url).pathname;
const typesDir = new URL('../machinery/api/types/', import.meta.url).pathname;
const EXTRAS = ['default', 'listType', 'listMapKeys', 'mapType', 'patchStrategy', 'patchMergeKey', 'pbName'];

function compactType(type: FactType): CompactType {
  if (type.alias !== undefined) {
    return { alias: type.alias, ...(type.enum && { enum: type.enum }), ...(type.pbWrapper && { pbWrapper: true }) };
  }
  const kept = Object.fromEntries(
    ['gvk', 'json', 'inlineRequired', 'mapType', 'unions', 'openapi'].filter((k) => k in type).map((k) => [k, type[k]]),
  );
  return { ...kept, ...(type.schema !== 'server' && { hidden: true as const }), fields: (type.fields ?? []).map(compactField) };
}

function compactField(field: FactField): Row {
  const flags = [field.omitempty && 'o', field.omitzero && 'z', field.ptr && 'p', field.required && 'r', field.inline && 'i']
    .filter(Boolean)
    .join('');
  const extras = Object.fromEntries(EXTRAS.filter((k) => k in field).map((k) => [k, field[k]]));
  const row: Row = [field.name, field.type, flags, field.pb ?? 0];
  if (Object.keys(extras).length > 0) row.push(extras);
  return row;
}

function writeFacts(facts: string): void {
  rmSync(dataDir, { recursive: true, force: true });
  mkdirSync(dataDir, { recursive: true });
  for (const file of readdirSync(join(facts, 'types'))) {
    const source = JSON.parse(readFileSync(join(facts, 'types', file), 'utf8'));
    if (file === 'scalars.json') {
      writeFileSync(join(dataDir, file), lines(source));
      continue;
    }
    const types = Object.fromEntries(
      Object.entries(source.types as Record<string, FactType>).map(([name, type]) => [name, compactType(type)]),
    );
    writeFileSync(join(dataDir, file), lines({ goPackage: source.goPackage, types }));
  }
  for (const file of ['resources.json', 'go-json.json']) {
    const source = JSON.parse(readFileSync(join(facts, file), 'utf8'));
    if (file === 'go-json.json') continue; // derivable from the flags
    writeFileSync(join(dataDir, file), lines({ groups: source.groups, offByDefault: source.offByDefault, resources: source.resources }));
  }
}

/** JSON with one line per entry of each top-level member, so that a change of one type is a change of one line. */
function lines(value: Record<string, unknown>): string {
  const members = Object.entries(value).map(([key, member]) => {
    if (typeof member !== 'object' || member === null) return `${JSON.stringify(key)}:${JSON.stringify(member)}`;
    const list = Array.isArray(member);
    const inner = list
      ? member.map((v) => JSON.stringify(v))
      : Object.entries(member).map(([k, v]) => `${JSON.stringify(k)}:${JSON.stringify(v)}`);
    return `${JSON.stringify(key)}:${list ? '[' : '{'}\n${inner.join(',\n')}\n${list ? ']' : '}'}`;
  });
  return `{${members.join(',\n')}}\n`;
}

const SCALARS: Record<string, string> = {
  string: 'string',
  bool: 'boolean',
  int32: 'number',
  int64: 'number',
  double: 'number',
  bytes: 'string',
  any: 'unknown',
  time: 'string',
  microTime: 'string',
  duration: 'string',
  quantity: 'string',
  intOrString: 'number | string',
  rawExtension: 'Record<string, unknown>',
  fieldsV1: 'Record<string, unknown>',
  json: 'unknown',
};

const alias = (stem: string): string => stem.replace(/[^A-Za-z0-9]+(.)/g, (_, c: string) => c.toUpperCase());

function tsType(expression: string, stem: string, imports: Set<string>): string {
  if (expression.startsWith('[]')) {
    const of = tsType(expression.slice(2), stem, imports);
    return of.includes('|') ? `(${of})[]` : `${of}[]`;
  }
  if (expression.startsWith('map[')) return `Record<string, ${tsType(expression.slice(expression.indexOf(']') + 1), stem, imports)}>`;
  if (Object.hasOwn(SCALARS, expression)) return SCALARS[expression]!;
  const dot = expression.lastIndexOf('.');
  const [owner, name] = [expression.slice(0, dot), expression.slice(dot + 1)];
  if (owner === stem) return name;
  imports.add(owner);
  return `${alias(owner)}.${name}`;
}

const isObjectPart = (type: CompactType, field: Row): boolean => Boolean(type.gvk) && (field[0] === 'metadata' || field[0] === 'spec');

function structText(name: string, type: CompactType, stem: string, imports: Set<string>): string {
  const bases: string[] = [];
  const members: string[] = [];
  for (const field of type.fields ?? []) {
    const [fieldName, expression, flags] = field;
    if (fieldName === '-') continue;
    if (flags.includes('i')) {
      if (expression === 'meta.v1.TypeMeta') members.push('  apiVersion: string;', '  kind: string;');
      else bases.push(tsType(expression, stem, imports));
      continue;
    }
    const needed = flags.includes('r') || (isObjectPart(type, field) && !flags.includes('p'));
    members.push(
      `  ${/^[A-Za-z_$][\w$]*$/.test(fieldName) ? fieldName : JSON.stringify(fieldName)}${needed ? '' : '?'}: ${tsType(expression, stem, imports)};`,
    );
  }
  const heritage = bases.length > 0 ? ` extends ${bases.join(', ')}` : '';
  return `export interface ${name}${heritage} {\n${members.join('\n')}\n}\n`;
}

function writeTypes(): void {
  rmSync(typesDir, { recursive: true, force: true });
  mkdirSync(typesDir, { recursive: true });
  for (const file of readdirSync(dataDir)) {
    if (file === 'resources.json' || file === 'scalars.json') continue;
    const stem = file.slice(0, -'.json'.length);
    const { types } = JSON.parse(readFileSync(join(dataDir, file), 'utf8')) as { types: Record<string, CompactType> };
    const imports = new Set<string>();
    const parts = Object.entries(types).map(([name, type]) => {
      if (type.json === 'custom') return `export type ${name} = unknown;\n`;
      if (type.enum) return `export type ${name} = ${type.enum.map((v) => `'${v}'`).join(' | ')};\n`;
      if (type.alias !== undefined) return `export type ${name} = ${tsType(type.alias, stem, imports)};\n`;
      return structText(name, type, stem, imports);
    });
    const head = [...imports].sort().map((s) => `import type * as ${alias(s)} from './${s}.ts';\n`);
    writeFileSync(
      join(typesDir, `${stem}.ts`),
      `// Generated by scripts/generate.ts from machinery/api/schema/data/${file}. Do not edit.\n${head.join('')}\n${parts.join('\n')}`,
    );
  }
}

const factsAt = process.argv.indexOf('--facts');
if (factsAt > 0) writeFacts(process.argv[factsAt + 1]!);
writeTypes();
