/**
 * MutatingWebhookConfiguration: webhooks that change what is written. Mirrors kubernetes `pkg/registry/admissionregistration/mutatingwebhookconfiguration`.
 */
import type { MutatingWebhookConfiguration } from '../../../machinery/api/types/admissionregistration.k8s.io.v1.ts';
import { defineKind } from '../define.ts';
import { ageCell } from '../tables/cells.ts';
import { defaultWebhook, type Webhook } from './defaults.ts';
import { type AnyWebhook, webhooksErrors } from './webhooks.ts';

export const mutatingwebhookconfiguration = defineKind<MutatingWebhookConfiguration>({
  group: 'admissionregistration.k8s.io',
  resource: 'mutatingwebhookconfigurations',
  kind: 'MutatingWebhookConfiguration',
  generation: 'spec',
  unconditionalUpdate: false,
  strategy: {
    default: (object) => {
      for (const webhook of object.webhooks ?? []) {
        defaultWebhook(webhook as Webhook);
        webhook.reinvocationPolicy ??= 'Never';
      }
    },
    validate: (object) => webhooksErrors((object.webhooks ?? []) as AnyWebhook[]),
    validateUpdate: (object, old) => webhooksErrors((object.webhooks ?? []) as AnyWebhook[], (old.webhooks ?? []) as AnyWebhook[]),
  },
  cells: (object, now) => [object.metadata.name, object.webhooks?.length ?? 0, ageCell(object.metadata.creationTimestamp, now)],
});
