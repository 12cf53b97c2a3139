/**
 * Cells that several kinds share. Mirrors the formatting helpers of kubernetes `pkg/printers/internalversion`.
 */
import { humanDuration } from '../../../machinery/api/duration.ts';
import type { LabelSelector } from '../../../machinery/api/object.ts';
import { formatSelector, selectorOf } from '../../../machinery/api/selector.ts';
import type * as core from '../../../machinery/api/types/core.v1.ts';

/** `5m`, or `<unknown>` without a time. */
export function ageCell(timestamp: string | null | undefined, now: Date): string {
  if (timestamp === undefined || timestamp === null) return '<unknown>';
  return humanDuration(now.getTime() - Date.parse(timestamp));
}

export function containerNames(containers: readonly { name?: string }[] | undefined): string {
  return (containers ?? []).map((c) => c.name ?? '').join(',');
}

export function containerImages(containers: readonly { image?: string }[] | undefined): string {
  return (containers ?? []).map((c) => c.image ?? '').join(',');
}

/** Names, images and selector of a workload: the wide columns. */
export function templateCells(template: core.PodTemplateSpec | undefined): [string, string] {
  return [containerNames(template?.spec?.containers), containerImages(template?.spec?.containers)];
}

/** `a=b,c in (d,e)`; `<none>` when empty, `<none>` too when absent. */
export function selectorCell(selector: LabelSelector | undefined): string {
  if (selector === undefined) return '<none>';
  return formatSelector(selectorOf(selector)) || '<none>';
}

/** Where a load balancer is reached, each address once and in order. */
export function loadBalancerAddresses(ingress: readonly { ip?: string; hostname?: string }[] | undefined): string[] {
  const addresses = (ingress ?? []).map(({ ip, hostname }) => ip || hostname || '');
  return [...new Set(addresses.filter((text) => text !== ''))].sort();
}

/** metav1.FormatLabels: `a=b,c=d` sorted, `<none>` when empty. */
export function labelsCell(labels: Record<string, string> | undefined): string {
  return formatLabels(labels) || '<none>';
}

export function formatLabels(labels: Record<string, string> | undefined): string {
  if (labels === undefined) return '';
  return Object.keys(labels)
    .sort()
    .map((key) => `${key}=${labels[key]}`)
    .join(',');
}
