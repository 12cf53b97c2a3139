/**
 * Understands the commands people put into test pods: `sleep N`, `true`, `false`, `exit N`, `echo …`, `sh -c "a; b && c"`, `while true; do …; done`.
 * Pure: turns a command line into a script of timed steps that the simulated runtime plays.
 *
 * What is not understood runs until it is stopped, as a server would.
 */

export type Step =
  | { readonly do: 'log'; readonly text: string; readonly stream: 'stdout' | 'stderr' }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'exit'; readonly code: number };

export interface Script {
  readonly steps: readonly Step[];
  /** What comes after the last step: 'end' exits with `code`, 'run' goes on until stopped, 'repeat' starts over. */
  readonly after: 'end' | 'run' | 'repeat';
  readonly code: number;
  /** False for a shell or sleep as process 1: the kernel delivers no SIGTERM to them, so only SIGKILL ends them. */
  readonly obeysTerm: boolean;
}

const RUN: Script = { steps: [], after: 'run', code: 0, obeysTerm: true };
const MAX_STEPS = 1000;
const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const SHELLS = new Set(['sh', 'bash', 'ash', 'dash']);

/** The script of `command` + `args`; undefined when there is no command at all. */
export function scriptOf(command: readonly string[], args: readonly string[]): Script | undefined {
  const words = [...command, ...args];
  if (words.length === 0) return undefined;
  // Arguments alone go to the image's own entrypoint, unless they read like a command (`kubectl run x --image=busybox -- sleep 5`).
  if (command.length === 0 && !isKnown(words[0] as string)) return undefined;
  const first = baseName(words[0] as string);
  if (SHELLS.has(first)) {
    const flag = words.findIndex((word, index) => index > 0 && /^-[a-z]*c[a-z]*$/.test(word));
    return flag > 0 && words[flag + 1] !== undefined ? shellScript(words[flag + 1] as string) : { ...RUN, obeysTerm: false };
  }
  return simpleCommand(words) ?? RUN;
}

function isKnown(word: string): boolean {
  const name = baseName(word);
  return (
    SHELLS.has(name) ||
    ['sleep', 'true', 'false', 'echo', 'printf', 'exit', 'tail', 'pause', 'date', 'hostname', 'ls', 'cat', 'env'].includes(name)
  );
}

const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** A shell line: commands joined by `;`, `&&`, `||` and newlines, one infinite loop at the end. */
function shellScript(text: string): Script {
  const loop =
    /^(?<before>[\s\S]*?)(?:^|[;\n&]\s*)\s*(?:while\s+(?:true|:|\[\s*1\s*\]|sleep\s+(?<every>\S+?))\s*|until\s+false\s*|for\s*\(\(\s*;\s*;\s*\)\)\s*)(?:;|\n)\s*do\b(?<body>[\s\S]*?)(?:;|\n)\s*done\s*$/.exec(
      text.trim(),
    );
  if (loop?.groups) {
    const every = loop.groups['every'] ? `sleep ${loop.groups['every']};` : '';
    return repeating(sequence(loop.groups['before'] ?? ''), sequence(every + (loop.groups['body'] ?? '')));
  }
  const script = sequence(text);
  return { ...script, obeysTerm: false };
}

function repeating(before: Script, body: Script): Script {
  if (before.after === 'run' || before.steps.at(-1)?.do === 'exit') return { ...before, obeysTerm: false };
  const pause = body.steps.some((step) => step.do === 'wait' && step.ms > 0);
  // A loop that never waits would print for ever: it gets a second between its rounds.
  const steps = pause ? body.steps : [...body.steps, { do: 'wait', ms: 1000 } as const];
  if (before.steps.length === 0) return { steps, after: 'repeat', code: 0, obeysTerm: false };
  // Played once, then repeated as a whole would print the preface again, so the rounds are written out.
  const rounds = Array.from(
    { length: Math.max(1, Math.floor((MAX_STEPS - before.steps.length) / Math.max(1, steps.length))) },
    () => steps,
  ).flat();
  return { steps: [...before.steps, ...rounds], after: 'run', code: 0, obeysTerm: false };
}

function sequence(text: string): Script {
  const steps: Step[] = [];
  let code = 0;
  let join = ';';
  for (const { command, next } of splitCommands(text)) {
    const skip = (join === '&&' && code !== 0) || (join === '||' && code === 0);
    join = next;
    if (skip || command === '') continue;
    const script = simpleCommand(shellWords(command));
    if (!script) return { steps, after: 'run', code: 0, obeysTerm: false };
    steps.push(...script.steps);
    if (script.after === 'run') return { steps, after: 'run', code: 0, obeysTerm: false };
    if (script.steps.at(-1)?.do === 'exit') return { steps, after: 'end', code: script.code, obeysTerm: false };
    code = script.code;
  }
  return { steps: steps.slice(0, MAX_STEPS), after: 'end', code, obeysTerm: false };
}

