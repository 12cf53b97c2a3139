/** Lets a person edit a text in their editor. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CliError } from '../errors.ts';

/** What the file holds after the editor has ended. `editor` may carry arguments, as $EDITOR does. */
export function editText(text: string, editor: string, extension: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'flyball-edit-'));
  try {
    const path = join(folder, `edit${extension}`);
    writeFileSync(path, text, { mode: 0o600 });
    const { status, error } = spawnSync('/bin/sh', ['-c', `${editor} "$1"`, 'sh', path], { stdio: 'inherit' });
    if (error || status !== 0) throw new CliError(`there was a problem with the editor "${editor}"`);
    return readFileSync(path, 'utf8');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
