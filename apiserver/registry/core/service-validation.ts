/**
 * Rules of services. Mirrors kubernetes `core/validation` ValidateService and ValidateServiceUpdate.
 */
import { duplicate, type FieldError, forbiddenField, invalidValue, notSupported, required } from '../../../machinery/api/field-error.ts';
import { dnsSubdomain, portNumber, qualifiedName } from '../../../machinery/api/names.ts';
import type { Service, ServicePort, ServiceSpec } from '../../../machinery/api/types/core.v1.ts';
import { cidrErrors, dnsLabelErrors, ipErrors, ipFamily } from '../validation/ip.ts';
import { labelErrors } from '../validation/metadata.ts';
import { portErrors } from '../validation/probes.ts';
import { isExternal, isHeadless, isProxied, needsHealthCheck } from './service-fields.ts';
import { specialIpErrors } from './service-ips.ts';

const TYPES = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];
const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];
const FAMILIES = ['IPv4', 'IPv6'];
const FAMILY_POLICIES = ['PreferDualStack', 'RequireDualStack', 'SingleStack'];
const TRAFFIC_POLICIES = ['Cluster', 'Local'];
const DISTRIBUTIONS = ['PreferClose', 'PreferSameZone', 'PreferSameNode'];
const SOURCE_RANGES = 'service.beta.kubernetes.io/load-balancer-source-ranges';
const MAX_AFFINITY_SECONDS = 86400;

const HINTS = 'service.kubernetes.io/topology-aware-hints';
const TOPOLOGY_MODE = 'service.kubernetes.io/topology-mode';

export function serviceErrors(service: Service): FieldError[] {
  const errors: FieldError[] = [];
  const spec = service.spec ?? {};
  const { [HINTS]: hints, [TOPOLOGY_MODE]: mode } = service.metadata.annotations ?? {};
  if (hints !== undefined && mode !== undefined && hints !== mode) {
    errors.push(invalidValue(`metadata.annotations[${TOPOLOGY_MODE}]`, mode, `must match annotations[${HINTS}] when both are specified`));
  }
  if ((spec.ports?.length ?? 0) === 0 && !isHeadless(spec) && spec.type !== 'ExternalName') errors.push(required('spec.ports'));
  typeErrors(spec, errors);
  const names = new Set<string>();
  spec.ports?.forEach((port, i) => {
    servicePortErrors(port, spec.ports!.length > 1, names, [`spec.ports[${i}]`, errors]);
  });
  labelErrors(spec.selector, 'spec.selector', errors);
  affinityErrors(spec, errors);
  clusterIpFieldErrors(spec, errors);
  spec.externalIPs?.forEach((ip, i) => {
    const before = errors.length;
    ipErrors(ip, `spec.externalIPs[${i}]`, errors);
    if (errors.length === before) specialIpErrors(ip, `spec.externalIPs[${i}]`, errors);
  });
  if (!TYPES.includes(spec.type ?? '')) errors.push(spec.type ? notSupported('spec.type', spec.type, TYPES) : required('spec.type'));
  portUseErrors(spec, errors);
  loadBalancerErrors(service, spec, errors);
  trafficErrors(spec, errors);
  return errors;
}

function typeErrors(spec: ServiceSpec, errors: FieldError[]): void {
  if (spec.type === 'LoadBalancer' || spec.type === 'NodePort') {
    if (isHeadless(spec)) errors.push(invalidValue('spec.clusterIPs[0]', 'None', `may not be set to 'None' for ${spec.type} services`));
    return;
  }
  if (spec.type !== 'ExternalName') return;
  const detail = 'may not be set for ExternalName services';
  if ((spec.clusterIPs?.length ?? 0) > 0) errors.push(forbiddenField('spec.clusterIPs', detail));
  if ((spec.ipFamilies?.length ?? 0) > 0) errors.push(forbiddenField('spec.ipFamilies', detail));
  if (spec.ipFamilyPolicy !== undefined) errors.push(forbiddenField('spec.ipFamilyPolicy', detail));
  const name = (spec.externalName ?? '').replace(/\.$/, '');
  if (name === '') errors.push(required('spec.externalName'));
  else for (const text of dnsSubdomain(name)) errors.push(invalidValue('spec.externalName', name, text));
}

