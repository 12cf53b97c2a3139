/**
 * The admission plugins that are on, in upstream's order (`pkg/kubeapiserver/options/plugins.go`); what concerns one kind only is in the kind's own
 * strategy. Quotas come last: what another plugin refuses must not be charged.
 */
import type { Store } from '../../storage/interface.ts';
import { claimResize } from './claim-resize.ts';
import { limitRanger } from './limit-ranger.ts';
import type { AdmissionPlugin } from './plugin.ts';
import { podResize } from './pod-resize.ts';
import { podSecurity } from './pod-security.ts';
import { createQuotaPlugin } from './resource-quota.ts';

export const admissionPlugins = (deps: { readonly store: Store }): readonly AdmissionPlugin[] => [
  limitRanger,
  podSecurity,
  claimResize,
  podResize,
  createQuotaPlugin(deps),
];
