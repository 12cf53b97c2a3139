/**
 * Admission of objects of several kinds: what looks at a write beside the kind itself. Mirrors apiserver `admission.Interface` and its chain.
 *
 * A plugin says which resources it looks at; `withAdmission` puts the plugins of a resource into its strategy. Handlers know the steps of a strategy
 * only, kinds know nothing of plugins. Plugins run in the order of `plugins.ts`, each step of all of them before the next step.
 */
import type { KubeObject } from '../../../machinery/api/object.ts';
import { forbidden } from '../../../machinery/api/status.ts';
import type { ResourceDefinition, Strategy, StrategyContext } from '../resource.ts';

export interface AdmissionRequest<T extends KubeObject = KubeObject> {
  readonly group: string;
  readonly resource: string;
  /** '' for the main resource, else `status`, `resize`, … */
  readonly subresource: string;
  readonly object: T;
  /** undefined for a create. */
  readonly old: T | undefined;
  readonly context: StrategyContext;
}

export interface AdmissionPlugin {
  readonly name: string;
  handles(group: string, resource: string): boolean;
  /** Changes a new object, before what the kind itself does. */
  mutate?(request: AdmissionRequest): void | Promise<void>;
  /** Throws StatusError when the write may not be. The object is complete and valid. */
  validate?(request: AdmissionRequest): void | Promise<void>;
}

export function withAdmission(definition: ResourceDefinition, plugins: readonly AdmissionPlugin[]): ResourceDefinition {
  const { group, resource, strategy } = definition;
  const own = plugins.filter((plugin) => plugin.handles(group, resource));
  const mutating = own.filter((plugin) => plugin.mutate);
  const validating = own.filter((plugin) => plugin.validate);
  const request = (object: KubeObject, old: KubeObject | undefined, context: StrategyContext): AdmissionRequest => ({
    group,
    resource,
    subresource: context.subresource,
    object,
    old,
    context,
  });
  const next: Strategy = { ...strategy };
  if (mutating.length > 0) {
    next.admit = async (object, context) => {
      for (const plugin of mutating) await plugin.mutate!(request(object, undefined, context));
      await strategy.admit?.(object, context);
    };
  }
  if (validating.length > 0) {
    next.admitValidated = async (object, context) => {
      await strategy.admitValidated?.(object, context);
      for (const plugin of validating) await plugin.validate!(request(object, undefined, context));
    };
    next.admitUpdate = async (object, old, context) => {
      await strategy.admitUpdate?.(object, old, context);
      for (const plugin of validating) await plugin.validate!(request(object, old, context));
    };
  }
  return { ...definition, strategy: next };
}

/** 403, naming the object as far as it has a name. */
export function refuse({ group, resource, object }: AdmissionRequest, why: string): Error {
  return forbidden({ group, resource }, object.metadata.name || object.metadata.generateName || '', why);
}

/** Several reasons as Go's aggregates print them: each once. */
export function joinReasons(reasons: readonly string[]): string {
  const unique = [...new Set(reasons)];
  return unique.length === 1 ? unique[0]! : `[${unique.join(', ')}]`;
}
