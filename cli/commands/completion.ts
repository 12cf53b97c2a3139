/** `completion`: a script for bash or zsh. Verbs and flags are written into it from the tables; names of objects are asked for while completing. */
import { CliError, usageError } from '../errors.ts';
import { GLOBAL_FLAGS } from '../flags.ts';
import { PROGRAM, type Verb } from '../verb.ts';
import { VERBS } from '../verbs.ts';

export const verb: Verb = {
  usage: '(bash | zsh)',
  run: async (session, args) => {
    if (args.length !== 1)
      throw usageError(session.verb, args.length === 0 ? 'Shell not specified.' : 'Too many arguments. Expected only the shell type.');
    if (!['bash', 'zsh'].includes(args[0])) throw new CliError(`Unsupported shell type "${args[0]}".`);
    session.out(await script(args[0]));
  },
};

async function wordsOf(name: string): Promise<string> {
  const loaded = await VERBS[name].load();
  const flags = Object.entries({ ...loaded.flags, ...GLOBAL_FLAGS })
    .filter(([, spec]) => !spec.hidden)
    .map(([flag]) => `--${flag}`);
  return [...Object.keys(loaded.verbs ?? {}), ...flags].join(' ');
}

async function script(shell: string): Promise<string> {
  const names = Object.keys(VERBS);
  const cases = await Promise.all(names.map(async (name) => `    ${name}) words="${await wordsOf(name)}" ;;`));
  const head = shell === 'zsh' ? 'autoload -U +X bashcompinit && bashcompinit\n' : '';
  return `# ${PROGRAM} completion for ${shell}: source <(${PROGRAM} completion ${shell})
${head}_${PROGRAM}() {
  local current="\${COMP_WORDS[COMP_CWORD]}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="${names.join(' ')}"
  else
    case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
    esac
    if [ "$COMP_CWORD" -ge 2 ] && [ "\${current#-}" = "$current" ]; then
      case "\${COMP_WORDS[1]}" in
        get|describe|delete|edit|label|annotate|patch|wait|scale|expose|explain)
          if [ "$COMP_CWORD" -eq 2 ]; then words="$words $(${PROGRAM} api-resources -o name 2>/dev/null)"
          else words="$words $(${PROGRAM} get "\${COMP_WORDS[2]}" -o jsonpath='{.items[*].metadata.name}' 2>/dev/null)"; fi ;;
        logs) words="$words $(${PROGRAM} get pods -o jsonpath='{.items[*].metadata.name}' 2>/dev/null)" ;;
        cordon|uncordon|drain) words="$words $(${PROGRAM} get nodes -o jsonpath='{.items[*].metadata.name}' 2>/dev/null)" ;;
      esac
    fi
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _${PROGRAM} ${PROGRAM}
`;
}
