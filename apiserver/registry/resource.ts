/**
 * The declaration of a resource: what makes a kind different from any other. A kind is one `ResourceDefinition` value in
 * `apiserver/registry/<group>/<singular>.ts`; the handlers do the rest. Mirrors apiserver `registry/generic` and `registry/rest`.
 *
 * Facts that the schema data already has (plural, short names, verbs, field types) are not repeated in a definition.
 */
import type { FieldError } from '../../machinery/api/field-error.ts';
import type { KubeObject } from '../../machinery/api/object.ts';
import type { Store } from '../storage/interface.ts';
import type { Column } from './tables/columns.ts';

/** What a strategy may know about the request it serves. */
export interface StrategyContext {
  readonly now: Date;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  /** The group the client asked by: the same object may be served in several (events). */
  readonly requestGroup: string;
  /** '' for the main resource, else `status`, `scale`, … */
  readonly subresource: string;
  /** Adds a `Warning: 299` header to the answer. */
  warn(text: string): void;
  /** Lets time pass: what a new namespace gets by its controllers may come a moment later. */
  sleep(ms: number): Promise<void>;
  /** Random lower-case text as generated names end with. */
  suffix(length: number): string;
  /** Reads other objects, as admission and allocation need it. Committed state only. */
  readonly reader: ObjectReader;
}

