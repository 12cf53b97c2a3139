/** For tests: one object of a kind that several managers write to, without an API server around it. */
import { decodeObject } from '../../../machinery/api/decode.ts';
import type { AnyObject, KubeObject } from '../../../machinery/api/object.ts';
import type { Plain } from '../../../machinery/api/plain.ts';
import { typeSchema } from '../../../machinery/api/schema/schema.ts';
import { type ApplyConfiguration, applyConfiguration } from '../apply.ts';
import type { OwnedType } from '../ownership.ts';
import { resetFields } from '../reset-fields.ts';
import { trackUpdate } from '../track.ts';

export interface WriteOptions {
  readonly subresource?: string;
  readonly force?: boolean;
}

export class OwnedObject {
  live: AnyObject | undefined;
  readonly #type: string;
  readonly #more: Partial<OwnedType>;
  #seconds = 0;

  /** `core.v1.ConfigMap`, `apps.v1.Deployment`. */
  constructor(type: string, more: Partial<OwnedType> = {}) {
    this.#type = type;
    this.#more = more;
  }

  get kind(): string {
    return this.#type.slice(this.#type.lastIndexOf('.') + 1);
  }
  get apiVersion(): string {
    const [group, version] = this.#type.split('.');
    return group === 'core' ? version : `${group}/${version}`;
  }

  /** A create or PUT: the whole object. */
  put(manager: string, object: Plain, { subresource = '' }: WriteOptions = {}): this {
    const next = this.#complete(object);
    const managedFields = trackUpdate({ ...this.#owned(subresource), live: this.live, object: next, manager, now: this.#now() });
    this.live = withOwnership(next, managedFields);
    return this;
  }

  /** Changes members of the live object; undefined removes one. */
  change(manager: string, change: (object: AnyObject) => void, options?: WriteOptions): this {
    const next = structuredClone(this.live!);
    change(next);
    return this.put(manager, next, options);
  }

  apply(manager: string, config: Plain, { force = false, subresource = '' }: WriteOptions = {}): this {
    const request: ApplyConfiguration = {
      ...this.#owned(subresource),
      kind: this.kind,
      live: this.live,
      config: this.#complete(config),
      manager,
      force,
      now: this.#now(),
    };
    const { object, managedFields } = applyConfiguration(request);
    const decoded = decodeObject(typeSchema(this.#type), object as unknown as Plain, { strict: false }).object as unknown as KubeObject;
    this.live = withOwnership(decoded, managedFields);
    return this;
  }

  /** `alpha Apply {"f:data":{}}`, in stored order. */
  get owners(): string[] {
    return (this.live?.metadata.managedFields ?? []).map(
      ({ manager, operation, subresource, fieldsV1 }) =>
        `${manager}${subresource ? `/${subresource}` : ''} ${operation} ${JSON.stringify(fieldsV1)}`,
    );
  }

  /** Seconds by manager; `-` for an entry without time. */
  get times(): string {
    return (this.live?.metadata.managedFields ?? [])
      .map(({ manager, time }) => `${manager} ${time ? Number(time.slice(17, 19)) : '-'}`)
      .join(', ');
  }

  #complete(object: Plain): KubeObject & Plain {
    const metadata = { name: 'a', ...(object['metadata'] as object) };
    return { apiVersion: this.apiVersion, kind: this.kind, ...object, metadata } as KubeObject & Plain;
  }

  #owned(subresource: string): OwnedType {
    const [group, resource] = [this.apiVersion.includes('/') ? this.apiVersion.split('/')[0] : '', `${this.kind.toLowerCase()}s`];
    const reset = resetFields(group, resource, subresource);
    return { schema: typeSchema(this.#type), apiVersion: this.apiVersion, subresource, resetFields: reset, ...this.#more };
  }

  #now(): Date {
    return new Date(Date.UTC(2026, 0, 1, 0, 0, ++this.#seconds));
  }
}

function withOwnership(object: KubeObject, managedFields: KubeObject['metadata']['managedFields']): AnyObject {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata: { ...metadata, ...(managedFields && { managedFields }) } } as AnyObject;
}