function servicePortErrors(port: ServicePort, named: boolean, names: Set<string>, [path, errors]: readonly [string, FieldError[]]): void {
  const name = port.name ?? '';
  if (name === '') {
    if (named) errors.push(required(`${path}.name`));
  } else {
    dnsLabelErrors(name, `${path}.name`, errors);
    if (names.has(name)) errors.push(duplicate(`${path}.name`, name));
    names.add(name);
  }
  for (const detail of portNumber(port.port ?? 0)) errors.push(invalidValue(`${path}.port`, port.port ?? 0, detail));
  const protocol = port.protocol ?? '';
  if (!PROTOCOLS.includes(protocol)) {
    errors.push(protocol === '' ? required(`${path}.protocol`) : notSupported(`${path}.protocol`, protocol, PROTOCOLS));
  }
  portErrors(port.targetPort, `${path}.targetPort`, errors);
  const app = port.appProtocol;
  if (app !== undefined) for (const detail of qualifiedName(app)) errors.push(invalidValue(`${path}.appProtocol`, app, detail));
}

function affinityErrors(spec: ServiceSpec, errors: FieldError[]): void {
  const affinity = spec.sessionAffinity ?? '';
  const path = 'spec.sessionAffinityConfig';
  if (affinity === '') errors.push(required('spec.sessionAffinity'));
  else if (affinity !== 'ClientIP' && affinity !== 'None')
    errors.push(notSupported('spec.sessionAffinity', affinity, ['ClientIP', 'None']));
  if (affinity === 'None' && spec.sessionAffinityConfig) errors.push(forbiddenField(path, 'must not be set when session affinity is None'));
  if (affinity !== 'ClientIP') return;
  const config = spec.sessionAffinityConfig;
  const seconds = config?.clientIP?.timeoutSeconds;
  if (seconds === undefined) {
    const missing = !config ? path : !config.clientIP ? `${path}.clientIP` : `${path}.clientIP.timeoutSeconds`;
    errors.push(required(missing, 'when session affinity type is ClientIP'));
  } else if (seconds <= 0 || seconds > MAX_AFFINITY_SECONDS) {
    errors.push(invalidValue(`${path}.clientIP.timeoutSeconds`, seconds, `must be greater than 0 and less than ${MAX_AFFINITY_SECONDS}`));
  }
}

/** clusterIP, clusterIPs, ipFamilies and ipFamilyPolicy must agree. */
export function clusterIpFieldErrors(spec: ServiceSpec, errors: FieldError[]): void {
  if (spec.type === 'ExternalName') return;
  const ips = spec.clusterIPs ?? [];
  if (spec.clusterIP) {
    if (ips.length === 0) errors.push(required('spec.clusterIPs'));
    else if (ips[0] !== spec.clusterIP) errors.push(invalidValue('spec.clusterIPs', ips, 'first value must match `clusterIP`'));
  } else if (ips.length > 0) errors.push(invalidValue('spec.clusterIPs', ips, 'must be empty when `clusterIP` is not specified'));
  familyErrors(spec, errors);
  const before = errors.length;
  ips.forEach((ip, i) => {
    if (i === 0 && ip === 'None') {
      if (ips.length > 1) errors.push(invalidValue('spec.clusterIPs', ips, "'None' must be the first and only value"));
    } else ipErrors(ip, `spec.clusterIPs[${i}]`, errors);
  });
  const malformed = errors.length > before;
  if (ips.length > 2) errors.push(invalidValue('spec.clusterIPs', ips, 'may only hold up to 2 values'));
  if (malformed) return;
  if (ips.length > 1 && new Set(ips.map(ipFamily)).size < 2) {
    errors.push(invalidValue('spec.clusterIPs', ips, 'may specify no more than one IP for each IP family'));
  }
  if (isHeadless(spec)) return;
  ips.forEach((ip, i) => {
    const family = spec.ipFamilies?.[i];
    if (FAMILIES.includes(family ?? '') && ipFamily(ip) !== family) {
      const article = `expected an ${family} value as indicated by`;
      errors.push(invalidValue(`spec.clusterIPs[${i}]`, ip, `${article} \`ipFamilies[${i}]\``));
    }
  });
}

