/**
 * Parses Go templates (text/template) as far as people use them with `-o go-template`: fields, variables, pipelines, range, with, if/else, `{{-` trimming,
 * comments, quoted and raw strings, numbers, calls with arguments.
 */
export type Operand =
  | { readonly type: 'field'; readonly path: readonly string[] }
  | { readonly type: 'variable'; readonly name: string; readonly path: readonly string[] }
  | { readonly type: 'constant'; readonly value: unknown }
  | { readonly type: 'function'; readonly name: string }
  | { readonly type: 'pipeline'; readonly pipeline: Pipeline; readonly path: readonly string[] };

export interface Pipeline {
  /** Variables set by it: `$x :=`, `$k, $v :=`. */
  readonly sets: readonly string[];
  readonly declares: boolean;
  readonly commands: readonly (readonly Operand[])[];
}

export type TemplateNode =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'action'; readonly pipeline: Pipeline }
  | {
      readonly type: 'if' | 'range' | 'with';
      readonly pipeline: Pipeline;
      readonly body: TemplateNode[];
      readonly otherwise: TemplateNode[];
    }
  | { readonly type: 'break' | 'continue' };

interface Piece {
  readonly text?: string;
  readonly action?: string;
}

/** Throws Error with a short reason. */
export function parseGoTemplate(source: string): TemplateNode[] {
  const pieces = split(source);
  const { nodes, stop } = block(pieces, { at: 0 });
  if (stop !== undefined) throw new Error(`unexpected {{${stop}}}`);
  return nodes;
}

