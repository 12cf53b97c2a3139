/**
 * How near the API server is to a real one: starts ours, replays what a real Kubernetes answered, writes the table of docs/fidelity.md.
 *
 *   npm run fidelity                     all topics, writes the table
 *   npm run fidelity -- watch list       these topics, prints only
 *
 * The recordings lie beside the checkout (`../shared`); without them there is nothing to compare, which is said and is no error.
 * A step that differs for one of `REASONS` is left on purpose; any other that differs is still to be mended and named on the console.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';

const SHARED = resolve(import.meta.dirname, '../../shared');
const PAGE = resolve(import.meta.dirname, '../docs/fidelity.md');
const TOPICS = ['writes', 'bad-requests', 'patch', 'apply', 'list', 'watch', 'discovery', 'tables', 'kinds-core', 'kinds-groups'];
const BEGIN = '<!-- figures: written by `npm run fidelity` -->';
const END = '<!-- end of figures -->';
const START_TIMEOUT_MS = 60_000;

interface Failure {
  readonly file: string;
  readonly step: string;
  readonly diff: readonly string[];
}

interface Reason {
  readonly name: string;
  applies(scenario: string, failure: Failure): boolean;
}

const says = (failure: Failure, text: RegExp): boolean => failure.diff.some((line) => text.test(line));

/** Why a step may differ: the sections of docs/fidelity.md, by their headings. */
const REASONS: readonly Reason[] = [
  {
    name: 'roles',
    applies: (scenario, failure) =>
      /^(list-forbidden|forbidden-watch|permissions)$/.test(scenario) ||
      says(failure, /want .*User \\?".*cannot /) ||
      says(failure, /^\/code: want 403, got 2/) ||
      (scenario === 'namespace-metadata-finalizers' && failure.step === 'access-review-inside'),
  },
  {
    name: 'custom resources',
    applies: (scenario, failure) =>
      /custom|^definition-mistakes$|^patch-content-types-no-strategic$|customresourcedefinition/.test(scenario) ||
      (says(failure, /404 page not found/) && says(failure, /example\.com/)),
  },
  {
    name: 'expressions',
    applies: (scenario, failure) =>
      /^(deviceclass-rules|resourceclaim-request-rules|mutatingpolicy-rules|validatingpolicy-|webhook-match-condition)/.test(scenario) &&
      says(failure, /^\/code: want 422, got 201|expression/),
  },
  { name: 'other servers behind this one', applies: (scenario) => /^apiservice-(remote|update)/.test(scenario) },
  { name: 'another certificate', applies: (_scenario, failure) => failure.diff.every((line) => /credential-id/.test(line)) },
  { name: 'admission', applies: (scenario) => /limit-range$/.test(scenario) },
  {
    name: 'what reading adds',
    applies: (scenario, failure) =>
      (scenario === 'job-status-index-of-plain-job' && says(failure, /resourceVersion/)) ||
      (scenario === 'service-watch' && failure.diff.every((line) => /internalTrafficPolicy/.test(line))),
  },
  {
    name: 'insides of a Go program',
    applies: (scenario, failure) =>
      [
        'yaml-values',
        'create-by-apply-yaml',
        'bad-names-in-url-1',
        'validatingadmissionpolicybindings',
        'csr-request-content-rules',
      ].includes(scenario) && says(failure, /want .*(map\[|found character|\\xff|&LabelSelector|isCompound)/),
  },
  {
    name: 'requests that may be two',
    applies: (scenario, failure) =>
      (scenario === 'too-large' && failure.step === 'body-over-in-chunks') || (scenario === 'wrong-methods' && /^foo/.test(failure.step)),
  },
];

interface Figures {
  readonly topic: string;
  readonly steps: number;
  readonly equal: number;
  readonly left: ReadonlyMap<string, number>;
  readonly open: readonly Failure[];
}

async function startServer(directory: string): Promise<{ process: ChildProcess; kubeconfig: string }> {
  const kubeconfig = join(directory, 'kubeconfig');
  const server = resolve(import.meta.dirname, '../apiserver/main.ts');
  const flags = [
    '--data-dir',
    join(directory, 'data'),
    '--secure-port',
    '0',
    '--storage',
    'memory',
    '--endpoint-reconciler-type',
    'none',
    '--write-kubeconfig',
    kubeconfig,
  ];
  const child = spawn(process.execPath, ['--import', 'tsx', server, ...flags], { stdio: ['ignore', 'ignore', 'pipe'] });
  await new Promise<void>((ready, fail) => {
    const limit = setTimeout(() => fail(new Error('the API server did not start in time')), START_TIMEOUT_MS);
    child.stderr!.on('data', (chunk: Buffer) => {
      if (!chunk.toString().includes('"msg":"serving"')) return;
      clearTimeout(limit);
      ready();
    });
    child.once('exit', (code) => fail(new Error(`the API server ended with ${code}`)));
  });
  return { process: child, kubeconfig };
}

const ended = (child: ChildProcess): Promise<void> => new Promise((done) => child.once('exit', () => done()));

async function replay(topic: string): Promise<Figures> {
  const directory = mkdtempSync(join(tmpdir(), 'flyball-fidelity-'));
  const server = await startServer(directory);
  const report = join(directory, 'report.json');
  try {
    const tool = join(SHARED, 'tools/replay.mjs');
    const asked = ['check', '--verbose', '--json', report, '--kubeconfig', server.kubeconfig, join(SHARED, 'recorded', topic)];
    await ended(spawn(process.execPath, [tool, ...asked], { stdio: 'ignore' }));
    return figuresOf(topic, JSON.parse(readFileSync(report, 'utf8')));
  } finally {
    const gone = ended(server.process);
    server.process.kill('SIGTERM');
    await gone;
    rmSync(directory, { recursive: true, force: true });
  }
}

function figuresOf(topic: string, report: { passed: number; failed: number; failures: Failure[] }): Figures {
  const left = new Map<string, number>();
  const open: Failure[] = [];
  let named = 0;
  for (const failure of report.failures) {
    const reason = REASONS.find((r) => r.applies(basename(failure.file, '.json'), failure));
    if (reason === undefined) open.push(failure);
    else left.set(reason.name, (left.get(reason.name) ?? 0) + 1);
    named++;
  }
  // A scenario that could not go on counts all its remaining steps.
  const lost = report.failed - named;
  if (lost > 0) left.set('custom resources', (left.get('custom resources') ?? 0) + lost);
  return { topic, steps: report.passed + report.failed, equal: report.passed, left, open };
}

const leftOf = (figures: Figures): number => [...figures.left.values()].reduce((sum, count) => sum + count, 0);

function row(figures: Figures): string {
  const reasons = [...figures.left].map(([name, count]) => `${name} ${count}`).join(', ');
  const percent = ((100 * figures.equal) / (figures.steps - leftOf(figures))).toFixed(1);
  return `| ${figures.topic} | ${figures.steps} | ${figures.equal} | ${leftOf(figures)}${reasons && ` (${reasons})`} | ${figures.open.length} | ${percent}% |`;
}

function table(all: readonly Figures[]): string {
  const sum = (of: (figures: Figures) => number): number => all.reduce((total, figures) => total + of(figures), 0);
  const [steps, equal, left, open] = [sum((f) => f.steps), sum((f) => f.equal), sum(leftOf), sum((f) => f.open.length)];
  return [
    '| topic | steps | equal | left on purpose | to be mended | equal of those compared |',
    '|---|---|---|---|---|---|',
    ...all.map(row),
    `| all | ${steps} | ${equal} | ${left} | ${open} | ${((100 * equal) / (steps - left)).toFixed(1)}% |`,
  ].join('\n');
}

function write(text: string): void {
  const page = readFileSync(PAGE, 'utf8');
  const [before, rest = ''] = page.split(BEGIN);
  const after = rest.split(END)[1];
  if (after === undefined) throw new Error(`${PAGE} has no place for the figures: it must hold the two marker lines`);
  writeFileSync(PAGE, `${before}${BEGIN}\n${text}\n${END}${after}`);
}

async function main(topics: readonly string[]): Promise<void> {
  if (!existsSync(join(SHARED, 'tools/replay.mjs'))) {
    process.stdout.write('skipped: the recordings of a real API server are not beside this checkout\n');
    return;
  }
  const all: Figures[] = [];
  for (const topic of topics.length > 0 ? topics : TOPICS) {
    const figures = await replay(topic);
    all.push(figures);
    process.stdout.write(`${row(figures)}\n`);
    for (const { file, step, diff } of figures.open)
      process.stdout.write(`    ${basename(file)} ${step}: ${(diff[0] ?? '').slice(0, 160)}\n`);
  }
  if (topics.length === 0) write(table(all));
}

await main(process.argv.slice(2));
