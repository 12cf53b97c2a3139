/** One file of the sources as they are, in which seeded bugs can be switched on: it starts many times, and quicker than the sources would. */
import { rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('../..', import.meta.url));

export interface Bundle {
  readonly path: string;
  remove(): void;
}

/** `entry` is an absolute path. The file lies below our package.json, beside which its packages and its data are. */
export async function bundled(entry: string): Promise<Bundle> {
  const path = join(root, '.flyball', 'robustness', `${relative(root, entry).replaceAll('/', '-')}-${process.pid}.mjs`);
  await build({
    entryPoints: [entry],
    outfile: path,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external: ['level', 'classic-level'],
    banner: { js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);" },
    logLevel: 'warning',
  });
  return { path, remove: () => rmSync(path, { force: true }) };
}
