/** `explain`: the fields of a resource, from the server's OpenAPI v3 documents. Mirrors kubectl `pkg/explain` (plaintext template). */
import type { Resource } from '../discovery/mapper.ts';
import { CliError, PlainError } from '../errors.ts';
import type { Session } from '../session.ts';
import type { Verb } from '../verb.ts';

export const verb: Verb = {
  usage: 'TYPE [--recursive=FALSE|TRUE] [--api-version=api-version-group]',
  flags: {
    'api-version': { type: 'string', help: 'Use given api-version (group/version) of the resource' },
    recursive: { type: 'boolean', help: 'When true, print the name of all the fields recursively' },
    output: { type: 'string', default: 'plaintext', help: 'Format in which to render the schema. Valid values are: (plaintext)' },
  },
  run: explain,
};

interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly enum?: readonly unknown[];
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-group-version-kind'?: readonly { group: string; version: string; kind: string }[];
}
type Schemas = Readonly<Record<string, Schema>>;

const WIDTH = 76;
/** A longer list of values is cut inside a field list. */
const SHOWN_ENUMS = 4;

async function explain(session: Session, args: readonly string[]): Promise<void> {
  const { flags } = session;
  if (args.length === 0)
    throw new CliError(
      `You must specify the type of resource to explain. Use "${session.verb.split(' ')[0]} api-resources" for a complete list of supported resources.`,
    );
  if (args.length > 1) throw new CliError(`We accept only this format: explain RESOURCE\nSee '${session.verb} -h' for help and examples`);
  if (flags.string('output') !== 'plaintext') throw new CliError(`unrecognized format: ${flags.string('output')}`);
  const { resource, path } = await target(session, args[0]);
  const schemas = await schemasOf(session, resource);
  const kindSchema = Object.values(schemas).find((schema) =>
    schema['x-kubernetes-group-version-kind']?.some(
      (gvk) => gvk.group === resource.group && gvk.version === resource.version && gvk.kind === resource.kind,
    ),
  );
  if (!kindSchema) throw new CliError(`couldn't find resource for "${resource.group}/${resource.version}, Kind=${resource.kind}"`);
  session.out(
    `${resource.group === '' ? '' : `GROUP:      ${resource.group}\n`}KIND:       ${resource.kind}\nVERSION:    ${resource.version}\n\n`,
  );
  session.out(new Explainer(schemas).text({ schema: kindSchema, path, recursive: flags.bool('recursive') }));
}

async function target(session: Session, word: string): Promise<{ resource: Resource; path: string[] }> {
  const mapper = await session.mapper();
  const text = word.replace(/\.$/, '');
  const parts = text.split('.');
  const version = session.flags.string('api-version');
  const found = mapper.find(parts[0]);
  if (!found) throw new PlainError(`the server doesn't have a resource type "${parts[0]}"`);
  // Only the whole plural name with its group is more than fields: `deployments.apps.spec`.
  const qualified = mapper.discovered.resources.find((r) => r.group !== '' && `${text}.`.startsWith(`${r.resource}.${r.group}.`));
  if (qualified && version === '')
    return {
      resource: qualified,
      path: text
        .slice(`${qualified.resource}.${qualified.group}`.length + 1)
        .split('.')
        .filter((p) => p !== ''),
    };
  if (version === '') return { resource: found, path: parts.slice(1) };
  const chosen = mapper.discovered.resources.find(
    (r) => r.resource === found.resource && (r.group === '' ? r.version : `${r.group}/${r.version}`) === version,
  );
  if (!chosen) throw new CliError(`couldn't find resource for "${version}, Resource=${found.resource}"`);
  return { resource: chosen, path: parts.slice(1) };
}

async function schemasOf(session: Session, resource: Resource): Promise<Schemas> {
  const index = await session.api.json<{ paths: Record<string, { serverRelativeURL: string }> }>({ path: '/openapi/v3' });
  const name = resource.group === '' ? `api/${resource.version}` : `apis/${resource.group}/${resource.version}`;
  const entry = index.paths[name];
  if (!entry) throw new CliError(`couldn't find resource for "${resource.group}/${resource.version}, Kind=${resource.kind}"`);
  const document = await session.api.json<{ components?: { schemas?: Schemas } }>({ path: entry.serverRelativeURL });
  return document.components?.schemas ?? {};
}

interface Explained {
  readonly schema: Schema;
  readonly path: readonly string[];
  readonly recursive: boolean;
}

class Explainer {
  readonly #schemas: Schemas;
  constructor(schemas: Schemas) {
    this.#schemas = schemas;
  }

