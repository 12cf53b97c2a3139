/**
 * Rules of network policies. Mirrors kubernetes `networking/validation` ValidateNetworkPolicySpec. A network that the old policy had may stay, however
 * it is written.
 */
import { type FieldError, forbiddenField, invalidValue, notSupported, required } from '../../../machinery/api/field-error.ts';
import { portName, portNumber } from '../../../machinery/api/names.ts';
import type { IPBlock, NetworkPolicy, NetworkPolicyPeer, NetworkPolicyPort } from '../../../machinery/api/types/networking.k8s.io.v1.ts';
import { canonicalCidrWarning, cidrErrors, isStrictSubset, parseNetwork } from '../validation/ip.ts';
import { labelSelectorErrors } from '../validation/selectors.ts';

const PROTOCOLS = ['TCP', 'UDP', 'SCTP'];
const POLICY_TYPES = ['Ingress', 'Egress'];

interface Rule {
  readonly path: string;
  readonly ports: readonly NetworkPolicyPort[];
  readonly peersPath: string;
  readonly peers: readonly NetworkPolicyPeer[];
}

/** Both directions as one list, in the order they are looked at. */
function rulesOf({ spec }: NetworkPolicy): Rule[] {
  return [
    ...(spec?.ingress ?? []).map((rule, i) => direction(`spec.ingress[${i}]`, 'from', rule.ports, rule.from)),
    ...(spec?.egress ?? []).map((rule, i) => direction(`spec.egress[${i}]`, 'to', rule.ports, rule.to)),
  ];
}

const direction = (
  path: string,
  member: string,
  ports: readonly NetworkPolicyPort[] = [],
  peers: readonly NetworkPolicyPeer[] = [],
): Rule => ({
  path,
  ports,
  peersPath: `${path}.${member}`,
  peers,
});

const networksOf = ({ cidr, except = [] }: IPBlock): string[] => [cidr, ...except];

export function networkPolicyErrors(object: NetworkPolicy, old?: NetworkPolicy): FieldError[] {
  const errors: FieldError[] = [];
  labelSelectorErrors(object.spec?.podSelector, 'spec.podSelector', errors);
  const known = new Set(old && rulesOf(old).flatMap(({ peers }) => peers.flatMap(({ ipBlock }) => (ipBlock ? networksOf(ipBlock) : []))));
  for (const { path, ports, peersPath, peers } of rulesOf(object)) {
    ports.forEach((port, i) => {
      portErrors(port, `${path}.ports[${i}]`, errors);
    });
    peers.forEach((peer, i) => {
      peerErrors(peer, known, `${peersPath}[${i}]`, errors);
    });
  }
  policyTypeErrors(object.spec?.policyTypes ?? [], errors);
  return errors;
}

function policyTypeErrors(types: readonly string[], errors: FieldError[]): void {
  if (types.length > POLICY_TYPES.length) {
    errors.push(invalidValue('spec.policyTypes', types, 'may not specify more than two policyTypes'));
    return;
  }
  types.forEach((type, i) => {
    if (!POLICY_TYPES.includes(type)) errors.push(notSupported(`spec.policyTypes[${i}]`, type, POLICY_TYPES));
  });
}

function portErrors({ protocol, port, endPort }: NetworkPolicyPort, path: string, errors: FieldError[]): void {
  if (protocol !== undefined && !PROTOCOLS.includes(protocol)) errors.push(notSupported(`${path}.protocol`, protocol, PROTOCOLS));
  const badEnd = (detail: string): number => errors.push(invalidValue(`${path}.endPort`, endPort, detail));
  if (port === undefined) {
    if (endPort !== undefined) badEnd('may not be specified when `port` is not specified');
  } else if (typeof port === 'string') {
    if (endPort !== undefined) badEnd('may not be specified when `port` is non-numeric');
    for (const detail of portName(port)) errors.push(invalidValue(`${path}.port`, port, detail));
  } else {
    for (const detail of portNumber(port)) errors.push(invalidValue(`${path}.port`, port, detail));
    if (endPort === undefined) return;
    // upstream shows the port here, not the end
    if (endPort < port) errors.push(invalidValue(`${path}.endPort`, port, 'must be greater than or equal to `port`'));
    for (const detail of portNumber(endPort)) badEnd(detail);
  }
}

function peerErrors(peer: NetworkPolicyPeer, known: ReadonlySet<string>, path: string, errors: FieldError[]): void {
  const { podSelector, namespaceSelector, ipBlock } = peer;
  labelSelectorErrors(podSelector, `${path}.podSelector`, errors);
  labelSelectorErrors(namespaceSelector, `${path}.namespaceSelector`, errors);
  if (ipBlock) blockErrors(ipBlock, known, `${path}.ipBlock`, errors);
  if (!podSelector && !namespaceSelector && !ipBlock) errors.push(required(path, 'must specify a peer'));
  else if (ipBlock && (podSelector || namespaceSelector)) {
    errors.push(forbiddenField(path, 'may not specify both ipBlock and another peer'));
  }
}

function blockErrors({ cidr = '', except = [] }: IPBlock, known: ReadonlySet<string>, path: string, errors: FieldError[]): void {
  if (cidr === '') {
    errors.push(required(`${path}.cidr`));
    return;
  }
  if (!known.has(cidr)) cidrErrors(cidr, `${path}.cidr`, errors);
  const outer = parseNetwork(cidr);
  if (outer === undefined) return;
  except.forEach((text, i) => {
    const at = `${path}.except[${i}]`;
    if (!known.has(text)) cidrErrors(text, at, errors);
    const inner = parseNetwork(text);
    if (inner !== undefined && !isStrictSubset(inner, outer)) errors.push(invalidValue(at, text, 'must be a strict subset of `cidr`'));
  });
}

export function networkPolicyWarnings(object: NetworkPolicy): string[] {
  return rulesOf(object).flatMap(({ peersPath, peers }) =>
    peers.flatMap(({ ipBlock }, i) => {
      if (!ipBlock) return [];
      const path = `${peersPath}[${i}].ipBlock`;
      const texts = [
        canonicalCidrWarning(ipBlock.cidr, `${path}.cidr`),
        ...(ipBlock.except ?? []).map((text, j) => canonicalCidrWarning(text, `${path}.except[${j}]`)),
      ];
      return texts.filter((text) => text !== undefined);
    }),
  );
}