function split(source: string): Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  let trimNext = false;
  for (const match of source.matchAll(
    /\{\{(-(?=\s))?((?:"(?:\\.|[^"\\])*"|`[^`]*`|'(?:\\.|[^'\\])*'|\/\*[\s\S]*?\*\/|[^}"`']|\}(?!\}))*?)(\s-)?\}\}/g,
  )) {
    let text = source.slice(at, match.index);
    if (trimNext) text = text.trimStart();
    if (match[1]) text = text.trimEnd();
    if (text !== '') pieces.push({ text });
    pieces.push({ action: match[2].trim() });
    trimNext = match[3] !== undefined;
    at = match.index + match[0].length;
  }
  const rest = trimNext ? source.slice(at).trimStart() : source.slice(at);
  if (rest.includes('{{')) throw new Error('unclosed action');
  if (rest !== '') pieces.push({ text: rest });
  return pieces;
}

function block(pieces: readonly Piece[], cursor: { at: number }): { nodes: TemplateNode[]; stop?: string } {
  const nodes: TemplateNode[] = [];
  while (cursor.at < pieces.length) {
    const { text, action = '' } = pieces[cursor.at++];
    if (text !== undefined) {
      nodes.push({ type: 'text', text });
      continue;
    }
    if (action.startsWith('/*')) continue;
    if (action === 'end' || action === 'else' || /^else\s/.test(action)) return { nodes, stop: action };
    if (action === 'break' || action === 'continue') nodes.push({ type: action });
    else {
      const control = /^(if|range|with)\s+([\s\S]*)$/.exec(action);
      nodes.push(
        control ? controlNode(control[1] as 'if', control[2], { pieces, cursor }) : { type: 'action', pipeline: parsePipeline(action) },
      );
    }
  }
  return { nodes };
}

function controlNode(
  type: 'if' | 'range' | 'with',
  text: string,
  from: { pieces: readonly Piece[]; cursor: { at: number } },
): TemplateNode {
  const pipeline = parsePipeline(text);
  const body = block(from.pieces, from.cursor);
  if (body.stop === undefined) throw new Error('unexpected EOF');
  let otherwise: TemplateNode[] = [];
  const elseControl = /^else\s+(if|with)\s+([\s\S]*)$/.exec(body.stop);
  if (elseControl) otherwise = [controlNode(elseControl[1] as 'if', elseControl[2], from)];
  else if (body.stop === 'else') {
    const rest = block(from.pieces, from.cursor);
    if (rest.stop !== 'end') throw new Error('unexpected EOF');
    otherwise = rest.nodes;
  }
  return { type, pipeline, body: body.nodes, otherwise };
}

const TOKEN =
  /\s+|"(?:\\.|[^"\\])*"|`[^`]*`|'(?:\\.|[^'\\])+'|[-+]?\d[\w.]*|\$\w*|(?:\.[\p{L}_][\w\p{L}]*)|\.|:=|=|[|(),]|[\p{L}_][\w\p{L}]*/uy;

function tokens(text: string): string[] {
  const out: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const from = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    if (!match) throw new Error(`unexpected "${text[from]}" in command`);
    out.push(match[0].trim() === '' ? ' ' : match[0]);
  }
  return out;
}

function parsePipeline(text: string): Pipeline {
  const words = tokens(text.trim());
  if (words.length === 0) throw new Error('missing value for command');
  const cursor = { at: 0 };
  const pipeline = pipelineFrom(words, cursor);
  if (cursor.at < words.length) throw new Error(`unexpected "${words[cursor.at]}" in command`);
  return pipeline;
}

function pipelineFrom(words: readonly string[], cursor: { at: number }): Pipeline {
  const { sets, declares } = assignment(words, cursor);
  const commands: Operand[][] = [[]];
  for (; cursor.at < words.length && words[cursor.at] !== ')'; ) {
    const word = words[cursor.at];
    if (word === ' ') cursor.at++;
    else if (word === '|') {
      cursor.at++;
      commands.push([]);
    } else commands[commands.length - 1].push(operand(words, cursor));
  }
  if (commands.some((command) => command.length === 0)) throw new Error('missing value for command');
  return { sets, declares, commands };
}

function assignment(words: readonly string[], cursor: { at: number }): { sets: string[]; declares: boolean } {
  const at = words.findIndex((word) => word === ':=' || word === '=');
  const head = at < 0 ? [] : words.slice(cursor.at, at);
  if (at < cursor.at || !head.every((word) => word === ' ' || word === ',' || word.startsWith('$'))) return { sets: [], declares: false };
  cursor.at = at + 1;
  return { sets: head.filter((word) => word.startsWith('$')), declares: words[at] === ':=' };
}

function fields(words: readonly string[], cursor: { at: number }): string[] {
  const path: string[] = [];
  while (/^\.[\p{L}_]/u.test(words[cursor.at] ?? '')) path.push(words[cursor.at++].slice(1));
  return path;
}

function operand(words: readonly string[], cursor: { at: number }): Operand {
  const word = words[cursor.at];
  if (word === '(') {
    cursor.at++;
    const pipeline = pipelineFrom(words, cursor);
    if (words[cursor.at] !== ')') throw new Error('unclosed left paren');
    cursor.at++;
    return { type: 'pipeline', pipeline, path: fields(words, cursor) };
  }
  if (/^\.[\p{L}_]/u.test(word)) return { type: 'field', path: fields(words, cursor) };
  cursor.at++;
  if (word === '.') return { type: 'field', path: [] };
  if (word.startsWith('$')) return { type: 'variable', name: word, path: fields(words, cursor) };
  if (word.startsWith('"'))
    return {
      type: 'constant',
      value: JSON.parse(
        word
          .replace(/\\x([0-9a-f]{2})/gi, '\\u00$1')
          .replace(/\\a/g, '\\u0007')
          .replace(/\\v/g, '\\u000b'),
      ),
    };
  if (word.startsWith('`')) return { type: 'constant', value: word.slice(1, -1) };
  if (word.startsWith("'")) return { type: 'constant', value: word.codePointAt(1) };
  if (/^[-+]?\d/.test(word)) return { type: 'constant', value: Number(word) };
  if (word === 'true' || word === 'false') return { type: 'constant', value: word === 'true' };
  if (word === 'nil') return { type: 'constant', value: null };
  if (/^[\p{L}_]/u.test(word)) return { type: 'function', name: word };
  throw new Error(`unexpected "${word}" in operand`);
}
