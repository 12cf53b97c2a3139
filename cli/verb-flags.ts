/** Flags that many verbs share, under kubectl's names and with its defaults (cli-runtime `genericclioptions`). */
import { CliError } from './errors.ts';
import type { Flags, FlagTable } from './flags.ts';

export const OUTPUT_FLAGS: FlagTable = {
  output: {
    type: 'string',
    short: 'o',
    help: 'Output format. One of: json, yaml, name, go-template, go-template-file, jsonpath, jsonpath-as-json, jsonpath-file',
  },
  template: { type: 'string', help: 'Template string or path to template file to use when -o=go-template, -o=go-template-file' },
  'allow-missing-template-keys': {
    type: 'boolean',
    default: true,
    help: 'If true, ignore any errors in templates when a field or map key is missing',
  },
  'show-managed-fields': { type: 'boolean', help: 'If true, keep the managedFields when printing objects in JSON or YAML format' },
};

export const FILE_FLAGS: FlagTable = {
  filename: { type: 'list', short: 'f', help: 'Files or directories that contain the objects, or - for standard input' },
  recursive: { type: 'boolean', short: 'R', help: 'Process the directory used in -f, --filename recursively' },
  kustomize: { type: 'string', short: 'k', help: 'Process a kustomization directory', hidden: true },
};

export const SELECTOR_FLAGS: FlagTable = {
  selector: { type: 'string', short: 'l', help: "Selector (label query) to filter on, supports '=', '==', '!=', 'in', 'notin'" },
};

export const FIELD_SELECTOR_FLAGS: FlagTable = {
  'field-selector': { type: 'string', help: "Selector (field query) to filter on, supports '=', '==', and '!='" },
};

export const ALL_NAMESPACES_FLAG: FlagTable = {
  'all-namespaces': { type: 'boolean', short: 'A', help: 'If present, list the requested object(s) across all namespaces' },
};

export const DRY_RUN_FLAG: FlagTable = {
  'dry-run': { type: 'string', default: 'none', bare: 'unchanged', help: 'Must be "none", "server", or "client"' },
};

export const VALIDATE_FLAG: FlagTable = {
  validate: { type: 'string', default: 'strict', bare: 'strict', help: 'Must be one of: strict (or true), warn, ignore (or false)' },
};

export const managerFlag = (name: string): FlagTable => ({
  'field-manager': { type: 'string', default: name, help: 'Name of the manager used to track field ownership' },
});

export type DryRun = 'none' | 'client' | 'server';

export function dryRunOf(flags: Flags): DryRun {
  const value = flags.string('dry-run');
  if (value === 'none' || value === 'client' || value === 'server') return value;
  if (value === 'unchanged') throw new CliError('--dry-run without a value is no longer allowed: say --dry-run=client or --dry-run=server');
  if (/^(true|false|t|f|1|0)$/i.test(value)) throw new CliError(`Invalid dry-run value (${value}). Must be "none", "server", or "client".`);
  throw new CliError(`Invalid dry-run value (${value}). Must be "none", "server", or "client".`);
}

/** The `fieldValidation` of requests. */
export function validationOf(flags: Flags): 'Strict' | 'Warn' | 'Ignore' {
  const value = flags.string('validate');
  if (['strict', 'true'].includes(value)) return 'Strict';
  if (value === 'warn') return 'Warn';
  if (['ignore', 'false'].includes(value)) return 'Ignore';
  throw new CliError(`invalid - validate option "${value}"; must be one of: strict (or true), warn, ignore (or false)`);
}
