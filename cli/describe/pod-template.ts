/** The pod template of a workload. */
import type { PodTemplateSpec } from '../../machinery/api/types/core.v1.ts';
import { describeContainers } from './containers.ts';
import { describeSpread, describeTolerations, describeVolumes } from './volumes.ts';
import { DescriptionWriter } from './writer.ts';

export function writeTemplate(w: DescriptionWriter, template: PodTemplateSpec | undefined): void {
  w.line(0, 'Pod Template:');
  if (!template) {
    w.line(0, '  <unset>');
    return;
  }
  const { metadata, spec } = template;
  w.labels('  Labels', metadata?.labels);
  if (Object.keys(metadata?.annotations ?? {}).length > 0) w.annotations('  Annotations', metadata?.annotations);
  if (spec?.serviceAccountName) w.field(1, 'Service Account', spec.serviceAccountName);
  if ((spec?.initContainers ?? []).length > 0)
    describeContainers(w, { label: 'Init Containers', containers: spec!.initContainers!, statuses: [], space: '  ' });
  describeContainers(w, { label: 'Containers', containers: spec?.containers ?? [], statuses: [], space: '  ' });
  describeVolumes(w, spec?.volumes, '  ');
  describeSpread(w, spec?.topologySpreadConstraints, '  ');
  if (spec?.priorityClassName) w.field(1, 'Priority Class Name', spec.priorityClassName);
  w.labels('  Node-Selectors', spec?.nodeSelector);
  describeTolerations(w, '  Tolerations', spec?.tolerations);
}

const CHANGE_CAUSE = 'kubernetes.io/change-cause';

/** For `rollout history --revision`: tabs stay tabs, and the change cause stands among the template's annotations. */
export function describeTemplate(template: Record<string, unknown>, annotations: Readonly<Record<string, string>> | undefined): string {
  const w = new DescriptionWriter();
  const typed = template as unknown as PodTemplateSpec;
  const cause = annotations?.[CHANGE_CAUSE];
  writeTemplate(
    w,
    cause ? { ...typed, metadata: { ...typed.metadata, annotations: { ...typed.metadata?.annotations, [CHANGE_CAUSE]: cause } } } : typed,
  );
  return w.unaligned();
}
