/** Records Events about objects, as client-go `tools/record`: same key, same event — repeated ones are counted (series), floods are limited. */
import type { KubeObject } from '../api/object.ts';

export interface EventRecorder {
  /**
   * Never throws and never blocks the caller; the write happens behind.
   * `type` is Normal or Warning; `reason` UpperCamelCase; `message` for people. `action` and `related` as in events.k8s.io.
   */
  event(
    about: KubeObject,
    type: 'Normal' | 'Warning',
    reason: string,
    message: string,
    options?: { readonly action?: string; readonly related?: KubeObject },
  ): void;
  /** Settles when everything recorded so far has been sent or given up. */
  flush(): Promise<void>;
}
