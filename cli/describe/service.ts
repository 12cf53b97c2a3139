/** `describe service`, `endpointslice` and `endpoints`. */

import type { Endpoints, Service } from '../../machinery/api/types/core.v1.ts';
import type { EndpointSlice } from '../../machinery/api/types/discovery.k8s.io.v1.ts';
import { SERVICE_NAME } from '../../machinery/api/well-known-labels.ts';
import type { DescribeContext, Describer } from './describer.ts';
import { describeEvents } from './events.ts';
import { DescriptionWriter, labelPairs, orNone } from './writer.ts';

export const describeService: Describer = async (object, context) => {
  const { metadata, spec = {}, status } = object as unknown as Service;
  const w = new DescriptionWriter();
  w.scopedName(metadata);
  w.labelsAndAnnotations(metadata);
  w.field(0, 'Selector', orNone(labelPairs(spec.selector ?? {}).join(',')));
  w.field(0, 'Type', spec.type ?? '');
  if (spec.ipFamilyPolicy) w.field(0, 'IP Family Policy', spec.ipFamilyPolicy);
  w.field(0, 'IP Families', orNone((spec.ipFamilies ?? []).join(',')));
  w.field(0, 'IP', spec.clusterIP ?? '');
  w.field(0, 'IPs', orNone((spec.clusterIPs ?? []).join(',')));
  if ((spec.externalIPs ?? []).length > 0) w.field(0, 'External IPs', spec.externalIPs!.join(','));
  if (spec.loadBalancerIP) w.field(0, 'Desired LoadBalancer IP', spec.loadBalancerIP);
  if (spec.externalName) w.field(0, 'External Name', spec.externalName);
  const ingress = status?.loadBalancer?.ingress ?? [];
  if (ingress.length > 0) w.field(0, 'LoadBalancer Ingress', ingress.map((i) => i.ip ?? i.hostname ?? '').join(', '));
  const labelSelector = `${SERVICE_NAME}=${metadata?.name}`;
  const slices = (await context.list('endpointslices.discovery.k8s.io', {
    namespace: metadata?.namespace,
    labelSelector,
  })) as unknown as EndpointSlice[];
  for (const port of spec.ports ?? []) {
    const name = port.name || '<unset>';
    w.line(0, `Port:\t${name}\t${port.port}/${port.protocol}`);
    w.field(0, 'TargetPort', `${port.targetPort ?? 0}/${port.protocol}`);
    if (port.nodePort) w.line(0, `NodePort:\t${name}\t${port.nodePort}/${port.protocol}`);
    w.field(0, 'Endpoints', endpointsText(slices, port.name ?? ''));
  }
  w.field(0, 'Session Affinity', spec.sessionAffinity ?? '');
  if (spec.externalTrafficPolicy) w.field(0, 'External Traffic Policy', spec.externalTrafficPolicy);
  if (spec.internalTrafficPolicy) w.field(0, 'Internal Traffic Policy', spec.internalTrafficPolicy);
  if (spec.trafficDistribution) w.field(0, 'Traffic Distribution', spec.trafficDistribution);
  if (spec.healthCheckNodePort) w.field(0, 'HealthCheck NodePort', spec.healthCheckNodePort);
  if ((spec.loadBalancerSourceRanges ?? []).length > 0) w.field(0, 'LoadBalancer Source Ranges', spec.loadBalancerSourceRanges!.join(','));
  describeEvents(w, context);
  return w.text();
};

const SHOWN = 3;

/** Ready addresses of the port, three and a count. */
function endpointsText(slices: readonly EndpointSlice[], portName: string): string {
  const addresses = slices.flatMap((slice) =>
    (slice.ports ?? [])
      .filter((port) => (port.name ?? '') === portName)
      .flatMap((port) =>
        (slice.endpoints ?? [])
          .filter((e) => e.conditions?.ready !== false)
          .flatMap((e) => e.addresses.map((address) => `${address.includes(':') ? `[${address}]` : address}:${port.port}`)),
      ),
  );
  const more = addresses.length > SHOWN ? ` + ${addresses.length - SHOWN} more...` : '';
  return orNone(addresses.slice(0, SHOWN).join(',') + more);
}

export const describeEndpointSlice: Describer = (object, context: DescribeContext) => {
  const slice = object as unknown as EndpointSlice;
  const w = new DescriptionWriter();
  w.scopedName(slice.metadata);
  w.labelsAndAnnotations(slice.metadata);
  w.field(0, 'AddressType', slice.addressType);
  if ((slice.ports ?? []).length === 0) w.line(0, 'Ports: <unset>');
  else {
    w.line(0, 'Ports:');
    w.line(1, 'Name\tPort\tProtocol');
    w.line(1, '----\t----\t--------');
    for (const port of slice.ports!) w.line(1, `${port.name || '<unset>'}\t${port.port ?? '<unset>'}\t${port.protocol ?? ''}`);
  }
  writeEndpoints(w, slice);
  describeEvents(w, context);
  return w.text();
};

function writeEndpoints(w: DescriptionWriter, slice: EndpointSlice): void {
  const endpoints = slice.endpoints ?? [];
  if (endpoints.length === 0) {
    w.line(0, 'Endpoints: <none>');
    return;
  }
  w.line(0, 'Endpoints:');
  for (const { addresses, conditions, hostname, targetRef, nodeName, zone } of endpoints) {
    w.line(1, `- Addresses:\t${addresses.join(', ')}`);
    w.line(2, 'Conditions:');
    w.field(3, 'Ready', conditions?.ready ?? '<unset>');
    w.field(2, 'Hostname', hostname ?? '<unset>');
    if (targetRef) w.field(2, 'TargetRef', `${targetRef.kind}/${targetRef.name}`);
    w.field(2, 'NodeName', nodeName ?? '<unset>');
    w.field(2, 'Zone', zone ?? '<unset>');
  }
}

export const describeEndpoints: Describer = (object, context) => {
  const { metadata, subsets } = object as unknown as Endpoints;
  const w = new DescriptionWriter();
  w.scopedName(metadata);
  w.labelsAndAnnotations(metadata);
  w.line(0, 'Subsets:');
  for (const { addresses = [], notReadyAddresses = [], ports = [] } of subsets ?? []) {
    w.field(1, 'Addresses', orNone(addresses.map(({ ip }) => ip).join(',')));
    w.field(1, 'NotReadyAddresses', orNone(notReadyAddresses.map(({ ip }) => ip).join(',')));
    if (ports.length > 0) {
      w.line(1, 'Ports:');
      w.line(2, 'Name\tPort\tProtocol');
      w.line(2, '----\t----\t--------');
      for (const { name, port, protocol } of ports) w.line(2, `${name || '<unset>'}\t${port}\t${protocol}`);
    }
    w.line(0, '');
  }
  describeEvents(w, context);
  return w.text();
};
