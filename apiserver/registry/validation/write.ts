/**
 * The checks of one write, in upstream's order and multiplicity: rules that hold for every kind and the kind's own. Mirrors apiserver
 * `registry/rest` BeforeCreate and BeforeUpdate (what they validate; not what they fill in).
 *
 * Upstream checks metadata up to four times in an update; every error shows as often among the causes, once in the message. Metadata without
 * mistakes is walked once here.
 */
import { deepEqual } from '../../../machinery/api/equality.ts';
import type { FieldError } from '../../../machinery/api/field-error.ts';
import { nameIsPathSegment, nameIsSubdomain } from '../../../machinery/api/names.ts';
import { type AnyObject, type KubeObject, parseApiVersion } from '../../../machinery/api/object.ts';
import { kindSchema } from '../../../machinery/api/schema/schema.ts';
import { invalid, type StatusError } from '../../../machinery/api/status.ts';
import type { GenerationRule, ResourceDefinition, StrategyContext, SubresourceStrategy } from '../resource.ts';
import { kubeFinalizerErrors, metadataErrors, metadataUpdateErrors } from './metadata.ts';
import { metadataPasses, takesKubeFinalizersOnly } from './metadata-passes.ts';

const namespacedOf = (object: KubeObject, namespaced: boolean | undefined): boolean =>
  namespaced ?? object.metadata.namespace !== undefined;

/** Throws 422 with all errors of a new object. `namespaced` is the resource's scope. */
export function validateCreate(definition: ResourceDefinition, object: KubeObject, context: StrategyContext, namespaced?: boolean): void {
  const errors: FieldError[] = [];
  const scoped = namespacedOf(object, namespaced);
  metadataErrors(object.metadata, scoped, definition.nameRule ?? nameIsSubdomain, errors);
  if (takesKubeFinalizersOnly(definition.group)) kubeFinalizerErrors(object.metadata.finalizers, errors);
  const own = definition.strategy.validate?.(object, context);
  if (own !== undefined) for (const error of own) errors.push(error);
  if (errors.length === 0) metadataErrors(object.metadata, scoped, nameIsPathSegment, errors);
  refuse(definition, object, errors);
}

/** Throws 422 with all errors of an update of the main resource (`view` absent) or of a view such as status. */
export function validateUpdate(
  definition: ResourceDefinition,
  [object, old]: readonly [KubeObject, KubeObject],
  context: StrategyContext,
  options: { readonly namespaced?: boolean; readonly view?: SubresourceStrategy } = {},
): void {
  const errors: FieldError[] = [];
  const namespaced = namespacedOf(object, options.namespaced);
  metadataErrors(object.metadata, namespaced, nameIsPathSegment, errors);
  metadataUpdateErrors(object.metadata, old.metadata, errors);
  const flawless = errors.length === 0;
  const { passes, kubeFinalizers } = metadataPasses(definition.group, definition.resource, context.subresource);
  for (const pass of passes) {
    if (flawless) {
      // Nothing to be found again.
    } else if (pass === 'whole') metadataErrors(object.metadata, namespaced, () => [], errors);
    else metadataUpdateErrors(object.metadata, old.metadata, errors);
    if (kubeFinalizers) kubeFinalizerErrors(object.metadata.finalizers, errors);
  }
  const own =
    options.view === undefined
      ? definition.strategy.validateUpdate?.(object, old, context)
      : options.view.validateUpdate?.(object, old, context);
  if (own !== undefined) for (const error of own) errors.push(error);
  refuse(definition, object, errors);
}

function refuse(definition: ResourceDefinition, object: KubeObject, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalid({ group: definition.group, kind: definition.kind }, object.metadata.name ?? '', errors);
}

/** The refusal of an update without resourceVersion where the kind asks for one; the plural stands for the kind, as upstream has it. */
export function missingVersion(definition: ResourceDefinition, name: string): StatusError {
  return invalid({ group: definition.group, kind: definition.resource }, name, [
    {
      type: 'FieldValueInvalid',
      field: 'metadata.resourceVersion',
      body: 'Invalid value: 0: must be specified for an update',
      message: 'metadata.resourceVersion: Invalid value: 0: must be specified for an update',
    },
  ]);
}

/** Sets metadata.generation of a new object. ConfigMaps and their like keep what was sent. */
export function initialGeneration(rule: GenerationRule, object: KubeObject): void {
  if (rule !== 'none' && rule !== 'deferred') object.metadata.generation = 1;
}

/** Keeps the generation, raised by one when the rule says that what is asked for has changed. Call after prepareForUpdate. */
export function nextGeneration(rule: GenerationRule, object: KubeObject, old: KubeObject): void {
  const generation = old.metadata.generation;
  if (rule !== 'none' && rule !== 'initial' && desiredChanged(rule, object as AnyObject, old as AnyObject))
    object.metadata.generation = (generation ?? 0) + 1;
  else if (generation === undefined) delete object.metadata.generation;
  else object.metadata.generation = generation;
}

const NOT_DESIRED = new Set(['apiVersion', 'kind', 'metadata', 'status']);

const desiredOf = (object: AnyObject): object => Object.fromEntries(Object.entries(object).filter(([key]) => !NOT_DESIRED.has(key)));

function desiredChanged(rule: GenerationRule, object: AnyObject, old: AnyObject): boolean {
  if (rule === 'specAndAnnotations' && !deepEqual(object.metadata.annotations, old.metadata.annotations)) return true;
  if (rule === 'specAndLabels' && !deepEqual(object.metadata.labels, old.metadata.labels)) return true;
  return !deepEqual(
    desiredOf(object),
    desiredOf(old),
    kindSchema({ ...parseApiVersion(object.apiVersion ?? ''), kind: object.kind ?? '' }),
  );
}