function simpleCommand(words: readonly string[]): Script | undefined {
  const name = baseName(words[0] ?? '');
  const rest = words.slice(1);
  const ends = (code: number, ...steps: Step[]): Script => ({ steps, after: 'end', code, obeysTerm: true });
  const redirected = rest.findIndex((word) => /^[12&]?>/.test(word));
  const argsOf = redirected < 0 ? rest : rest.slice(0, redirected);
  switch (name) {
    case '':
    case ':':
    case 'true':
    case 'set':
    case 'export':
    case 'trap':
    case 'cd':
    case 'mkdir':
    case 'touch':
      return ends(0);
    case 'false':
      return ends(1);
    case 'exit':
      return ends(exitCode(rest[0]), { do: 'exit', code: exitCode(rest[0]) });
    case 'sleep':
      return sleepScript(rest);
    case 'echo':
      return echo(rest, argsOf.filter((word) => !/^-[neE]+$/.test(word)).join(' '));
    case 'printf':
      return echo(rest, (argsOf[0] ?? '').replace(/\\n$/, ''));
    case 'exec':
      return simpleCommand(rest);
    case 'tail':
      return rest.some((word) => word.startsWith('-f') || word === '-F') ? { ...RUN, obeysTerm: false } : ends(0);
    case 'hostname':
    case 'date':
    case 'ls':
    case 'env':
      return ends(0);
    default:
      return undefined;
  }
}

function echo(words: readonly string[], text: string): Script {
  const toStderr = words.some((word) => word === '>&2' || word === '1>&2');
  const toFile =
    words.some((word) => /^[1&]?>{1,2}(?!&)/.test(word)) && !words.some((word) => /\/dev\/(stdout|stderr|termination-log)/.test(word));
  const steps: Step[] = toFile ? [] : text.split('\n').map((line) => ({ do: 'log', text: line, stream: toStderr ? 'stderr' : 'stdout' }));
  return { steps, after: 'end', code: 0, obeysTerm: true };
}

function sleepScript(words: readonly string[]): Script {
  if (words.length === 0)
    return { steps: [{ do: 'log', text: 'sleep: missing operand', stream: 'stderr' }], after: 'end', code: 1, obeysTerm: true };
  if (words[0] === 'infinity' || words[0] === 'inf') return { ...RUN, obeysTerm: false };
  let ms = 0;
  for (const word of words) {
    const match = /^(\d+(?:\.\d+)?)([smhd]?)$/.exec(word);
    if (!match)
      return {
        steps: [{ do: 'log', text: `sleep: invalid time interval '${word}'`, stream: 'stderr' }],
        after: 'end',
        code: 1,
        obeysTerm: true,
      };
    ms += Number(match[1]) * (UNITS[match[2] || 's'] as number);
  }
  return { steps: [{ do: 'wait', ms }], after: 'end', code: 0, obeysTerm: false };
}

function exitCode(word: string | undefined): number {
  const code = Number.parseInt(word ?? '0', 10);
  return Number.isNaN(code) ? 2 : code & 255;
}

/** Splits at `;`, newline, `&&` and `||` outside quotes. */
function splitCommands(text: string): { command: string; next: string }[] {
  const out: { command: string; next: string }[] = [];
  let command = '';
  let quote = '';
  for (let i = 0; i < text.length; i++) {
    const char = text[i] as string;
    if (quote) {
      if (char === quote) quote = '';
      command += char;
      continue;
    }
    if (char === "'" || char === '"') quote = char;
    const two = text.slice(i, i + 2);
    if (two === '&&' || two === '||') {
      out.push({ command: command.trim(), next: two });
      command = '';
      i++;
    } else if (char === ';' || char === '\n') {
      out.push({ command: command.trim(), next: ';' });
      command = '';
    } else command += char;
  }
  out.push({ command: command.trim(), next: ';' });
  return out;
}

function shellWords(text: string): string[] {
  const words: string[] = [];
  for (const match of text.matchAll(/(?:[^\s'"]+|'[^']*'|"(?:\\.|[^"\\])*")+/g)) {
    words.push(
      match[0].replace(
        /'([^']*)'|"((?:\\.|[^"\\])*)"/g,
        (_, single?: string, double?: string) => single ?? (double ?? '').replace(/\\(["\\$`])/g, '$1'),
      ),
    );
  }
  return words;
}
