/**
 * Runs the tests with node's own runner: everything, or the files and folders given.
 *
 *   npm test                          all
 *   npm test -- test/e2e              one folder
 *   npm test -- machinery/api/json.test.ts
 */
import { spawn } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const ROOTS = ['machinery', 'apiserver', 'controllers', 'scheduler', 'kubelet', 'cluster', 'cli', 'scripts', 'test'];

function testsIn(path: string): string[] {
  if (statSync(path).isFile()) return [path];
  return readdirSync(path, { withFileTypes: true }).flatMap((entry) => {
    const child = join(path, entry.name);
    if (entry.isDirectory()) return testsIn(child);
    return entry.name.endsWith('.test.ts') ? [child] : [];
  });
}

function run(command: string, args: string[]): Promise<number> {
  return new Promise((resolve) => {
    spawn(command, args, { stdio: 'inherit' }).on('exit', (code, signal) => resolve(code ?? (signal ? 1 : 0)));
  });
}

const asked = process.argv.slice(2);
const flags = asked.filter((arg) => arg.startsWith('-'));
const paths = asked.filter((arg) => !arg.startsWith('-'));
const files = (paths.length > 0 ? paths : ROOTS).flatMap(testsIn);
const built = await run(process.execPath, ['--import', 'tsx', 'scripts/build.ts']);
process.exitCode = built || (await run(process.execPath, ['--import', 'tsx', '--test', '--test-concurrency=2', ...flags, ...files]));
