/**
 * YAML as kubectl and the API server read it: `yes`, `on` and `y` are booleans, `1:30` and dates are strings, keys become strings,
 * `010` is eight. The syntax is js-yaml's work; what scalars mean, repeated keys, merges and aliases are decided here, with
 * go-yaml's wording. Mirrors sigs.k8s.io/yaml over go-yaml v2. Writing is in yaml-format.ts.
 */
import { type Event, getScalarValue, parseEvents, SCALAR_STYLE, type ScalarEvent, YAMLException } from 'js-yaml';
import { jsonNumber } from './json-number.ts';
import { type Plain, setOwn } from './plain.ts';
import { formatYamlValue } from './yaml-format.ts';
import { goFloat, resolvePlain } from './yaml-scalars.ts';

/** The message is upstream's, `yaml: ` included. */
export class YamlError extends Error {}

export interface ReadYaml {
  /** As parseJson would give it; null for an empty document. */
  readonly value: unknown;
  /** `line 7: key "k" already set in map`, for each repeated key. */
  readonly problems: string[];
}

/** The first document. Throws YamlError. */
export function parseYaml(text: string): unknown {
  return readYaml(text).value;
}

/** The first document with what a strict reader complains of. Throws YamlError. */
export function readYaml(text: string): ReadYaml {
  const [first] = documentsOf(text);
  return first === undefined ? { value: null, problems: [] } : new Decoder(text).document(first);
}

/** All documents that hold something, as `kubectl apply -f` reads a file. Throws YamlError. */
export function parseYamlDocuments(text: string): unknown[] {
  return documentsOf(text)
    .map((root) => new Decoder(text).document(root).value)
    .filter((value) => value !== null);
}

/** As `kubectl get -o yaml` and the API server print it: keys sorted, two spaces, lists not indented. Ends with a newline. */
export function formatYaml(value: unknown): string {
  return formatYamlValue(value);
}

interface ScalarNode {
  readonly kind: 'scalar';
  readonly event: ScalarEvent;
  readonly at: number;
}
interface SequenceNode {
  readonly kind: 'sequence';
  readonly items: Node[];
  readonly at: number;
}
interface MappingNode {
  readonly kind: 'mapping';
  /** Keys and values in turn. */
  readonly items: Node[];
  readonly at: number;
}
interface AliasNode {
  readonly kind: 'alias';
  readonly name: string;
  readonly target: Node | undefined;
  readonly at: number;
}
type Node = ScalarNode | SequenceNode | MappingNode | AliasNode;

const CONTROL = /[^\t\n\r\u0020-\u007e\u0085\u00a0-\ud7ff\ud800-\udfff\ue000-\ufefe\uff00-\ufffd]/;
/** Deep enough for any manifest, shallow enough for our stack. */
const MAX_DEPTH = 1000;

function documentsOf(text: string): Node[] {
  if (CONTROL.test(text.startsWith('\ufeff') ? text.slice(1) : text)) throw new YamlError('yaml: control characters are not allowed');
  let events: Event[];
  try {
    events = parseEvents(withoutFlowTabs(text), { maxDepth: MAX_DEPTH });
  } catch (error) {
    throw error instanceof YAMLException ? new YamlError(syntaxText(error), { cause: error }) : error;
  }
  return buildNodes(text, events);
}

/** A document that is one flow collection (JSON) may be indented with tabs: they are read as blanks, which keeps every position. */
function withoutFlowTabs(text: string): string {
  if (!text.includes('\t') || !/^\s*[[{]/.test(text)) return text;
  return text.replaceAll(FLOW_PART, (part) => (part.startsWith('\t') ? ' '.repeat(part.length) : part));
}

/** Quoted scalars, which keep their tabs, or a run of tabs. */
const FLOW_PART = /"(?:[^"\\]|\\.)*"|(?<=[[{,:]\s*)'(?:[^']|'')*'|\t+/gs;

/** js-yaml's complaints in go-yaml's words. */
const WORDINGS: readonly (readonly [RegExp, string])[] = [
  [/document separator is expected/, 'did not find expected <document start>'],
  [/nesting|depth/, 'exceeded max depth of 10000'],
];