function familyErrors(spec: ServiceSpec, errors: FieldError[]): void {
  const seen = new Set<string>();
  spec.ipFamilies?.forEach((family, i) => {
    if (!FAMILIES.includes(family)) errors.push(notSupported(`spec.ipFamilies[${i}]`, family, FAMILIES));
    if (seen.has(family)) errors.push(duplicate(`spec.ipFamilies[${i}]`, family));
    seen.add(family);
  });
  const policy = spec.ipFamilyPolicy;
  if (policy !== undefined && !FAMILY_POLICIES.includes(policy)) errors.push(notSupported('spec.ipFamilyPolicy', policy, FAMILY_POLICIES));
}

function portUseErrors(spec: ServiceSpec, errors: FieldError[]): void {
  const ports = spec.ports ?? [];
  if (spec.type === 'ClusterIP') {
    ports.forEach((port, i) => {
      if (port.nodePort) errors.push(forbiddenField(`spec.ports[${i}].nodePort`, "may not be used when `type` is 'ClusterIP'"));
    });
  }
  const nodePorts = new Set<string>();
  ports.forEach((port, i) => {
    if (!port.nodePort) return;
    const key = `${port.protocol}/${port.nodePort}`;
    if (nodePorts.has(key)) errors.push(duplicate(`spec.ports[${i}].nodePort`, port.nodePort));
    nodePorts.add(key);
  });
  const numbers = new Set<string>();
  ports.forEach((port, i) => {
    const key = `${port.protocol}/${port.port}`;
    const shown = { Name: '', Protocol: port.protocol ?? '', AppProtocol: null, Port: port.port, TargetPort: 0, NodePort: 0 };
    if (numbers.has(key)) errors.push(duplicate(`spec.ports[${i}]`, shown));
    numbers.add(key);
  });
}

const ONLY_BALANCED = "may only be used when `type` is 'LoadBalancer'";

function loadBalancerErrors(service: Service, spec: ServiceSpec, errors: FieldError[]): void {
  const balanced = spec.type === 'LoadBalancer';
  const ranges = spec.loadBalancerSourceRanges ?? [];
  const annotation = service.metadata.annotations?.[SOURCE_RANGES];
  if (ranges.length > 0) {
    const path = 'spec.LoadBalancerSourceRanges';
    if (!balanced) errors.push(forbiddenField(path, ONLY_BALANCED));
    ranges.forEach((range, i) => {
      cidrErrors(range.trim(), `${path}[${i}]`, errors);
    });
  } else if (annotation !== undefined) {
    const path = `metadata.annotations[${SOURCE_RANGES}]`;
    if (!balanced) errors.push(forbiddenField(path, ONLY_BALANCED));
    if (annotation.trim() !== '') for (const range of annotation.split(',')) cidrErrors(range.trim(), path, errors);
  }
  if (!balanced && spec.allocateLoadBalancerNodePorts !== undefined)
    errors.push(forbiddenField('spec.allocateLoadBalancerNodePorts', ONLY_BALANCED));
  if (balanced && spec.allocateLoadBalancerNodePorts === undefined) errors.push(required('allocateLoadBalancerNodePorts'));
  classErrors(spec, errors);
}

function classErrors(spec: ServiceSpec, errors: FieldError[]): void {
  const name = spec.loadBalancerClass;
  if (name === undefined) return;
  if (spec.type !== 'LoadBalancer') errors.push(forbiddenField('spec.loadBalancerClass', ONLY_BALANCED));
  else for (const detail of qualifiedName(name)) errors.push(invalidValue('spec.loadBalancerClass', name, detail));
}