  text({ schema, path, recursive }: Explained): string {
    const { field, name } = this.#walk(schema, path);
    const fieldHead = path.length === 0 ? '' : `FIELD: ${name} <${this.#typeName(field)}>\n${enumBlock(field)}\n`;
    const description = [...new Set([field.description, this.#element(field).description])].filter((text) => text).join('\n');
    // kubectl indents the line that ends a description, too
    const body = `DESCRIPTION:\n${description === '' ? '    <empty>' : `${indent(wrap(description), 4)}\n    `}\n`;
    return `${fieldHead}${body}${this.#fields(field, recursive)}\n`;
  }

  #walk(root: Schema, path: readonly string[]): { field: Schema; name: string } {
    let field = root;
    for (const name of path) {
      const inner = this.#element(field);
      const next = inner.properties && Object.hasOwn(inner.properties, name) ? inner.properties[name] : undefined;
      if (!next) throw new CliError(`field "${name}" does not exist`);
      field = next;
    }
    return { field, name: path[path.length - 1] ?? '' };
  }

  #resolve(schema: Schema): Schema {
    const ref = schema.$ref ?? schema.allOf?.[0]?.$ref;
    return ref ? (this.#schemas[ref.slice(ref.lastIndexOf('/') + 1)] ?? {}) : schema;
  }

  /** The schema whose fields are listed: through references, lists and maps. */
  #element(schema: Schema): Schema {
    const resolved = this.#resolve(schema);
    if (resolved.items) return this.#element(resolved.items);
    if (typeof resolved.additionalProperties === 'object') return this.#element(resolved.additionalProperties);
    return resolved;
  }

  #typeName(schema: Schema): string {
    const ref = schema.$ref ?? schema.allOf?.[0]?.$ref;
    if (ref) {
      const name = ref.slice(ref.lastIndexOf('.') + 1);
      return name === 'Time' || name === 'MicroTime' ? (this.#resolve(schema).type ?? 'string') : name;
    }
    if (schema.items) return `[]${this.#typeName(schema.items)}`;
    if (typeof schema.additionalProperties === 'object') return `map[string]${this.#typeName(schema.additionalProperties)}`;
    if (schema['x-kubernetes-int-or-string']) return 'IntOrString';
    return schema.type === undefined || schema.type === 'object' ? 'Object' : schema.type;
  }

  #fields(schema: Schema, recursive: boolean): string {
    const { properties, required } = this.#element(schema);
    if (!properties) return '';
    return `FIELDS:\n${this.#list(properties, { required: required ?? [], level: 1, recursive, seen: [schema] })}`;
  }

  #list(
    properties: Readonly<Record<string, Schema>>,
    at: { required: readonly string[]; level: number; recursive: boolean; seen: readonly Schema[] },
  ): string {
    const space = '  '.repeat(at.level);
    return Object.keys(properties)
      .sort()
      .map((name) => {
        const field = properties[name];
        const line = `${space}${name}\t<${this.#typeName(field)}>${at.required.includes(name) ? ' -required-' : ''}\n${shortEnum(field, space)}`;
        if (!at.recursive) return `${line}${indent(wrap(field.description ?? '<no description>'), 4)}\n\n`;
        const inner = this.#element(field);
        if (!inner.properties || at.seen.includes(inner)) return line;
        return (
          line + this.#list(inner.properties, { ...at, required: inner.required ?? [], level: at.level + 1, seen: [...at.seen, inner] })
        );
      })
      .join('');
  }
}

function enumBlock(schema: Schema): string {
  const values = schema.enum ?? [];
  return values.length === 0 ? '\n' : `ENUM:\n${values.map((value) => `    ${value === '' ? '""' : String(value)}\n`).join('')}`;
}

function shortEnum(schema: Schema, space: string): string {
  const values = (schema.enum ?? []).map((value) => (value === '' ? '""' : String(value)));
  if (values.length === 0) return '';
  return `${space}enum: ${values.slice(0, SHOWN_ENUMS).join(', ')}${values.length > SHOWN_ENUMS ? ', ....' : ''}\n`;
}

const indent = (text: string, spaces: number): string =>
  text
    .split('\n')
    .map((line) => ' '.repeat(spaces) + line)
    .join('\n');

function wrap(text: string): string {
  return text
    .split('\n')
    .map((line) => {
      let out = '';
      let length = 0;
      for (const word of line.split(' ')) {
        if (length > 0 && length + 1 + word.length > WIDTH) {
          out += `\n${word}`;
          length = word.length;
        } else {
          out += length === 0 && out === '' ? word : ` ${word}`;
          length += word.length + 1;
        }
      }
      return out;
    })
    .join('\n');
}
