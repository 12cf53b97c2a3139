/**
 * ValidatingWebhookConfiguration: webhooks that check what is written. Mirrors kubernetes `pkg/registry/admissionregistration/validatingwebhookconfiguration`.
 */
import type { ValidatingWebhookConfiguration } from '../../../machinery/api/types/admissionregistration.k8s.io.v1.ts';
import { defineKind } from '../define.ts';
import { ageCell } from '../tables/cells.ts';
import { defaultWebhook, type Webhook } from './defaults.ts';
import { type AnyWebhook, webhooksErrors } from './webhooks.ts';

export const validatingwebhookconfiguration = defineKind<ValidatingWebhookConfiguration>({
  group: 'admissionregistration.k8s.io',
  resource: 'validatingwebhookconfigurations',
  kind: 'ValidatingWebhookConfiguration',
  generation: 'spec',
  unconditionalUpdate: false,
  strategy: {
    default: (object) => {
      for (const webhook of object.webhooks ?? []) {
        defaultWebhook(webhook as Webhook);
      }
    },
    validate: (object) => webhooksErrors((object.webhooks ?? []) as AnyWebhook[]),
    validateUpdate: (object, old) => webhooksErrors((object.webhooks ?? []) as AnyWebhook[], (old.webhooks ?? []) as AnyWebhook[]),
  },
  cells: (object, now) => [object.metadata.name, object.webhooks?.length ?? 0, ageCell(object.metadata.creationTimestamp, now)],
});
