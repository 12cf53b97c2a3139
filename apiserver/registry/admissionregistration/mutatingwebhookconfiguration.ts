/**
 * MutatingWebhookConfiguration: webhooks that change what is written. Mirrors kubernetes `pkg/registry/admissionregistration/mutatingwebhookconfiguration`.
 */
import type { MutatingWebhookConfiguration } from '../../../machinery/api/types/admissionregistration.k8s.io.v1.ts';
import { defineKind } from '../define.ts';
import { ageCell } from '../tables/cells.ts';
import { defaultWebhook, type Webhook } from './defaults.ts';

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
  },
  cells: (object, now) => [object.metadata.name, object.webhooks?.length ?? 0, ageCell(object.metadata.creationTimestamp, now)],
});
