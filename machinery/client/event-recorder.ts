/** Records Events about objects, as client-go `tools/record`: same key, same event — repeated ones are counted (series), floods are limited. */
import type { KubeObject } from '../api/object.ts';

export interface EventOptions {
  /** What was being done, as in events.k8s.io: `Binding`, `Scheduling`. */
  readonly action?: string;
  readonly related?: KubeObject;
  /** The part of the object: `spec.containers{web}`. */
  readonly fieldPath?: string;
  /** The node it happened on, when one process speaks for several; else the recorder's own. */
  readonly host?: string;
}

export interface EventRecorder {
  /**
   * Never throws and never blocks the caller; the write happens behind.
   * `type` is Normal or Warning; `reason` UpperCamelCase; `message` for people. `action` and `related` as in events.k8s.io.
   */
  event(about: KubeObject, type: 'Normal' | 'Warning', reason: string, message: string, options?: EventOptions): void;
  /** Settles when everything recorded so far has been sent or given up. */
  flush(): Promise<void>;
}
