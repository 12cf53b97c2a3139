/**
 * The house rules as a test: who may import whom, which calls are banned where, how large files may be, no cycles.
 * Every message reads "X is banned here, use Y, because Z".
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const FOLDERS = ['apiserver', 'controllers', 'scheduler', 'kubelet', 'cli', 'cluster', 'machinery', 'scripts', 'test'];

interface Source {
  /** Path from the root, with forward slashes. */
  readonly path: string;
  /** Text without comments and string contents, so that a word in prose is not code. */
  readonly code: string;
  readonly lines: number;
  /** Paths from the root of our own files it imports, type imports included. */
  readonly imports: readonly string[];
  readonly packages: readonly string[];
}

function* typescriptFiles(folder: string): Iterable<string> {
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) yield* typescriptFiles(path);
    else if (entry.name.endsWith('.ts')) yield path;
  }
}

const generated = (path: string): boolean => path.startsWith('machinery/api/types/');
const isTest = (path: string): boolean => path.endsWith('.test.ts') || path.startsWith('test/') || path.includes('/testing/');

function stripped(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/g, (m) =>
    m[0] === '/' ? m.replace(/[^\n]/g, ' ') : "''",
  );
}

function read(path: string): Source {
  const text = readFileSync(join(root, path), 'utf8');
  const specifiers = [
    ...text.matchAll(
      /(?:^|\n)\s*(?:import|export)\b[^'"\n;]*?(?:\{[^}]*\}[^'"\n;]*?)?from\s+'([^']+)'|\bimport\('([^']+)'\)|(?:^|\n)import\s+'([^']+)'/g,
    ),
  ];
  const named = specifiers.map((m) => m[1] ?? m[2] ?? m[3] ?? '');
  return {
    path,
    code: stripped(text),
    lines: text.split('\n').length - 1,
    imports: named.filter((s) => s.startsWith('.')).map((s) => relative(root, resolve(root, dirname(path), s)).replaceAll('\\', '/')),
    packages: named.filter((s) => !s.startsWith('.')),
  };
}

const sources = FOLDERS.flatMap((folder) => [...typescriptFiles(folder)]).map(read);

/** Longest prefix wins. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  'machinery/api': ['machinery/api'],
  'machinery/process': ['machinery/process'],
  'machinery/client': ['machinery/client', 'machinery/api', 'machinery/process'],
  'machinery/loop': ['machinery/loop', 'machinery/api', 'machinery/process', 'machinery/client'],
  apiserver: ['apiserver', 'machinery/api', 'machinery/process'],
  controllers: ['controllers', 'machinery'],
  scheduler: ['scheduler', 'machinery'],
  kubelet: ['kubelet', 'machinery'],
  cluster: ['cluster', 'machinery/process', 'machinery/client'],
  cli: ['cli', 'machinery/api', 'machinery/process', 'machinery/client', 'cluster'],
};

const under = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`);

function layerOf(path: string): string | undefined {
  return Object.keys(MAY_IMPORT)
    .filter((layer) => under(path, layer))
    .sort((a, b) => b.length - a.length)[0];
}

test('a layer imports only the layers below it', () => {
  const broken = sources
    .filter((s) => !isTest(s.path))
    .flatMap((s) => {
      const layer = layerOf(s.path);
      if (layer === undefined) return [];
      return s.imports
        .filter((i) => !MAY_IMPORT[layer]!.some((allowed) => under(i, allowed)))
        .map(
          (i) => `${s.path}: importing ${i} is banned here, use ${MAY_IMPORT[layer]!.join(' or ')}, because ${layer} must stand without it`,
        );
    });
  assert.deepEqual(broken, []);
});

interface Ban {
  readonly pattern: RegExp;
  readonly what: string;
  readonly use: string;
  readonly because: string;
  readonly allowed: (path: string) => boolean;
}

const BANS: readonly Ban[] = [
  {
    pattern: /\bDate\.now\(|\bnew Date\(\)|\bperformance\.now\(/,
    what: 'reading the time',
    use: 'the injected Clock',
    because: 'tests and simulations own time',
    allowed: (p) => p === 'machinery/process/clock.ts' || isTest(p) || under(p, 'scripts'),
  },
  {
    pattern: /\bset(?:Timeout|Interval|Immediate)\(/,
    what: 'a timer',
    use: 'Clock.setTimer or Clock.sleep',
    because: 'tests and simulations own time',
    allowed: (p) => p === 'machinery/process/clock.ts' || isTest(p) || under(p, 'scripts'),
  },
  {
    pattern: /\bMath\.random\(|\brandomUUID\(|\brandomBytes\(|\brandomInt\(/,
    what: 'drawing chance',
    use: 'the injected Random',
    because: 'a seeded run must repeat itself',
    allowed: (p) => p === 'machinery/process/random.ts' || isTest(p) || under(p, 'scripts'),
  },
  {
    pattern: /\bprocess\.env\b/,
    what: 'process.env',
    use: "the component's options.ts",
    because: 'every knob is in one table with its help',
    allowed: (p) => p.endsWith('/options.ts') || isTest(p) || under(p, 'scripts'),
  },
  {
    pattern: /\bprocess\.exit\(/,
    what: 'process.exit',
    use: 'throwing, or returning to main.ts',
    because: 'only the outermost frame knows what must be closed',
    allowed: (p) => p.endsWith('/main.ts') || p === 'machinery/process/run.ts' || isTest(p) || under(p, 'scripts'),
  },
  {
    pattern: /\bconsole\.\w+\(/,
    what: 'console',
    use: 'the logger',
    because: 'logs are JSON on stderr; only the CLI speaks to people',
    allowed: (p) => under(p, 'cli') || isTest(p) || under(p, 'scripts'),
  },
  {
    pattern: /\bexport default\b/,
    what: 'a default export',
    use: 'a named export',
    because: 'a name must be searchable',
    allowed: () => false,
  },
  {
    pattern: /\bexport \* from\b/,
    what: 'a barrel',
    use: 'an import from the file itself',
    because: 'a reader must land where the thing is',
    allowed: () => false,
  },
  {
    pattern: /\bextends EventEmitter\b|\bnew EventEmitter\b/,
    what: 'EventEmitter',
    use: 'a callback or AsyncIterable',
    because: 'an unheard error event ends the process',
    allowed: () => false,
  },
  {
    pattern: /:\s*any\b|\bas any\b|<any>/,
    what: 'any',
    use: 'unknown and a check',
    because: 'the compiler must keep looking',
    allowed: () => false,
  },
  {
    pattern: /\bnew Function\(|\beval\(|node:vm/,
    what: 'evaluating text',
    use: 'an interpreter',
    because: "a user's text must never run as code",
    allowed: () => false,
  },
];

test('what is banned is not used', () => {
  const broken = sources
    .filter((s) => !generated(s.path) && s.path !== 'test/tidy.test.ts')
    .flatMap((s) =>
      BANS.filter((ban) => ban.pattern.test(s.code) && !ban.allowed(s.path)).map(
        (ban) => `${s.path}: ${ban.what} is banned here, use ${ban.use}, because ${ban.because}`,
      ),
    );
  assert.deepEqual(broken, []);
});

test('only the LevelDB backend imports level', () => {
  const broken = sources
    .filter((s) => !under(s.path, 'apiserver/storage/level') && !isTest(s.path) && !under(s.path, 'scripts'))
    .filter((s) => s.packages.some((p) => p === 'level' || p === 'classic-level'))
    .map(
      (s) =>
        `${s.path}: importing level is banned here, use apiserver/storage/interface.ts, because nothing above storage may know the backend`,
    );
  assert.deepEqual(broken, []);
});

const BANNED_NAMES = /(?:^|[-/])(?:utils?|helpers?|common|misc)(?=[./-])|\/index\.ts$/;

test('files are named after what they hold', () => {
  const broken = sources
    .filter((s) => !generated(s.path) && BANNED_NAMES.test(s.path))
    .map((s) => `${s.path}: this name is banned, use the term for what is inside, because a reader searches by it`);
  assert.deepEqual(broken, []);
});

/** The suite is part of the contract of the store: whoever writes a backend runs it. */
const FOR_TESTS_BUT_PUBLIC: readonly string[] = ['apiserver/storage/suite.ts'];

test('what only tests import is in a folder named testing, or in test/', () => {
  const importers = new Map<string, string[]>();
  for (const { path, imports } of sources) for (const i of imports) importers.set(i, [...(importers.get(i) ?? []), path]);
  const broken = sources
    .filter((s) => !isTest(s.path) && !generated(s.path) && !FOR_TESTS_BUT_PUBLIC.includes(s.path))
    .filter((s) => importers.get(s.path)?.every(isTest))
    .map(
      (s) =>
        `${s.path}: code for tests alone is banned here, use ${dirname(s.path)}/testing/, because a reader of production code need not know it`,
    );
  assert.deepEqual(broken, []);
});

/** Tables of facts that one reads by searching, not top to bottom. */
const LONG_FILES: readonly string[] = [];

test('no file is longer than 400 lines', () => {
  const broken = sources
    .filter((s) => !generated(s.path) && s.lines > 400 && !LONG_FILES.includes(s.path))
    .map((s) => `${s.path}: ${s.lines} lines are banned, use two files of one thing each, because nobody reads past 400`);
  assert.deepEqual(broken, []);
});

test('each source opens with what it is responsible for', () => {
  const broken = sources
    .filter((s) => !generated(s.path))
    .filter((s) => !/^(?:#![^\n]*\n)?\/\*\*|^(?:#![^\n]*\n)?\/\//.test(readFileSync(join(root, s.path), 'utf8')))
    .map(
      (s) =>
        `${s.path}: a file without an opening comment is banned, use one that says what it is responsible for, because a reader decides by it`,
    );
  assert.deepEqual(broken, []);
});

test('imports make no cycle', () => {
  const graph = new Map(sources.map((s) => [s.path, valueImports(s.path)]));
  const state = new Map<string, 'open' | 'done'>();
  const cycles: string[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    if (state.get(path) === 'done' || !graph.has(path)) return;
    if (state.get(path) === 'open') {
      cycles.push([...trail.slice(trail.indexOf(path)), path].join(' → '));
      return;
    }
    state.set(path, 'open');
    for (const next of graph.get(path)!) visit(next, [...trail, path]);
    state.set(path, 'done');
  };
  for (const path of graph.keys()) visit(path, []);
  assert.deepEqual(cycles, []);
});

/** Imports that remain at run time: a cycle of types alone is harmless. */
function valueImports(path: string): string[] {
  const text = readFileSync(join(root, path), 'utf8');
  const specifiers = [...text.matchAll(/(?:^|\n)(?:import|export)\s+(?!type\b)[^'"\n;]*?(?:\{[^}]*\}[^'"\n;]*?)?from\s+'(\.[^']+)'/g)].map(
    (m) => m[1]!,
  );
  return specifiers.map((s) => relative(root, resolve(root, dirname(path), s)).replaceAll('\\', '/'));
}
