/** The store's tools as a process: `check`, `backup`, `restore`. */
import { runTool } from './run.ts';

process.exitCode = await runTool(process.argv.slice(2), {
  out: (line) => void process.stdout.write(`${line}\n`),
  err: (line) => void process.stderr.write(`${line}\n`),
});
