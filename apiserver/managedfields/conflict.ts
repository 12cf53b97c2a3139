/** The answer to an apply that would change what others own. Mirrors apimachinery `managedfields/internal/conflict.go`. */
import { quoteGo } from '../../machinery/api/field-error.ts';
import { StatusError } from '../../machinery/api/status.ts';
import { type FieldSet, pathTexts } from './field-set.ts';
import type { Managers } from './managers.ts';

/** `conflicts` by manager identifier. */
export function conflictError(managers: Managers, conflicts: ReadonlyMap<string, FieldSet>): StatusError {
  const byManager = [...conflicts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([id, set]) => ({ who: nameOf(managers, id), paths: pathTexts(set) }));
  const causes = byManager.flatMap(({ who, paths }) =>
    paths.map((field) => ({ reason: 'FieldManagerConflict', message: `conflict with ${who}`, field })),
  );
  const list = byManager.map(({ who, paths }) => [`conflicts with ${who}:`, ...paths.map((path) => `- ${path}`)].join('\n'));
  const message =
    causes.length === 1
      ? `Apply failed with 1 conflict: ${causes[0].message}: ${causes[0].field}`
      : `Apply failed with ${causes.length} conflicts: ${list.join('\n')}`;
  return new StatusError({ status: 'Failure', message, reason: 'Conflict', details: { causes }, code: 409 });
}

function nameOf(managers: Managers, id: string): string {
  const { name, subresource, applied, apiVersion } = managers.get(id)!;
  return `${quoteGo(name)}${subresource === '' ? '' : ` with subresource ${quoteGo(subresource)}`}${applied ? '' : ` using ${apiVersion}`}`;
}
