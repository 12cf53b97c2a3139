/**
 * Service: a stable address for a set of pods. Mirrors kubernetes `pkg/registry/core/service`. Its cluster IP and node ports are allocated here.
 */

import { nameIsLabel } from '../../../machinery/api/names.ts';
import type { Service, ServicePort } from '../../../machinery/api/types/core.v1.ts';
import { createIpRange, createPortRange } from '../allocators/ranges.ts';
import { createServiceClaims } from '../allocators/service-claims.ts';
import { defineKind } from '../define.ts';
import type { RegistryDeps, ResourceDefinition } from '../resource.ts';
import { dropStatus, keepStatus, statusView } from '../status.ts';
import { ageCell, labelsCell, loadBalancerAddresses } from '../tables/cells.ts';
import { canonicalCidrWarning, canonicalIpWarning } from '../validation/ip.ts';
import { allocateService } from './service-allocation.ts';
import { carryOver, defaultService, pairClusterIps } from './service-fields.ts';
import { serviceStatusErrors } from './service-ips.ts';
import { serviceErrors, serviceUpdateErrors } from './service-validation.ts';

export function serviceKind(deps: RegistryDeps): ResourceDefinition {
  const allocators = {
    claims: createServiceClaims(deps.store),
    ips: createIpRange(deps.serviceClusterIpRange),
    ports: createPortRange(deps.serviceNodePortRange),
  };
  return defineKind<Service>({
    resource: 'services',
    kind: 'Service',
    nameRule: nameIsLabel,
    createOnUpdate: true,
    deleteAnswer: 'object',
    fieldLabelError: 'notSupported',
    selectableFields: { 'spec.clusterIP': ({ spec }) => spec?.clusterIP ?? '', 'spec.type': ({ spec }) => spec?.type ?? '' },
    strategy: {
      default: defaultService,
      prepareForCreate: (service) => {
        dropStatus(service);
        if (service.spec) pairClusterIps(service.spec);
      },
      prepareForUpdate: (service, old) => {
        keepStatus(service, old);
        service.spec ??= {};
        carryOver(service.spec, old.spec ?? {});
        if (service.spec.type !== 'LoadBalancer' && service.status) service.status = { ...service.status, loadBalancer: {} };
      },
      allocate: (service, old, context) => allocateService(allocators, service, old, context.dryRun),
      validate: serviceErrors,
      validateUpdate: serviceUpdateErrors,
      warnings,
    },
    status: statusView({ validate: serviceStatusErrors }),
    cells,
  });
}

function warnings({ metadata, spec = {} }: Service): string[] {
  const texts: string[] = [];
  if (metadata.annotations?.['service.kubernetes.io/topology-aware-hints'] !== undefined) {
    texts.push(
      'annotation service.kubernetes.io/topology-aware-hints is deprecated, please use service.kubernetes.io/topology-mode instead',
    );
  }
  const add = (text: string | undefined): void => {
    if (text !== undefined) texts.push(text);
  };
  if (spec.clusterIP && spec.clusterIP !== 'None') {
    spec.clusterIPs?.forEach((ip, i) => {
      add(canonicalIpWarning(ip, `spec.clusterIPs[${i}]`));
    });
  }
  spec.externalIPs?.forEach((ip, i) => {
    add(canonicalIpWarning(ip, `spec.externalIPs[${i}]`));
  });
  const external = (spec.externalIPs?.length ?? 0) > 0;
  if (external) texts.push('spec.externalIPs is deprecated and may no longer be implemented in some clusters');
  if (spec.loadBalancerIP) add(canonicalIpWarning(spec.loadBalancerIP, 'spec.loadBalancerIP'));
  spec.loadBalancerSourceRanges?.forEach((range, i) => {
    add(canonicalCidrWarning(range.trim(), `spec.loadBalancerSourceRanges[${i}]`));
  });
  if (spec.type === 'ExternalName' && external) texts.push('spec.externalIPs is ignored when spec.type is "ExternalName"');
  if (spec.type !== 'ExternalName' && spec.externalName) texts.push('spec.externalName is ignored when spec.type is not "ExternalName"');
  if (spec.trafficDistribution === 'PreferClose') texts.push('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"');
  return texts;
}

function cells(service: Service, now: Date): unknown[] {
  const { metadata, spec = {} } = service;
  return [
    metadata.name,
    spec.type ?? '',
    spec.clusterIPs?.[0] ?? '<none>',
    externalAddress(service),
    portsText(spec.ports ?? []),
    ageCell(metadata.creationTimestamp, now),
    labelsCell(spec.selector),
  ];
}

function externalAddress({ spec = {}, status }: Service): string {
  const external = spec.externalIPs ?? [];
  if (spec.type === 'ExternalName') return spec.externalName ?? '';
  if (spec.type !== 'LoadBalancer') return external.join(',') || '<none>';
  return [...loadBalancerAddresses(status?.loadBalancer?.ingress), ...external].join(',') || '<pending>';
}

const portsText = (ports: readonly ServicePort[]): string =>
  ports.map((p) => `${p.port}${p.nodePort ? `:${p.nodePort}` : ''}/${p.protocol}`).join(',') || '<none>';
