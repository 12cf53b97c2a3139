/** What the command line takes from its surroundings: environment variables, the home directory, and the nearest cluster's kubeconfig. */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

export interface Surroundings {
  /** Paths of $KUBECONFIG, if any. */
  readonly kubeconfigs: readonly string[];
  readonly editor: string;
  readonly home: string;
  readonly cwd: string;
}

export function readSurroundings(): Surroundings {
  const { KUBECONFIG, KUBE_EDITOR, EDITOR } = process.env;
  return {
    kubeconfigs: (KUBECONFIG ?? '').split(process.platform === 'win32' ? ';' : ':').filter((path) => path !== ''),
    editor: KUBE_EDITOR || EDITOR || 'vi',
    home: homedir(),
    cwd: process.cwd(),
  };
}

/** `--kubeconfig`, $KUBECONFIG, `.flyball/kubeconfig` here or in a folder above, then `~/.kube/config`. */
export function findKubeconfig(given: string, around: Surroundings): string {
  if (given !== '') return given;
  const named = around.kubeconfigs.find((path) => existsSync(path)) ?? around.kubeconfigs[0];
  if (named !== undefined) return named;
  return nearest(around.cwd, join('.flyball', 'kubeconfig')) ?? join(around.home, '.kube', 'config');
}

/** The path of `name` in the folder or the closest one above that has it. */
export function nearest(from: string, name: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const path = join(folder, name);
    if (existsSync(path)) return path;
    if (dirname(folder) === folder) return undefined;
  }
}
