/**
 * Real kubectl and helm binaries as a user has them: on the PATH, named `kubectl-…` or `helm-…` in the folder $FLYBALL_CLIENTS, or out of npm
 * layers that are installed in this project or in that folder (docs/clients.md). Each run has a home of its own, so that no cache or setting of
 * this machine's user is seen.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { eventually } from '../../fixtures/eventually.ts';
import { fromLayers } from './layers.ts';

export interface ClientBinary {
  /** `kubectl v1.36.3`: for the test's name. */
  readonly label: string;
  readonly path: string;
}

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunChoices {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Namespace; the session's own by default, `''` for none at all. */
  readonly namespace?: string;
}

/** A user at a shell: commands are written as one would type them (single quotes keep spaces). */
export interface Shell {
  /** Runs the command, which must succeed, and returns what it printed. */
  ok(command: string, choices?: RunChoices): Promise<string>;
  /** Runs the command, which must fail, and returns what it said. */
  fails(command: string, choices?: RunChoices): Promise<string>;
  run(command: string, choices?: RunChoices): Promise<Ran>;
  /** Starts a command that goes on; `lines` grows. */
  follow(command: string): Following;
  /** Repeats a command until what it prints (or says, when it fails) matches. */
  until(command: string, pattern: RegExp, timeoutMs?: number): Promise<string>;
  readonly home: string;
}

export interface Following {
  text(): string;
  until(pattern: RegExp): Promise<string>;
  stop(): Promise<void>;
}

const TIMEOUT_MS = 60_000;

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Without $FLYBALL_CLIENTS the newest that is at hand, with it all of them, each version once. */
export function clientBinaries(program: 'kubectl' | 'helm', versionArguments: readonly string[]): readonly ClientBinary[] {
  const onPath = (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, program));
  const folder = process.env['FLYBALL_CLIENTS'];
  const named = folder ? readdirSync(folder).filter((name) => name.startsWith(`${program}-`)) : [];
  const layers = [root, ...(folder ? [folder] : [])].flatMap((under) => fromLayers(under, program));
  const found = new Map<string, ClientBinary>();
  for (const path of [...onPath, ...named.map((name) => join(folder as string, name)), ...layers]) {
    const { status, stdout } = spawnSync(path, versionArguments, { encoding: 'utf8', timeout: TIMEOUT_MS });
    if (status !== 0) continue;
    const version = /v\d+\.\d+\.\d+/.exec(stdout)?.[0] ?? 'of unknown version';
    const label = `${program} ${version}`;
    if (!found.has(label)) found.set(label, { label, path });
  }
  const all = [...found.values()].sort((a, b) => a.label.localeCompare(b.label, 'en', { numeric: true }));
  return folder ? all : all.slice(-1);
}

export const kubectls = (): readonly ClientBinary[] => clientBinaries('kubectl', ['version', '--client']);

/** `skip` of a test: false, or the reason. */
export const unlessAny = (binaries: readonly ClientBinary[], program: string): string | false =>
  binaries.length > 0 ? false : `skipped: no ${program} on the PATH, in the folder $FLYBALL_CLIENTS or in an npm layer (docs/clients.md)`;

export function shell(t: TestContext, binary: string, kubeconfig: string, namespace = ''): Shell {
  const home = mkdtempSync(join(tmpdir(), 'flyball-client-'));
  const children = new Set<ChildProcess>();
  t.after(() => {
    for (const child of children) child.kill('SIGKILL');
    rmSync(home, { recursive: true, force: true });
  });
  const start = (command: string, choices: RunChoices): ChildProcess => {
    const within = choices.namespace ?? namespace;
    const env = { PATH: process.env['PATH'] ?? '', HOME: home, KUBECONFIG: kubeconfig, ...choices.env };
    const child = spawn(binary, [...(within === '' ? [] : [`--namespace=${within}`]), ...wordsOf(command)], { env, cwd: home });
    children.add(child);
    child.on('close', () => children.delete(child));
    return child;
  };
  const run = (command: string, choices: RunChoices = {}): Promise<Ran> => finished(start(command, choices), choices.input ?? '');
  const ok = async (command: string, choices: RunChoices = {}): Promise<string> => {
    const { code, stdout, stderr } = await run(command, choices);
    if (code !== 0) throw new Error(`\`${command}\` ended with ${code}: ${stderr}${stdout}`);
    return stdout;
  };
  return {
    home,
    run,
    ok,
    fails: async (command, choices = {}) => {
      const { code, stdout, stderr } = await run(command, choices);
      if (code === 0) throw new Error(`\`${command}\` should fail and printed ${stdout}`);
      return stderr;
    },
    follow: (command) => following(start(command, {}), command),
    until: async (command, pattern, timeoutMs) => {
      let last: Ran | undefined;
      try {
        return await eventually(
          `\`${command}\` prints ${pattern}`,
          async () => {
            last = await run(command);
            return pattern.test(last.stdout + last.stderr) && { text: last.stdout + last.stderr };
          },
          timeoutMs,
        ).then(({ text }) => text);
      } catch (error) {
        throw new Error(`${(error as Error).message}; last it printed ${last?.stdout}${last?.stderr}`);
      }
    },
  };
}

const wordsOf = (command: string): string[] => (command.match(/(?:'[^']*'|[^\s'])+/g) ?? []).map((word) => word.replaceAll("'", ''));

function finished(child: ChildProcess, input: string): Promise<Ran> {
  let stdout = '';
  let stderr = '';
  child.stdout!.setEncoding('utf8').on('data', (chunk: string) => {
    stdout += chunk;
  });
  child.stderr!.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk;
  });
  child.stdin!.on('error', () => {});
  child.stdin!.end(input);
  const timer = setTimeout(() => child.kill('SIGKILL'), TIMEOUT_MS);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve({ code: code ?? -1, stdout, stderr });
    });
  });
}

function following(child: ChildProcess, command: string): Following {
  let text = '';
  for (const stream of [child.stdout!, child.stderr!])
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
  const closed = new Promise<void>((resolve) => child.on('close', () => resolve()));
  return {
    text: () => text,
    until: async (pattern) => {
      try {
        return await eventually(`\`${command}\` prints ${pattern}`, () => pattern.test(text) && text);
      } catch (error) {
        throw new Error(`${(error as Error).message}; so far it printed ${text}`);
      }
    },
    stop: async () => {
      child.kill();
      await closed;
    },
  };
}
