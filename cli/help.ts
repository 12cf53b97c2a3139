/** The help texts: of the whole program by section, and of one verb with its flags, drawn by yargs from the verb's flag table. */
import yargs from 'yargs';
import { type FlagSpec, type FlagTable, GLOBAL_FLAGS } from './flags.ts';
import { PROGRAM, type Verb, type VerbEntry } from './verb.ts';
import { VERBS } from './verbs.ts';

export function helpOfAll(): string {
  const sections = new Map<string, [string, VerbEntry][]>();
  for (const [name, entry] of Object.entries(VERBS))
    sections.set(entry.section ?? '', [...(sections.get(entry.section ?? '') ?? []), [name, entry]]);
  const body = [...sections].map(([section, entries]) => `${section}:\n${listing(entries)}`).join('\n');
  return `${PROGRAM} runs a Kubernetes control plane of separate processes and speaks to it as kubectl does.\n\n${body}\nUsage:\n  ${PROGRAM} VERB [flags]\n\nUse "${PROGRAM} VERB --help" for more about a verb.\n`;
}

const listing = (entries: readonly (readonly [string, VerbEntry])[]): string =>
  entries.map(([name, { summary }]) => `  ${name.padEnd(15)} ${summary}\n`).join('');

export async function helpOfVerb(name: string, verb: Verb): Promise<string> {
  if (verb.verbs && !verb.run) {
    return `Usage:\n  ${name} VERB [flags]\n\nAvailable verbs:\n${listing(Object.entries(verb.verbs))}\nUse "${name} VERB --help" for more about a verb.\n`;
  }
  const parser = yargs([])
    .scriptName(PROGRAM)
    .usage(`Usage:\n  ${name} ${verb.usage}`)
    .help(false)
    .version(false)
    .wrap(140)
    .options({ ...optionsOf(verb.flags ?? {}, 'Options:'), ...optionsOf(GLOBAL_FLAGS, 'Global options:') });
  const more = verb.verbs ? `\n\nAvailable verbs:\n${listing(Object.entries(verb.verbs))}` : '';
  return `${await parser.getHelp()}${more}\n`;
}

function optionsOf(table: FlagTable, group: string): Record<string, object> {
  return Object.fromEntries(Object.entries(table).map(([name, spec]) => [name, option(spec, group)]));
}

const TYPES = { string: 'string', boolean: 'boolean', list: 'string', array: 'string', integer: 'number', duration: 'string' } as const;

const option = (spec: FlagSpec, group: string): object => ({
  type: TYPES[spec.type],
  description: spec.help,
  group,
  hidden: spec.hidden ?? false,
  ...(spec.short && { alias: spec.short }),
  ...(spec.default !== undefined && spec.default !== false && spec.default !== '' && { default: spec.default }),
});
