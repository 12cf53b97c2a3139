/** Where the components' code is: the built files, or the sources when we run from sources ourselves (tests). */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { StartComponent } from '../machinery/process/component.ts';
import type { OptionsTable } from '../machinery/process/options.ts';
import type { ComponentModule, ComponentSpec } from './components.ts';

export interface Code {
  /** Arguments of node that run the component. */
  command(module: ComponentModule): readonly string[];
  load(spec: ComponentSpec): Promise<{ readonly start: StartComponent<unknown>; readonly options: OptionsTable }>;
}

/** `built` forces the built files while running from sources. Throws when there are none. */
export function findCode(built = false): Code {
  const here = dirname(fileURLToPath(import.meta.url));
  const fromSources = import.meta.url.endsWith('.ts');
  if (fromSources && !built)
    return codeIn(dirname(here), '.ts', ['--import', pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href]);
  // built code is split into pieces: this one may lie at the top of dist/ or in dist/cluster/
  const places = fromSources ? [join(dirname(here), 'dist')] : [here, dirname(here)];
  const place = places.find((directory) => existsSync(join(directory, 'apiserver', 'main.js')));
  if (!place) throw new Error('the components have not been built; run: npm run build');
  return codeIn(place, '.js', []);
}

function codeIn(directory: string, ending: string, nodeArguments: readonly string[]): Code {
  const load = async (path: string): Promise<Record<string, unknown>> =>
    import(pathToFileURL(join(directory, path)).href) as Promise<Record<string, unknown>>;
  return {
    command: (module) => [...nodeArguments, join(directory, module, `main${ending}`)],
    load: async ({ module, startExport, optionsExport }) => {
      const [start, options] = await Promise.all([load(`${module}/start${ending}`), load(`${module}/options${ending}`)]);
      return { start: start[startExport] as StartComponent<unknown>, options: options[optionsExport] as OptionsTable };
    },
  };
}