function trafficErrors(spec: ServiceSpec, errors: FieldError[]): void {
  const external = spec.externalTrafficPolicy ?? '';
  if (!isExternal(spec)) {
    if (external !== '')
      errors.push(invalidValue('spec.externalTrafficPolicy', external, 'may only be set for externally-accessible services'));
  } else if (external === '') errors.push(required('spec.externalTrafficPolicy'));
  else if (!TRAFFIC_POLICIES.includes(external)) errors.push(notSupported('spec.externalTrafficPolicy', external, TRAFFIC_POLICIES));
  const check = spec.healthCheckNodePort ?? 0;
  if (needsHealthCheck(spec)) {
    if (check === 0) errors.push(required('spec.healthCheckNodePort'));
    else for (const detail of portNumber(check)) errors.push(invalidValue('spec.healthCheckNodePort', check, detail));
  } else if (check !== 0) {
    const detail = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
    errors.push(invalidValue('spec.healthCheckNodePort', check, detail));
  }
  const internal = spec.internalTrafficPolicy;
  if (internal === undefined) {
    if (isProxied(spec)) errors.push(required('spec.internalTrafficPolicy'));
  } else if (!TRAFFIC_POLICIES.includes(internal)) errors.push(notSupported('spec.internalTrafficPolicy', internal, TRAFFIC_POLICIES));
  const distribution = spec.trafficDistribution;
  if (distribution !== undefined && !DISTRIBUTIONS.includes(distribution)) {
    errors.push(notSupported('spec.trafficDistribution', distribution, DISTRIBUTIONS));
  }
}

export function serviceUpdateErrors(service: Service, old: Service): FieldError[] {
  const errors: FieldError[] = [];
  const spec = service.spec ?? {};
  const before = old.spec ?? {};
  if (spec.type !== 'ExternalName' && before.type !== 'ExternalName') {
    if (!isHeadless(spec) || !isHeadless(before)) addressChangeErrors(spec, before, errors);
    if (!isHeadless(spec) && !isHeadless(before)) familyChangeErrors(spec, before, errors);
  }
  if (before.type === 'LoadBalancer' && spec.type === 'LoadBalancer' && before.loadBalancerClass !== spec.loadBalancerClass) {
    errors.push(invalidValue('spec.loadBalancerClass', spec.loadBalancerClass, FIXED));
  }
  // upstream asks twice, here and with everything else
  classErrors(spec, errors);
  if (needsHealthCheck(before) && needsHealthCheck(spec) && (before.healthCheckNodePort ?? 0) !== (spec.healthCheckNodePort ?? 0)) {
    errors.push(forbiddenField('spec.healthCheckNodePort', 'field is immutable'));
  }
  return [...errors, ...serviceErrors(service)];
}

const FIXED = 'may not change once set';

/** The first address stays; the second may come, and go when the policy says so. */
function addressChangeErrors(spec: ServiceSpec, old: ServiceSpec, errors: FieldError[]): void {
  const [next, before] = [spec.clusterIPs ?? [], old.clusterIPs ?? []];
  const path = 'spec.clusterIPs';
  if (next.length === before.length) {
    before.forEach((ip, i) => {
      if (ip !== next[i]) errors.push(invalidValue(`${path}[${i}]`, next, FIXED));
    });
    return;
  }
  if (before.length > 0 && next.length === 0)
    errors.push(invalidValue(`${path}[0]`, spec.clusterIPs, 'primary clusterIP can not be unset'));
  else if (before.length > 0 && next[0] !== before[0]) errors.push(invalidValue(`${path}[0]`, next, FIXED));
  if (before.length > next.length && next.length === 1) releaseErrors(spec, 'clusterIP', errors);
}

function familyChangeErrors(spec: ServiceSpec, old: ServiceSpec, errors: FieldError[]): void {
  const [next, before]: [readonly string[], readonly string[]] = [spec.ipFamilies ?? [], old.ipFamilies ?? []];
  const path = 'spec.ipFamilies[0]';
  if (next.length === before.length) {
    for (const [i, family] of before.entries()) if (family !== next[i]) errors.push(invalidValue(path, next, FIXED));
    return;
  }
  if (before.length > next.length && (spec.clusterIPs?.length ?? 0) === 0)
    errors.push(invalidValue(path, spec.ipFamilies, 'primary ipFamily can not be unset'));
  // upstream shows the addresses
  if (before.length > 0 && next.length > 0 && next[0] !== before[0]) errors.push(invalidValue(path, spec.clusterIPs, FIXED));
  if (before.length > next.length && next.length === 1) releaseErrors(spec, 'ipFamily', errors);
}

function releaseErrors(spec: ServiceSpec, what: string, errors: FieldError[]): void {
  if (spec.ipFamilyPolicy === 'SingleStack') return;
  errors.push(
    invalidValue('spec.ipFamilyPolicy', spec.ipFamilyPolicy, `must be set to 'SingleStack' when releasing the secondary ${what}`),
  );
}
