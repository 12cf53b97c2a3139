/** The command line inside the process of a test: what it would print, and its exit code. It reads nothing and knows no terminal. */
import { systemClock } from '../../machinery/process/clock.ts';
import { systemRandom } from '../../machinery/process/random.ts';
import { dispatch } from '../dispatch.ts';

export interface Ran {
  readonly out: string;
  readonly err: string;
  readonly code: number;
}

/** `home` is also the directory that relative paths begin at. */
export async function runHere(words: readonly string[], at: { readonly kubeconfig: string; readonly home: string }): Promise<Ran> {
  let [out, err] = ['', ''];
  const code = await dispatch(words, {
    clock: systemClock,
    random: systemRandom,
    signal: new AbortController().signal,
    surroundings: { kubeconfigs: [at.kubeconfig], editor: 'true', home: at.home, cwd: at.home },
    writeOut: (text) => {
      out += text.toString();
    },
    writeErr: (text) => {
      err += text;
    },
    readStdin: async () => '',
    isTerminal: false,
  });
  return { out, err, code };
}
