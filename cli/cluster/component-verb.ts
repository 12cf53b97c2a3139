/** Runs one component in this process, in the foreground, with the component's own flags: `flyball scheduler --kubeconfig F`. */
import { pathToFileURL } from 'node:url';
import { findCode } from '../../cluster/code.ts';
import type { ComponentModule } from '../../cluster/components.ts';
import type { Verb } from '../verb.ts';

/** The component's `main` reads the command line itself and ends the process; nothing comes back from it. */
export function componentVerb(module: ComponentModule): Verb {
  return {
    usage: '[flags]',
    passThrough: true,
    run: async (_session, words) => {
      const path = findCode().command(module).at(-1)!;
      process.argv = [process.argv[0], path, ...words];
      await import(pathToFileURL(path).href);
    },
  };
}
