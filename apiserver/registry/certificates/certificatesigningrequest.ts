/**
 * CertificateSigningRequest: somebody asks for a certificate. Mirrors kubernetes `pkg/registry/certificates/certificates`: who asks is recorded by
 * the server, and an update of the main resource changes metadata only.
 */
import { humanDuration } from '../../../machinery/api/duration.ts';
import { anyName } from '../../../machinery/api/names.ts';
import { forbidden } from '../../../machinery/api/status.ts';
import { formatTime } from '../../../machinery/api/time.ts';
import type { CertificateSigningRequest } from '../../../machinery/api/types/certificates.k8s.io.v1.ts';
import { defineKind } from '../define.ts';
import type { StrategyContext } from '../resource.ts';
import { keepAllBut, statusView } from '../status.ts';
import { ageCell } from '../tables/cells.ts';
import { requestedOrganizations } from './request-content.ts';
import { requestErrors, statusUpdateErrors } from './validation.ts';

function prepareForCreate(object: CertificateSigningRequest, { user }: StrategyContext): void {
  object.spec = {
    ...object.spec,
    username: user.name,
    ...(user.uid !== undefined && { uid: user.uid }),
    groups: [...user.groups],
    ...(user.extra && { extra: Object.fromEntries(Object.entries(user.extra).map(([k, v]) => [k, [...v]])) }),
  };
  if (user.uid === undefined) delete object.spec.uid;
  if (!user.extra) delete object.spec.extra;
  object.status = {};
}

const CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client';
const MASTERS = 'system:masters';

/** Nobody gets a certificate of the group that may do everything. Mirrors the admission plugin CertificateSubjectRestriction. */
function refuseMasters({ metadata, spec }: CertificateSigningRequest): void {
  if (spec.signerName !== CLIENT_SIGNER || !requestedOrganizations(spec.request).includes(MASTERS)) return;
  const resource = { group: 'certificates.k8s.io', resource: 'certificatesigningrequests' };
  throw forbidden(resource, metadata.name ?? '', `use of ${CLIENT_SIGNER} signer with ${MASTERS} group is not allowed`);
}

function stampConditions(object: CertificateSigningRequest, old: CertificateSigningRequest, context: StrategyContext): void {
  const now = formatTime(context.now);
  for (const condition of object.status?.conditions ?? []) {
    const before = old.status?.conditions?.find((c) => c.type === condition.type);
    condition.lastUpdateTime ??= now;
    condition.lastTransitionTime ??= before?.status === condition.status ? (before.lastTransitionTime ?? now) : now;
  }
}

/** Approval and denial stay as they were, unless some are added or removed, which validation refuses. */
function keepConditions(object: CertificateSigningRequest, old: CertificateSigningRequest, type: string): void {
  const conditions = object.status?.conditions ?? [];
  const before = (old.status?.conditions ?? []).filter((c) => c.type === type);
  const places = conditions.flatMap((c, i) => (c.type === type ? [i] : []));
  if (places.length !== before.length) return;
  places.forEach((place, i) => {
    conditions[place] = before[i]!;
  });
}

function conditionCell({ status }: CertificateSigningRequest): string {
  const types = (status?.conditions ?? []).map((c) => c.type);
  const text = types.includes('Denied') ? 'Denied' : types.includes('Approved') ? 'Approved' : 'Pending';
  return `${text}${types.includes('Failed') ? ',Failed' : ''}${status?.certificate ? ',Issued' : ''}`;
}

export const certificatesigningrequest = defineKind<CertificateSigningRequest>({
  group: 'certificates.k8s.io',
  resource: 'certificatesigningrequests',
  kind: 'CertificateSigningRequest',
  nameRule: anyName,
  noNamespaceField: true,
  fieldLabelError: 'notSupported',
  selectableFields: { 'spec.signerName': ({ spec }) => spec.signerName ?? '' },
  strategy: {
    prepareForCreate,
    prepareForUpdate: (object, old) => keepAllBut(object, old),
    validate: requestErrors,
    admitValidated: refuseMasters,
  },
  status: statusView({
    prepare: (object, old, context) => {
      for (const type of ['Approved', 'Denied']) keepConditions(object, old, type);
      stampConditions(object, old, context);
    },
    validate: (object, old) => statusUpdateErrors(object, old, false),
  }),
  views: {
    approval: {
      prepareForUpdate: (object, old, context) => {
        const conditions = object.status?.conditions;
        keepAllBut(object, old);
        object.status = { ...old.status, ...(conditions && { conditions }) };
        stampConditions(object, old, context);
      },
      validateUpdate: (object, old) => statusUpdateErrors(object, old, true),
    },
  },
  cells: (object, now) => [
    object.metadata.name,
    ageCell(object.metadata.creationTimestamp, now),
    object.spec.signerName || '<none>',
    object.spec.username ?? '',
    object.spec.expirationSeconds === undefined ? '<none>' : humanDuration(object.spec.expirationSeconds * 1000),
    conditionCell(object),
  ],
});