export interface UserInfo {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export interface ObjectReader {
  get<T extends KubeObject>(group: string, resource: string, namespace: string, name: string): T | undefined;
  list<T extends KubeObject>(group: string, resource: string, namespace?: string): readonly T[];
}

/**
 * The steps of one write, in upstream's order: default → (mutating admission) → prepare → validate → (validating admission) → store.
 * `object` is a decoded, private copy that a step may change in place; `old` must not be changed.
 */
export interface Strategy<T extends KubeObject = KubeObject> {
  /** Fills unset fields (SetDefaults_*). Runs on every decode, of requests and of patches' results. */
  default?(object: T): void;
  /** Mutating admission of this kind (default tolerations, service account, priority …): create only, after default. May throw StatusError. */
  admit?(object: T, context: StrategyContext): void | Promise<void>;
  /** BeforeCreate: clears what a client may not set. metadata is already done. */
  prepareForCreate?(object: T, context: StrategyContext): void;
  /** BeforeUpdate of the main resource: keeps status, sets what the server owns. */
  prepareForUpdate?(object: T, old: T, context: StrategyContext): void;
  /** All errors at once, in upstream's order; of the object without its metadata, which `validation/write.ts` has checked with `nameRule`. */
  validate?(object: T, context: StrategyContext): FieldError[];
  /** All errors of an update of the main resource, the create rules that still apply included; without those of metadata, as above. */
  validateUpdate?(object: T, old: T, context: StrategyContext): FieldError[];
  /** Warnings of a create or update (WarningsOnCreate, WarningsOnUpdate). */
  warnings?(object: T, old: T | undefined): string[];
  /** Validating admission of this kind: create only, after validation. May throw StatusError. */
  admitValidated?(object: T, context: StrategyContext): void | Promise<void>;
  /** The same of an update of the object or of a view of it; `context.subresource` says which. */
  admitUpdate?(object: T, old: T, context: StrategyContext): void | Promise<void>;
  /** Reserves what the object holds beyond itself (cluster IPs, node ports). Returns a function that gives it back if the write fails. */
  allocate?(object: T, old: T | undefined, context: StrategyContext): (() => void) | undefined;
  /** Called after the object is gone from the store. */
  release?(object: T): void;
}

/**
 * `none`: the server neither sets nor raises metadata.generation. `initial`: 1 for ever (priority classes). `spec`: 1 at create, raised when anything but metadata and status changes.
 * `specAndAnnotations`: annotations count too (deployments); `specAndLabels`: labels (endpoint slices). `deferred`: not set at create, raised by changes (CSI drivers).
 */
export type GenerationRule = 'none' | 'initial' | 'spec' | 'specAndAnnotations' | 'specAndLabels' | 'deferred';

export interface RowCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

/** How the kind prints as a Table. Column facts come from `tables/columns.ts`. */
export interface TableDefinition<T extends KubeObject = KubeObject> {
  readonly columns: readonly Column[];
  /** One row: a cell per column of `columns`, in order. */
  readonly cells: (object: T, now: Date) => unknown[];
  /** What the row says of the object besides its cells (finished pods). */
  readonly rowConditions?: (object: T) => readonly RowCondition[] | undefined;
  /** Order of the rows of a list where it is not key order (flow schemas by precedence). */
  readonly order?: (a: T, b: T) => number;
  /** A list of none has `rows: null` where others have `[]`. */
  readonly emptyIsNull?: boolean;
}

export interface SubresourceStrategy<T extends KubeObject = KubeObject> {
  /** For a subresource that is a view of the object itself (status, ephemeralcontainers, resize): */
  prepareForUpdate(object: T, old: T, context: StrategyContext): void;
  validateUpdate?(object: T, old: T, context: StrategyContext): FieldError[];
}

/** `spec.replicas`-like paths of the scale subresource. */
export interface ScaleDefinition<T extends KubeObject = KubeObject> {
  replicas(object: T): number;
  setReplicas(object: T, replicas: number): void;
  statusReplicas(object: T): number;
  /** Label selector in its string form, '' when there is none. */
  selector(object: T): string;
}

export interface ResourceDefinition<T extends KubeObject = KubeObject> {
  readonly group: string;
  /** The version objects are stored in. Other served versions are listed in `conversions`. */
  readonly version: string;
  readonly resource: string;
  readonly kind: string;
  readonly strategy: Strategy<T>;
  /** Checks metadata.name (upstream's ValidateObjectMeta name function): each string is the detail of an Invalid value. Default: DNS subdomain. */
  readonly nameRule?: (name: string, prefix: boolean) => string[];
  readonly generation: GenerationRule;
  readonly table: TableDefinition<T>;
  /** Selectable fields besides metadata.name and metadata.namespace: label → value as text. */
  readonly selectableFields?: Readonly<Record<string, (object: T) => string>>;
  /** Objects that are never stored but made when asked for, sorted by name. */
  readonly made?: (reader: ObjectReader, now: Date) => readonly T[];
  /** Annotations that stand for a field of upstream's internal type: forms that show only metadata do not have them. */
  readonly hiddenAnnotations?: readonly string[];
  /** What an object of the kind holds that was never filled, beyond its schema's zero values: the object of a bookmark. */
  readonly zero?: Readonly<Record<string, unknown>>;
  /** The kind refuses the field label metadata.namespace (namespaces, nodes, CSRs). */
  readonly noNamespaceField?: boolean;
  /** Upstream has four texts for an unknown field label. */
  readonly fieldLabelError?: 'generic' | 'notSupported' | 'notSupportedForKind' | 'notSupportedForType';
  readonly status?: SubresourceStrategy<T>;
  readonly scale?: ScaleDefinition<T>;
  /** Further views: ephemeralcontainers, resize, finalize, approval. */
  readonly views?: Readonly<Record<string, SubresourceStrategy<T>>>;
  /** A PUT of a missing object creates it. */
  readonly createOnUpdate: boolean;
  /** A PUT without resourceVersion overwrites; else it is refused (validation/write.ts does so). */
  readonly unconditionalUpdate: boolean;
  /** `object` answers a completed delete with the object instead of a Status. */
  readonly deleteAnswer?: 'status' | 'object';
  /** The warning of a delete that names no propagation policy (jobs). */
  readonly deleteWarning?: string;
  /** The warning of every request for the resource (endpoints). */
  readonly deprecation?: string;
  /** Its updates say that someone is alive: they go on when the store is full. */
  readonly isHeartbeat?: boolean;
  /** Why the object of this name may not be deleted (403), if so. */
  readonly deleteRefusal?: (name: string) => string | undefined;
  /** `None`: nothing depends on such objects, and no deletion waits for a garbage collector (events). */
  readonly defaultPropagation?: 'Background' | 'Orphan' | 'None';
  /** Graceful deletion (pods): the grace period to use, in seconds, given the requested one; undefined means at once. */
  readonly gracePeriod?: (object: T, requestedSeconds: number | undefined) => number | undefined;
  /**
   * Deletion in two steps (namespaces): the first DELETE only marks the object and calls `begin`, whatever finalizers it has. It leaves the store when
   * metadata.finalizers are empty and `held` is false: at a later DELETE, or after the update that freed it. A DELETE meanwhile answers the object.
   */
  readonly twoStepDelete?: { begin(object: T): void; held(object: T): boolean };
  /** Other served versions of the same stored object: events.k8s.io/v1 Event, autoscaling/v1 HorizontalPodAutoscaler. */
  readonly conversions?: readonly VersionConversion<T>[];
}

export interface VersionConversion<T extends KubeObject = KubeObject> {
  readonly group: string;
  readonly version: string;
  /** Selectable fields by the names of this version: label → label of the stored version. Absent: they are the same. */
  readonly fieldLabels?: Readonly<Record<string, string>>;
  /** Both take and return private copies. */
  toStored(object: KubeObject): T;
  fromStored(object: T): KubeObject;
}

/** What a registry needs at start: reads the store to rebuild in-memory allocators. */
export interface RegistryDeps {
  readonly store: Store;
  readonly serviceClusterIpRange: string;
  readonly serviceNodePortRange: readonly [number, number];
}

/** All resources the API server stores or answers by a definition. */
export interface Registry {
  /** By any served version: `definition('events.k8s.io', 'v1', 'events')` is the definition of core events. */
  definition(group: string, version: string, resource: string): ResourceDefinition | undefined;
  definitions(): readonly ResourceDefinition[];
}

/** The storage key of an object: `/apps/deployments/default/web`, `/core/nodes/node-1`. */
export function storageKey(group: string, resource: string, namespace: string, name: string): string {
  return `${storagePrefix(group, resource, namespace)}${name}`;
}

export function storagePrefix(group: string, resource: string, namespace = ''): string {
  return `/${group === '' ? 'core' : group}/${resource}/${namespace === '' ? '' : `${namespace}/`}`;
}
