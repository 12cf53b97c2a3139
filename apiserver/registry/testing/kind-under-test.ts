/**
 * A kind under test: what it says of an object without a server around it. Metadata is not judged; that is the same for all kinds.
 */
import { deepClone } from '../../../machinery/api/equality.ts';
import { type KubeObject, parseApiVersion } from '../../../machinery/api/object.ts';
import type { ResourceDefinition, StrategyContext } from '../resource.ts';

/** The moment at which tests happen. */
export const NOW = new Date('2026-01-01T00:00:00Z');

export interface Asking {
  /** The stored object: makes it an update. */
  readonly old?: object;
  /** '' for the main resource. */
  readonly subresource?: string;
  /** What else is stored. */
  readonly others?: readonly KubeObject[];
}

export function contextOf(definition: ResourceDefinition, { subresource = '', others = [] }: Asking = {}): StrategyContext {
  const inGroup = (group: string, namespace?: string): KubeObject[] =>
    others.filter(
      (o) => parseApiVersion(o.apiVersion ?? '').group === group && (namespace === undefined || o.metadata.namespace === namespace),
    );
  const reader = {
    get: (group: string, _resource: string, namespace: string, name: string) =>
      inGroup(group).find((o) => o.metadata.name === name && (o.metadata.namespace ?? '') === namespace),
    list: (group: string, _resource: string, namespace?: string) => inGroup(group, namespace),
  };
  return {
    now: NOW,
    user: { name: 'ann', groups: ['system:authenticated'] },
    dryRun: false,
    requestGroup: definition.group,
    subresource,
    warn: () => {},
    sleep: async () => {},
    suffix: (length) => 'x'.repeat(length),
    reader: reader as unknown as StrategyContext['reader'],
  };
}

function prepared(definition: ResourceDefinition, object: object): KubeObject {
  const copy = deepClone({ metadata: { name: 'a' }, ...object }) as KubeObject;
  definition.strategy.default?.(copy);
  return copy;
}

/** All errors, `field: text`, of a create or (with `old`) an update, after defaults. */
export function refusals(definition: ResourceDefinition, object: object, asking: Asking = {}): string[] {
  const { strategy, status, views } = definition;
  const context = contextOf(definition, asking);
  const sent = prepared(definition, object);
  if (asking.old === undefined) return (strategy.validate?.(sent, context) ?? []).map(({ message }) => message);
  const old = prepared(definition, asking.old);
  const view = asking.subresource === 'status' ? status : views?.[asking.subresource ?? ''];
  const writer = view ?? strategy;
  writer.prepareForUpdate?.(sent, old, context);
  return (writer.validateUpdate?.(sent, old, context) ?? []).map(({ message }) => message);
}

/** What validating admission of the kind throws, if anything. */
export async function admissionRefusal(definition: ResourceDefinition, object: object, asking: Asking = {}): Promise<string | undefined> {
  const { strategy } = definition;
  const context = contextOf(definition, asking);
  const sent = prepared(definition, object);
  try {
    if (asking.old === undefined) await strategy.admitValidated?.(sent, context);
    else await strategy.admitUpdate?.(sent, prepared(definition, asking.old), context);
  } catch (error) {
    return (error as Error).message;
  }
  return undefined;
}

export const warningsOf = (definition: ResourceDefinition, object: object, old?: object): string[] =>
  definition.strategy.warnings?.(prepared(definition, object), old && prepared(definition, old)) ?? [];

export const cellsOf = (definition: ResourceDefinition, object: object): unknown[] =>
  definition.table.cells(prepared(definition, object), NOW);

export const nameDetails = (definition: ResourceDefinition, name: string): string[] => definition.nameRule?.(name, false) ?? [];

/** Metadata after a write to the status of `old`. */
export function metadataAfterStatusWrite(definition: ResourceDefinition, object: KubeObject, old: KubeObject): KubeObject['metadata'] {
  const sent = deepClone(object);
  definition.status?.prepareForUpdate?.(sent, old, contextOf(definition, { subresource: 'status' }));
  return sent.metadata;
}