function syntaxText(error: YAMLException): string {
  const { mark, reason } = error as YAMLException & { reason: string };
  const source = mark === undefined ? '' : (mark as { buffer: string }).buffer;
  const position = mark === undefined ? 0 : (mark as { position: number }).position;
  const line = source.slice(0, position).split('\n').length;
  if (/[@`%]/.test(source[position] ?? '')) return scannerText(line, 'found character that cannot start any token');
  if (/tab characters must not/.test(reason)) return scannerText(line, tabText(source.slice(0, position)));
  if (/within a (double|single) quoted/.test(reason)) return scannerText(lineOfQuote(source, position), 'found unexpected end of stream');
  if (/mapping entry/.test(reason)) return scannerText(line, 'mapping values are not allowed in this context');
  if (/within a flow|deficient indentation/.test(reason))
    return `yaml: line ${lineOfEnd(source, position)}: ${flowText(source.slice(0, position))}`;
  const known = WORDINGS.find(([pattern]) => pattern.test(reason));
  return `yaml: line ${lineOfEnd(source, position)}: ${known?.[1] ?? reason}`;
}

/** go-yaml's scanner does not name the first line. */
const scannerText = (line: number, what: string): string => `yaml: ${line > 1 ? `line ${line}: ` : ''}${what}`;

/** A tab at the start of a line: where a node is due, in a block scalar, or in the middle of a plain one. */
function tabText(before: string): string {
  const last = before.trimEnd().split('\n').at(-1) ?? '';
  if (/[|>][-+0-9]*$/.test(last)) return 'found a tab character where an indentation space is expected';
  return /(^|[:?-])$/.test(last) ? 'found character that cannot start any token' : 'found a tab character that violates indentation';
}

/** Where the scalar begins that the end of the text cuts short. */
function lineOfQuote(source: string, position: number): number {
  const quotes = [...source.slice(0, position).matchAll(/(?:^|[\s[{,:-])["']/g)];
  return source.slice(0, (quotes.at(-1)?.index ?? 0) + 1).split('\n').length;
}

/** What the parser stumbles over at the end of the text is at its last line that holds something. */
function lineOfEnd(source: string, position: number): number {
  const end = Math.min(position, source.trimEnd().length);
  return source.slice(0, end).split('\n').length;
}

/** A flow collection that is cut short misses its next node, or what should follow one. */
function flowText(before: string): string {
  if (/[[{,:]\s*$/.test(before)) return 'did not find expected node content';
  const open: string[] = [];
  for (const c of before) {
    if (c === '[' || c === '{') open.push(c);
    else if (c === ']' || c === '}') open.pop();
  }
  return `did not find expected ',' or '${open.at(-1) === '{' ? '}' : ']'}'`;
}

/** Events to trees, aliases tied to the node they name. */
function buildNodes(text: string, events: readonly Event[]): Node[] {
  const roots: Node[] = [];
  let anchors = new Map<string, Node>();
  const open: Node[][] = [];
  const place = (node: Node, event: { anchorStart: number; anchorEnd: number }): void => {
    if (event.anchorStart >= 0) anchors.set(text.slice(event.anchorStart, event.anchorEnd), node);
    open[open.length - 1]!.push(node);
  };
  for (const event of events) {
    switch (event.type) {
      case 1:
        open.push(roots);
        anchors = new Map();
        break;
      case 2:
      case 3: {
        const items: Node[] = [];
        const node: Node = { kind: event.type === 2 ? 'sequence' : 'mapping', items, at: event.start };
        place(node, event);
        open.push(items);
        break;
      }
      case 4:
        place({ kind: 'scalar', event, at: event.valueStart }, event);
        break;
      case 5: {
        const name = text.slice(event.anchorStart, event.anchorEnd);
        open[open.length - 1]!.push({ kind: 'alias', name, target: anchors.get(name), at: event.anchorStart });
        break;
      }
      default:
        open.pop();
    }
  }
  return roots;
}

class Decoder {
  readonly #text: string;
  readonly #problems: string[] = [];
  readonly #within = new Set<Node>();
  #decoded = 0;
  #viaAlias = 0;
  #aliasDepth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(root: Node): ReadYaml {
    return { value: this.#value(root), problems: this.#problems };
  }

  #value(node: Node): unknown {
    this.#count();
    switch (node.kind) {
      case 'scalar':
        return this.#scalar(node);
      case 'sequence':
        return this.#inside(node, () => node.items.map((item) => this.#value(item)));
      case 'mapping':
        return this.#inside(node, () => this.#mapping(node));
      case 'alias':
        return this.#alias(node, (target) => this.#value(target));
    }
  }

  /** Go's measure against documents that unfold without end: the share of nodes reached through aliases. */
  #count(): void {
    this.#decoded++;
    if (this.#aliasDepth > 0) this.#viaAlias++;
    const allowed =
      this.#decoded <= 400_000 ? 0.99 : this.#decoded >= 4_000_000 ? 0.1 : 0.99 - (0.89 * (this.#decoded - 400_000)) / 3_600_000;
    if (this.#viaAlias > 100 && this.#decoded > 1000 && this.#viaAlias / this.#decoded > allowed) {
      throw new YamlError('yaml: document contains excessive aliasing');
    }
  }

  #inside<T>(node: Node, decode: () => T): T {
    this.#within.add(node);
    const result = decode();
    this.#within.delete(node);
    return result;
  }

  #alias<T>(node: AliasNode, decode: (target: Node) => T): T {
    if (node.target === undefined) throw new YamlError(`yaml: unknown anchor '${node.name}' referenced`);
    if (this.#within.has(node.target)) throw new YamlError(`yaml: anchor '${node.name}' value contains itself`);
    this.#aliasDepth++;
    const result = decode(node.target);
    this.#aliasDepth--;
    return result;
  }

  #scalar(node: ScalarNode): unknown {
    const { event } = node;
    const text = getScalarValue(this.#text, event);
    const tag = event.tagStart < 0 ? '' : this.#text.slice(event.tagStart, event.tagEnd);
    if (tag === '!!binary') return Buffer.from(text, 'base64').toString('utf8');
    if (tag === '!!str' || tag === '!' || (tag === '' && event.style !== SCALAR_STYLE.PLAIN)) return text;
    const resolved = resolvePlain(text);
    if (tag === '!!float' && resolved.type === 'int') return jsonNumber(resolved.text);
    switch (resolved.type) {
      case 'null':
        return null;
      case 'bool':
        return resolved.text === 'true';
      case 'int':
        return jsonNumber(resolved.text);
      case 'float':
        return floatValue(resolved.text);
      default:
        return text;
    }
  }

  #mapping(node: MappingNode): Plain {
    const result: Plain = {};
    const seen = new Set<string>();
    const merges: Node[] = [];
    for (let i = 0; i < node.items.length; i += 2) {
      const [keyNode, valueNode] = [node.items[i]!, node.items[i + 1]!];
      if (isMergeKey(this.#text, keyNode)) {
        merges.push(valueNode);
        continue;
      }
      const value = this.#value(valueNode);
      const key = this.#key(keyNode, value);
      if (seen.has(key)) this.#repeated(key, keyNode);
      seen.add(key);
      setOwn(result, key, value);
    }
    for (const merge of merges) this.#merge(result, merge, seen);
    return result;
  }

  #repeated(key: string, node: Node): void {
    const line = this.#text.slice(0, node.at).split('\n').length;
    this.#problems.push(`line ${line}: key ${JSON.stringify(key)} already set in map`);
  }

  /** `<<: *base` and `<<: [*a, *b]`; go-yaml lets what is merged later win, and says so when a key was set. */
  #merge(into: Plain, node: Node, seen: Set<string>): void {
    const source = node.kind === 'alias' ? node.target : node;
    if (source?.kind === 'sequence') {
      for (const item of source.items.toReversed()) this.#merge(into, item, new Set());
      return;
    }
    const value = this.#value(node);
    if (source?.kind !== 'mapping') throw new YamlError('yaml: map merge requires map or sequence of maps as the value');
    source.items.forEach((keyNode, i) => {
      if (i % 2 !== 0) return;
      const key = this.#key(keyNode, undefined);
      if (seen.has(key)) this.#repeated(key, keyNode);
      setOwn(into, key, (value as Plain)[key]);
    });
  }

  /** A key as JSON needs it: a string. */
  #key(node: Node, value: unknown): string {
    const key = this.#value(node);
    if (typeof key === 'string') return key;
    if (key === null) throw new YamlError(`unsupported map key of type: %!s(<nil>), key: <nil>, value: ${JSON.stringify(value)}`);
    if (typeof key === 'object' && !('isJsonNumber' in (key as object))) throw new YamlError(`yaml: invalid map key: ${goSyntax(key)}`);
    return typeof key === 'number' && !Number.isInteger(key) ? goFloat(key) : String(key);
  }
}

function isMergeKey(text: string, node: Node): boolean {
  return (
    node.kind === 'scalar' &&
    node.event.style === SCALAR_STYLE.PLAIN &&
    node.event.tagStart < 0 &&
    getScalarValue(text, node.event) === '<<'
  );
}

/** A float as json.Marshal would write it for the JSON parser to read. */
function floatValue(text: string): unknown {
  const value = Number(text);
  if (Number.isNaN(value)) throw new YamlError('json: unsupported value: NaN');
  if (!Number.isFinite(value)) throw new YamlError(`json: unsupported value: ${value < 0 ? '-' : '+'}Inf`);
  return jsonNumber(String(value));
}

/** Go's %#v of what a key was. */
function goSyntax(value: unknown): string {
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`;
  if (typeof value === 'object' && value !== null) {
    return `map[interface {}]interface {}{${Object.entries(value)
      .map(([k, v]) => `${JSON.stringify(k)}:${goSyntax(v)}`)
      .join(', ')}}`;
  }
  return JSON.stringify(value) ?? 'interface {}(nil)';
}
