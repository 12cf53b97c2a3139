/**
 * Which resources the API serves: names, verbs, subresources, in the order that discovery prints. Mirrors what upstream's legacy and
 * aggregated discovery say of a server with default flags.
 */
import { readDataFile } from './data.ts';

export interface SubresourceInfo {
  readonly name: string;
  readonly kind: string;
  readonly verbs: readonly string[];
  /** The group and version of `kind`, when they differ from the resource's. */
  readonly group?: string;
  readonly version?: string;
  readonly type: string;
  readonly request?: string;
  readonly response?: string;
  /** Query parameters and HTTP methods of a connect subresource. */
  readonly query?: readonly string[];
  readonly methods?: readonly string[];
  readonly subpath?: boolean;
}

export interface ResourceInfo {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly storageVersionHash?: string;
  /** Full type name: `apps.v1.Deployment`. */
  readonly type: string;
  readonly listKind?: string;
  readonly listType?: string;
  /** Answers that differ from the rule, per action: `{delete: 'core.v1.Pod'}`. */
  readonly responses?: Readonly<Record<string, string>>;
  readonly subresources?: readonly SubresourceInfo[];
}

export interface GroupInfo {
  readonly group: string;
  /** In order of preference. */
  readonly versions: readonly string[];
  readonly preferred: string;
}

/** A version that a server with default flags does not serve. */
export interface OffByDefault {
  readonly group: string;
  readonly version: string;
  /** What upstream would serve of it; empty when all of it is gone. */
  readonly resources: readonly string[];
  /** What its types are, served or not. */
  readonly kinds: readonly string[];
}

interface ResourcesFile {
  readonly groups: readonly GroupInfo[];
  readonly offByDefault: readonly OffByDefault[];
  readonly resources: readonly ResourceInfo[];
}

let file: ResourcesFile | undefined;

function load(): ResourcesFile {
  file ??= readDataFile('resources.json') as ResourcesFile;
  return file;
}

export function builtinResources(): readonly ResourceInfo[] {
  return load().resources;
}

/** Groups in the order of /apis, the core group ('') first. */
export function apiGroups(): readonly GroupInfo[] {
  return load().groups;
}

export function offByDefault(): readonly OffByDefault[] {
  return load().offByDefault;
}
