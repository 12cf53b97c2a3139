/**
 * Bundles the processes into `dist/` with esbuild: one small file to load per component makes the whole cluster start in a second.
 * Does nothing when `dist/` is newer than every source (`npm start` calls it each time). `--force` builds anyway,
 * `--into DIR` builds into another folder.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const into = process.argv.indexOf('--into');
const dist = into < 0 ? join(root, 'dist') : resolve(process.argv[into + 1]!);
const stamp = join(dist, '.built');
const SOURCES = ['apiserver', 'controllers', 'scheduler', 'kubelet', 'cli', 'machinery', 'cluster'];
const COMPONENTS = ['apiserver', 'controllers', 'scheduler', 'kubelet'];
const ENTRIES = [
  ...COMPONENTS.flatMap((c) => [`${c}/main.ts`, `${c}/start.ts`, `${c}/options.ts`]),
  'apiserver/storage/tool/main.ts',
  'cluster/start-cluster.ts',
  'cli/main.ts',
];

function newestSource(directory: string): number {
  return readdirSync(directory, { withFileTypes: true }).reduce((newest, entry) => {
    const path = join(directory, entry.name);
    return Math.max(newest, entry.isDirectory() ? newestSource(path) : statSync(path).mtimeMs);
  }, statSync(directory).mtimeMs);
}

function upToDate(): boolean {
  if (!existsSync(stamp)) return false;
  const built = statSync(stamp).mtimeMs;
  const inputs = ['package.json', 'package-lock.json', 'scripts/build.ts'].map((file) => statSync(join(root, file)).mtimeMs);
  return Math.max(...inputs, ...SOURCES.map((folder) => newestSource(join(root, folder)))) < built;
}

/** Takes the seeded bugs out (machinery/process/mutants.ts): what is never true, esbuild drops with all that hangs on it. */
const withoutMutants: Plugin = {
  name: 'without-mutants',
  setup: ({ onLoad }) => {
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      return text.includes('mutant(') ? { contents: text.replace(/\bmutant\('[^']*'\)/g, 'false'), loader: 'ts' } : undefined;
    });
  },
};

/** prom-client loads OpenTelemetry for exemplars, which we have none of: 100 KB of code in every process. */
const withoutTelemetry: Plugin = {
  name: 'without-telemetry',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^@opentelemetry\/api$/ }, ({ path }) => ({ path, namespace: 'nothing' }));
    onLoad({ filter: /.*/, namespace: 'nothing' }, () => ({ contents: 'module.exports = {};' }));
  },
};

async function bundle(): Promise<void> {
  rmSync(dist, { recursive: true, force: true });
  mkdirSync(dist);
  await build({
    absWorkingDir: root,
    entryPoints: ENTRIES.filter((entry) => existsSync(join(root, entry))),
    outbase: root,
    outdir: dist,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    minifySyntax: true,
    sourcemap: 'linked',
    sourcesContent: false,
    external: ['level', 'classic-level'], // a native addon finds its binary beside its own package
    banner: { js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);" },
    plugins: [withoutMutants, withoutTelemetry],
    logLevel: 'warning',
  });
  writeFileSync(stamp, '');
}

if (process.argv.includes('--force') || !upToDate()) await bundle();
