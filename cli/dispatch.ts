/** Finds the verb that a command line calls, reads its flags and runs it. Never throws: every failure ends as a text on stderr and an exit code. */
import { CliError, PlainError, renderError } from './errors.ts';
import { type ParsedLine, parseLine } from './flags.ts';
import { Session, type SessionDeps } from './session.ts';
import { PROGRAM, type Verb, type VerbEntry } from './verb.ts';
import { VERBS } from './verbs.ts';

interface Call {
  readonly name: string;
  readonly verb: Verb;
  readonly rest: readonly string[];
}

/** Resolves with the exit code. */
export async function dispatch(argv: readonly string[], deps: SessionDeps): Promise<number> {
  let session: Session | undefined;
  try {
    const call = await findCall(argv);
    if (call === undefined) return await topHelp(argv, deps);
    session = open(call, deps);
    if (call.verb.passThrough !== true && session.flags.bool('help')) return await verbHelp(call, deps);
    return await runCall(call, session);
  } catch (error) {
    const { text, exitCode } = renderError(error, session?.server);
    if (text !== '') deps.writeErr(`${text}\n`);
    return exitCode;
  } finally {
    await session?.close().catch(() => undefined);
  }
}

const lines = new WeakMap<Session, ParsedLine>();

function open(call: Call, deps: SessionDeps): Session {
  const line = call.verb.passThrough ? parseLine([], {}, call.name) : parseLine(call.rest, call.verb.flags ?? {}, call.name);
  const session = new Session(deps, line.flags, call.name);
  lines.set(session, call.verb.passThrough ? { ...line, words: [...call.rest] } : line);
  return session;
}

async function runCall(call: Call, session: Session): Promise<number> {
  const { words, flags } = lines.get(session)!;
  if (!call.verb.run) {
    if (words.length === 0) return verbHelp(call, session.deps);
    throw unknownCommand(words[0], call.name, Object.keys(call.verb.verbs ?? {}));
  }
  const answer = await call.verb.run(session, words, flags);
  const code = typeof answer === 'number' ? answer : 0;
  if (code === 0 && flags.bool('warnings-as-errors') && session.warnings > 0) {
    throw new CliError(session.warnings === 1 ? '1 warning received' : `${session.warnings} warnings received`);
  }
  return code;
}

/** Global flags may stand before the verb: `flyball -n web get pods`. */
async function findCall(argv: readonly string[]): Promise<Call | undefined> {
  const at = verbIndex(argv);
  if (at === undefined) return undefined;
  const before = argv.slice(0, at);
  const name = argv[at];
  if (!Object.hasOwn(VERBS, name)) throw unknownCommand(name, PROGRAM, Object.keys(VERBS));
  return descend({ name: `${PROGRAM} ${name}`, verb: await VERBS[name].load(), rest: [...before, ...argv.slice(at + 1)] }, before.length);
}

async function descend(call: Call, skip: number): Promise<Call> {
  const next = call.rest[skip];
  const table: Readonly<Record<string, VerbEntry>> = call.verb.verbs ?? {};
  if (next === undefined || !Object.hasOwn(table, next)) return call;
  const rest = [...call.rest.slice(0, skip), ...call.rest.slice(skip + 1)];
  return descend({ name: `${call.name} ${next}`, verb: await table[next].load(), rest }, skip);
}

function verbIndex(argv: readonly string[]): number | undefined {
  const takesValue = /^(-n|-s|--(kubeconfig|context|cluster|user|namespace|server|token|as|as-group|as-uid|request-timeout))$/;
  for (let i = 0; i < argv.length; i++) {
    if (!argv[i].startsWith('-')) return argv[i] === 'help' ? undefined : i;
    if (takesValue.test(argv[i])) i++;
  }
  return undefined;
}

function unknownCommand(word: string, parent: string, known: readonly string[]): CliError {
  const close = known
    .filter((name) => distance(word, name) <= 2 || name.startsWith(word))
    .sort((a, b) => distance(word, a) - distance(word, b));
  const hint = close.length === 0 ? '' : `\n\nDid you mean this?\n${close.map((name) => `\t${name}`).join('\n')}\n`;
  return new PlainError(`error: unknown command "${word}" for "${parent}"${hint}`);
}

/** Levenshtein distance. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
    row = next;
  }
  return row[b.length];
}

async function topHelp(argv: readonly string[], deps: SessionDeps): Promise<number> {
  const { helpOfAll, helpOfVerb } = await import('./help.ts');
  const path = argv.filter((word) => !word.startsWith('-') && word !== 'help');
  const unknown = argv.find((word) => word.startsWith('-') && !['-h', '--help'].includes(word));
  if (unknown !== undefined && path.length === 0) throw new CliError(`unknown flag: ${unknown}\nSee '${PROGRAM} --help' for usage.`);
  if (path.length === 0) deps.writeOut(helpOfAll());
  else {
    const call = await findCall(path);
    deps.writeOut(await helpOfVerb(call!.name, call!.verb));
  }
  return 0;
}

async function verbHelp(call: Call, deps: SessionDeps): Promise<number> {
  const { helpOfVerb } = await import('./help.ts');
  deps.writeOut(await helpOfVerb(call.name, call.verb));
  return 0;
}
