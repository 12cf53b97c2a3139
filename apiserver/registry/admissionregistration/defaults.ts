/**
 * Defaults that webhooks and policies share. Mirrors kubernetes `admissionregistration/v1/defaults.go`.
 */
import type {
  MatchResources,
  RuleWithOperations,
  WebhookClientConfig,
} from '../../../machinery/api/types/admissionregistration.k8s.io.v1.ts';

export interface Webhook {
  clientConfig?: WebhookClientConfig;
  rules?: RuleWithOperations[];
  failurePolicy?: 'Fail' | 'Ignore';
  matchPolicy?: 'Equivalent' | 'Exact';
  namespaceSelector?: object;
  objectSelector?: object;
  timeoutSeconds?: number;
}

const WEBHOOK_TIMEOUT = 10;

export function defaultWebhook(webhook: Webhook): void {
  webhook.failurePolicy ??= 'Fail';
  webhook.matchPolicy ??= 'Equivalent';
  webhook.namespaceSelector ??= {};
  webhook.objectSelector ??= {};
  webhook.timeoutSeconds ??= WEBHOOK_TIMEOUT;
  defaultRules(webhook.rules);
  const service = webhook.clientConfig?.service;
  if (service) service.port ??= 443;
}

function defaultRules(rules: RuleWithOperations[] | undefined): void {
  for (const rule of rules ?? []) rule.scope ??= '*';
}

export function defaultMatch(match: MatchResources | undefined): void {
  if (!match) return;
  match.matchPolicy ??= 'Equivalent';
  match.namespaceSelector ??= {};
  match.objectSelector ??= {};
  defaultRules(match.resourceRules);
  defaultRules(match.excludeResourceRules);
}
